import type { Enrollment, Message } from '../../src/generated/prisma/client.js';
import type { Loose } from './client.js';
import { eventually } from './live.js';
import { type Account, dataOf, type KeyClient } from './seed.js';

/** A step of a sequence with words of its own. */
export const aStep = (delayDays: number, fields: Loose = {}) => ({ delayDays, subject: `Day ${delayDays}`, body: 'Hello', ...fields });

/** Sequences of an account, and the runs of contacts through them as the database keeps them. */
export class Sequences {
  #made = 0;

  constructor(
    readonly account: Account,
    /** Whose key lasts however far the clock is moved. */
    readonly key: KeyClient,
  ) {}

  get #prisma() {
    return this.account.seed.app.database.prisma;
  }

  /** Makes one; answers its id. */
  async make(steps: Loose[], fields: Loose = {}): Promise<string> {
    return dataOf(await this.key.post('/emails/sequences', { name: `Sequence ${++this.#made}`, steps, ...fields })).id;
  }

  async change(id: string, body: Loose): Promise<Loose> {
    return dataOf(await this.key.patch(`/emails/sequences/${id}`, body));
  }

  async reader(fields: Loose = {}): Promise<{ id: string; email: string }> {
    const email = `reader${++this.#made}.${this.account.id}@example.com`;
    return { email, id: dataOf(await this.key.post('/contacts', { email, ...fields })).id };
  }

  /** Enrolls contacts; answers the ids of their runs. */
  async enroll(id: string, ...contactIds: string[]): Promise<string[]> {
    const { details } = dataOf(await this.key.post(`/emails/sequences/${id}/enroll`, { contactIds }));
    return details.map((one: Loose) => one.enrollmentId);
  }

  /** Enrolls one contact, a new one by default; answers the id of the run. */
  async begin(steps: Loose[], contactId?: string, fields: Loose = {}): Promise<string> {
    const [run] = await this.enroll(await this.make(steps, fields), contactId ?? (await this.reader()).id);
    return run!;
  }

  run(id: string): Promise<Enrollment> {
    return this.#prisma.enrollment.findFirstOrThrow({ where: { accountId: this.account.id, id } });
  }

  async patchRun(id: string, data: Loose): Promise<void> {
    await this.#prisma.enrollment.updateMany({ where: { accountId: this.account.id, id }, data });
  }

  /** The mails of a run. */
  mails(enrollmentId: string): Promise<Message[]> {
    return this.#prisma.message.findMany({ where: { accountId: this.account.id, enrollmentId }, orderBy: { stepOrder: 'asc' } });
  }

  async patchMails(enrollmentId: string, data: Loose): Promise<void> {
    await this.#prisma.message.updateMany({ where: { accountId: this.account.id, enrollmentId }, data });
  }

  /** The run once so many of its steps are done. */
  async done(id: string, steps: number): Promise<Enrollment> {
    await eventually(async () => (await this.run(id)).currentStep === steps);
    return this.run(id);
  }

  /** The mails of a run once so many of them are sent. */
  async sent(id: string, steps: number): Promise<Message[]> {
    await eventually(async () => {
      const mails = await this.mails(id);
      return mails.length === steps && mails.every(({ status }) => status === 'sent');
    });
    return this.mails(id);
  }

  /** Waits until whoever does steps has looked at what is due by now. */
  async looked(): Promise<void> {
    await this.done(await this.begin([aStep(0)]), 1);
  }
}
