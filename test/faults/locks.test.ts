import { describe, expect, it, jest } from '@jest/globals';
import { dataOf, type Loose, onPostgres, type Reply } from '../support/index.js';
import { asked, begun, get, outside, processes, whileHeld } from '../support/twoProcesses.js';

jest.setTimeout(120_000);

const upsert = (body: object, headers?: Record<string, string>): Promise<Reply> => asked.caller.post('/contact', body, headers);
const made = async (path: string, body: object): Promise<Loose> => dataOf(await asked.caller.post(path, body));
const contactsAt = async (email: string): Promise<string[]> =>
  (await outside.query('select id from contacts where email_lower = $1 and deleted_at is null', [email])).rows.map(({ id }) => id);
const deadlocks = async (): Promise<number> =>
  Number((await outside.query('select deadlocks from pg_stat_database where datname = current_database()')).rows[0].deadlocks);

/** Begins two things that wait for what is held, one after the other, and answers what came of both once it is let go. */
async function both(holding: string, first: () => Promise<Reply>, second: () => Promise<Reply>): Promise<Reply[]> {
  let one: Promise<Reply> | undefined;
  let other: { done: Promise<Reply> } | undefined;
  const begin = async () => {
    one = first();
  };
  await whileHeld(holding, begin, async () => {
    other = await begun(second(), 2);
  });
  return Promise.all([one!, other!.done]);
}

const heldRow = (table: string, id: string) => `select 1 from ${table} where id = '${id}' for update`;
const heldAddress = (address: string) => `select pg_advisory_xact_lock(hashtextextended(id::text || '${address}', 0)) from accounts`;

function upserting(): void {
  it('takes the address of nobody also where the contact was found at the other one', async () => {
    const [email, phone] = ['both@example.com', '+14155550130'];
    const { id } = await made('/contacts', { phone });
    const replies = await both(
      heldRow('contacts', id),
      () => upsert({ email, phone }),
      () => upsert({ email }),
    );
    expect(replies.map((reply) => [reply.status, dataOf(reply).id])).toEqual([
      [200, id],
      [200, id],
    ]);
    expect(await contactsAt(email)).toEqual([id]);
  });

  it.each<[string, object, Record<string, string>]>([
    ['that it waited for', { jobTitle: 'Found' }, { 'Idempotency-Key': 'moved away' }],
    ['that it had seen', { tags: ['found'] }, {}],
  ])('does not take a contact %s for the one at an address that it moved away from', async (how, said, headers) => {
    const [email, other] = [how, 'moved'].map((name) => `${name.replaceAll(' ', '.')}@example.com`);
    const { id } = await made('/contacts', { email });
    let upserted: Promise<Reply> | undefined;
    await whileHeld(
      `update contacts set email = '${other}' where id = '${id}'`,
      async () => {
        upserted = upsert({ email, ...said }, headers);
      },
      async () => {},
    );
    const reply = await upserted!;
    expect([reply.status, dataOf(reply).email]).toEqual([201, email]);
    expect((await get(`/contacts/${id}`)).email).toBe(other);
  });
}

function inOneOrder(): void {
  it('by two who say the same of one new person, at two addresses', async () => {
    const [email, phone] = ['ada@example.com', '+14155550131'];
    const before = await deadlocks();
    const replies = await both(
      heldAddress(email),
      () => upsert({ email, phone }),
      () => upsert({ email, phone }, { 'Idempotency-Key': 'at two addresses' }),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 201]);
    expect(await contactsAt(email)).toHaveLength(1);
    expect(await deadlocks()).toBe(before);
  });

  it('by who deletes the stage of deals, and who merges their contact', async () => {
    const [kept, gone] = [await made('/contacts', { firstName: 'Kept' }), await made('/contacts', { firstName: 'Gone' })];
    const { id: pipelineId, stages } = await made('/pipelines', { name: 'Raced', stages: [{ name: 'a' }, { name: 'b' }] });
    const deals = [];
    for (const title of ['A', 'B']) deals.push(await made('/deals', { title, contactId: gone.id, pipelineId, stageId: stages[1].id }));
    const [a, b] = deals.map(({ id }) => id).sort();
    // The board has them in the other order than their ids.
    dataOf(await asked.caller.patch(`/deals/${b}`, { afterDealId: null }));
    const before = await deadlocks();
    const replies = await both(
      heldRow('deals', a),
      () => asked.caller.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id }),
      () => asked.caller.del(`/pipelines/${pipelineId}/stages/${stages[1].id}`),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    const { data } = await get(`/deals?stage_id=${stages[0].id}&sort_by=position&sort_order=asc`);
    expect(data.map(({ id, contactId }: Loose) => [id, contactId])).toEqual([b, a].map((id) => [id, kept.id]));
    expect(await deadlocks()).toBe(before);
  });
}

function calendars(): void {
  it('are held in the order of their ids by who makes one the default, as by who books', async () => {
    const ids = [await made('/calendars', { name: 'A' }), await made('/calendars', { name: 'B' })].map(({ id }) => id).sort();
    const [first, second] = ids;
    const makeDefault = (id: string) => asked.caller.patch(`/calendars/${id}`, { isDefault: true });
    dataOf(await makeDefault(first));
    let waiting: Promise<Reply> | undefined;
    await whileHeld(
      heldRow('calendars', first),
      async () => {
        waiting = makeDefault(second);
      },
      async () => {
        expect((await outside.query(`${heldRow('calendars', second)} skip locked`)).rows).toHaveLength(1);
      },
    );
    expect(dataOf(await waiting!)).toMatchObject({ id: second, isDefault: true });
    expect((await get(`/calendars/${first}`)).isDefault).toBe(false);
  });
}

function lockedRow(): void {
  it('holds up those alone who want it, and not what is changed beside it', async () => {
    const contacts = [];
    for (let n = 0; n < 10; n++) contacts.push(await made('/contacts', { firstName: `Beside ${n}` }));
    const [first, ...others] = contacts;
    const patch = ({ id }: Loose) => asked.caller.patch(`/contacts/${id}`, { city: 'Oslo', jobTitle: 'Held up' });
    // So that all of them have been asked for once before.
    await Promise.all(contacts.map(({ id }) => asked.caller.patch(`/contacts/${id}`, { city: 'Bergen', jobTitle: 'Free' })));
    let waiting: Promise<Reply> | undefined;
    let free: Promise<Reply[]> | undefined;
    await whileHeld(
      heldRow('contacts', first!.id),
      async () => {
        waiting = patch(first!);
        free = Promise.all(others.map(patch));
      },
      async () => {
        // The one that wants the row waits for two seconds at most: none of the others is over after it.
        const replies = await Promise.race([free!, waiting!.then((): Reply[] => [])]);
        expect(replies.map(({ status }) => status)).toEqual(others.map(() => 200));
      },
    );
    expect((await waiting!).status).toBe(200);
  });
}

onPostgres(describe)('what two wait for', () => {
  processes();
  describe('a row that is locked', lockedRow);
  describe('an upsert', upserting);
  describe('is locked in one order', inOneOrder);
  describe('calendars', calendars);
});
