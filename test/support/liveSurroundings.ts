import { randomUUID } from 'node:crypto';
import { Client, type Loose } from './client.js';
import { dataOf } from './seed.js';

interface Parts {
  company: Loose;
  contact: Loose;
  form: Loose;
  sequence: Loose;
  pipeline: Loose;
}

type Work = (caller: Client, of: Parts, n: number) => Promise<unknown>;

/** Writes by which what is shown of other records changes. */
const works: Record<string, Work> = {
  deal: async (caller, { contact, company, pipeline }, n) => {
    const parents = { pipelineId: pipeline.id, stageId: pipeline.stages[n % pipeline.stages.length].id };
    dataOf(await caller.post('/deals', { title: `Deal ${n}`, ...parents, contactId: contact.id, companyId: company.id, value: n }));
  },
  contact: async (caller, { company }, n) =>
    dataOf(await caller.post('/contacts', { firstName: `N${n}`, companyId: company.id, tags: n % 2 ? ['Seen'] : [] })),
  submission: async (caller, { form }, n) =>
    dataOf(await new Client(caller.wire).post(`/forms/${form.id}/submit`, { data: { email: `s${n}@example.com` } })),
  enrollment: async (caller, { sequence }) => {
    const { id } = dataOf(await caller.post('/contacts', { firstName: 'En', email: `${randomUUID()}@example.com` }));
    dataOf(await caller.post(`/emails/sequences/${sequence.id}/enroll`, { contactIds: [id] }));
  },
  stage: async (caller, { pipeline }, n) => dataOf(await caller.post(`/pipelines/${pipeline.id}/stages`, { name: `S${n}` })),
  invoice: async (caller, { contact, company }) => {
    const items = [{ description: 'Setup', quantity: 1, unitPrice: 100 }];
    const { id } = dataOf(await caller.post('/invoices', { items, contactId: contact.id, companyId: company.id }));
    dataOf(await caller.post(`/invoices/${id}/payments`, { amount: 5 }));
  },
};

/** Records that lead to each other in whatever way, and writes beside them. */
export class Surroundings {
  static readonly writes = Object.keys(works);

  private constructor(
    private readonly parts: Parts,
    private readonly ownerId: string,
  ) {}

  static async make(caller: Client, pipeline: Loose, ownerId: string): Promise<Surroundings> {
    const made = async (path: string, body: object) => dataOf(await caller.post(path, body));
    const company = await made('/companies', { name: 'Around', ownerId });
    const mine = { companyId: company.id, assignedTo: ownerId, tags: ['Seen'] };
    const contact = await made('/contacts', { firstName: 'Rel', email: 'rel@example.com', ...mine });
    const form = await made('/forms', { name: 'Ask', fields: [{ key: 'email', label: 'Mail', type: 'email' }] });
    const sequence = await made('/emails/sequences', { name: 'Go', steps: [{ delayDays: 9, subject: 'a', body: 'b' }] });
    return new Surroundings({ company, contact, form, sequence, pipeline }, ownerId);
  }

  /** What filters ask for, by the name of the field. */
  get ids(): Readonly<Record<string, string>> {
    const { contact, company, pipeline } = this.parts;
    const people = { assignedTo: this.ownerId, ownerId: this.ownerId };
    return { ...people, contactId: contact.id, companyId: company.id, pipelineId: pipeline.id };
  }

  /** One of `writes`, another one for another number. */
  write(caller: Client, name: string, n: number): Promise<unknown> {
    return works[name]!(caller, this.parts, n);
  }
}
