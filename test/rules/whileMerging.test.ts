import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Automations, aNode } from '../support/automations.js';
import { type Account, dataOf, type Loose, onPostgres, type Reply, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

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

onPostgres(describe)('who is to begin while somebody is merged into them who is under way', () => {
  /** Merges one of two contacts into the other, while what `table` has of that one is held and something is done to the other. */
  async function beganWhileMerged(table: string, [kept, gone]: [string, string], begin: () => Promise<Reply>): Promise<Loose> {
    const client = new pg.Client(api.place.databaseUrl);
    await client.connect();
    await client.query('begin');
    await client.query(`select from ${table} where contact_id = $1 for update`, [gone]);
    const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    const waits = (count: number) => eventually(async () => (await client.query(waiting)).rows.length >= count);
    try {
      const merge = acme.owner.post('/contacts/merge', { primaryId: kept, secondaryId: gone });
      await waits(1);
      const begun = begin();
      await waits(2);
      await client.query('commit');
      dataOf(await merge);
      return dataOf(await begun);
    } finally {
      await client.end();
    }
  }

  const both = async (): Promise<[string, string]> => {
    const [kept, gone] = [await acme.contact({ email: 'kept@example.com' }), await acme.contact({ email: 'gone@example.com' })];
    return [kept.id, gone.id];
  };

  it('is in one run of an automation', async () => {
    const automations = new Automations(acme, await acme.key());
    const id = await automations.make([aNode('wait', 'wait', { days: 1 }, 'end'), aNode('end', 'end')]);
    const [kept, gone] = await both();
    const [run] = await automations.enroll(id, gone);
    await automations.until(run!, 'waiting');
    const body = { contactIds: [kept] };
    const told = await beganWhileMerged('automation_runs', [kept, gone], () => acme.owner.post(`/automations/${id}/bulk-enroll`, body));
    expect(told.details).toEqual([{ contactId: kept, status: 'skipped', reason: 'already_enrolled', runId: null }]);
    expect((await automations.runs(id)).map(({ contactId, status }) => [contactId, status])).toEqual([[kept, 'waiting']]);
  });

  it('is in one run of a sequence', async () => {
    const steps = [{ delayDays: 1, subject: 'S', body: 'B' }];
    const { id } = dataOf(await acme.owner.post('/emails/sequences', { name: 'S', steps }));
    const [kept, gone] = await both();
    const enroll = (contact: string) => acme.owner.post(`/emails/sequences/${id}/enroll`, { contactIds: [contact] });
    dataOf(await enroll(gone));
    const told = await beganWhileMerged('enrollments', [kept, gone], () => enroll(kept));
    expect(told.details).toEqual([{ contactId: kept, status: 'skipped', reason: 'already_enrolled', enrollmentId: null }]);
    const { data } = dataOf(await acme.owner.get(`/emails/sequences/${id}/enrollments`));
    expect(data.map(({ contactId, status }: Loose) => [contactId, status])).toEqual([[kept, 'active']]);
  });
});
