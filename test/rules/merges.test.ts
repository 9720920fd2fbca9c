import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, onPostgres, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let form: Loose;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const fields = [{ key: 'email', label: 'E-mail', type: 'email', required: true }];
  form = dataOf(await acme.owner.post('/forms', { name: 'Contact us', fields }));
});
afterAll(() => api.close());

const rounds = Array.from({ length: 8 }, (_, n) => n);
const atOnce = Array.from({ length: 10 }, (_, n) => n);

/** Merges a contact of an address into one without, while something is done under that address; answers who is kept. */
async function whileMerged(email: string, work: (nth: number) => Promise<{ status: number }>) {
  const [kept, gone] = [await acme.contact({ firstName: 'Kept' }), await acme.contact({ email })];
  const merge = acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id });
  const [merged, ...done] = await Promise.all([merge, ...atOnce.map(work)]);
  const { data } = dataOf(await acme.owner.get(`/contacts?search=${email}`));
  expect(data.map((contact: Loose) => contact.id)).toEqual([kept.id]);
  return { statuses: [merged.status, ...done.map(({ status }) => status)], kept: data[0] };
}

onPostgres(it)('POST /contact finds a contact that is merged meanwhile, or the one that is kept', async () => {
  for (const n of rounds) {
    const email = `upserted${n}@example.com`;
    const { statuses, kept } = await whileMerged(email, (nth) => acme.owner.post('/contact', { email, jobTitle: `Job ${nth}` }));
    expect(statuses).toEqual([200, ...atOnce.map(() => 200)]);
    expect(kept.jobTitle).toMatch(/^Job/);
  }
});

onPostgres(it)('a form finds a contact that is merged meanwhile, or the one that is kept, and every submission is theirs', async () => {
  for (const n of rounds) {
    const email = `visitor${n}@example.com`;
    const { statuses, kept } = await whileMerged(email, () => api.anybody().post(`/forms/${form.id}/submit`, { data: { email } }));
    expect(statuses).toEqual([200, ...atOnce.map(() => 201)]);
    const submissions = await api.app.database.prisma.submission.findMany({ where: { accountId: acme.id, contactId: kept.id } });
    expect(submissions).toHaveLength(atOnce.length);
  }
});
