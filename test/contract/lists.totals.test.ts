import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type Client, dataOf, keepMessage, type Loose, server, type TestServer } from '../support/index.js';

/* Totals that triggers keep for each value of a column: what a list narrowed by it alone is said to have. */
let api: TestServer;
let acme: Account;
let calendar: Loose;

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const contact = await acme.contact();
  for (const channel of ['email', 'email', 'sms']) await keepMessage(acme, contact, 'outbound', { channel });
  calendar = await acme.calendar();
  for (const day of ['06', '07', '08']) {
    const times = { startTime: `2030-05-${day}T12:00:00Z`, endTime: `2030-05-${day}T12:30:00Z` };
    await acme.appointment({ calendarId: calendar.id, ...times });
  }
  await acme.appointment();
  await acme.task({ contactId: contact.id });
  dataOf(await acme.owner.post('/activities', { type: 'call', title: 'Spoke', contactId: contact.id }));
});
afterAll(() => api.close());

/** What a list says to have, and how many records it shows. */
async function listed(path: string, client: Client = acme.owner): Promise<[number, number]> {
  const body = dataOf(await client.get(`${path}${path.includes('?') ? '&' : '?'}per_page=200`));
  return [body.meta.total, body.data.length];
}

/** What the counters hold, as their kinds begin with a name, less what there is. */
const wrong = (table: string, column: string, live: string) =>
  api.app.database.execute(
    `select kind, sum(n)::int as n from (
      select account_id, kind, n from counts where kind like '${table}:%'
      union all select account_id, '${table}:' || coalesce(${column}::text, ''), -count(*) from ${table} where ${live} group by 1, 2) c
    group by account_id, kind having sum(n) <> 0`,
  );

const kept = [
  ['activities', 'entity_type', 'true'],
  ['messages', 'channel', 'true'],
  ['appointments', 'calendar_id', 'deleted_at is null'],
  ['deals', 'stage_id', 'deleted_at is null'],
] as const;

describe('totals that are kept by a value', () => {
  it('are those of the lists', async () => {
    const key = await acme.key({ scopes: ['activities', 'tasks'] });
    const everything = await acme.key();
    expect(await listed('/emails')).toEqual([2, 2]);
    expect(await listed('/messages?channel=sms')).toEqual([1, 1]);
    expect(await listed(`/calendars/${calendar.id}/appointments`)).toEqual([3, 3]);
    expect(await listed('/activities', key)).toEqual([2, 2]);
    for (const client of [acme.owner, everything, key]) {
      const [total, shown] = await listed('/activities', client);
      expect(total).toBe(shown);
    }
    const document = `{ calendar(id: "${calendar.id}") { appointments(first: 2) { totalCount nodes { id } } }
      appointments(filter: { calendarId: "${calendar.id.toUpperCase()}" }, first: 1) { totalCount } messages(filter: { channel: email }, last: 1) { totalCount } }`;
    const { data } = await acme.owner.gql(document);
    expect([data.calendar.appointments.totalCount, data.appointments.totalCount, data.messages.totalCount]).toEqual([3, 3, 2]);
  });

  it('go on with what is written, moved and removed', async () => {
    const other = await acme.calendar();
    const [first, second] = dataOf(await acme.owner.get(`/calendars/${calendar.id}/appointments`)).data as Loose[];
    await acme.owner.del(`/calendars/${calendar.id}/appointments/${first!.id}`);
    await api.app.database.execute('update appointments set calendar_id = $1 where id = $2', [other.id, second!.id]);
    expect(await listed(`/calendars/${calendar.id}/appointments`)).toEqual([1, 1]);
    expect(await listed(`/calendars/${other.id}/appointments`)).toEqual([1, 1]);
    for (const [table, column, live] of kept) expect((await wrong(table, column, live)).rows).toEqual([]);
  });

  it('are read, and nothing is counted, with a filter that asks for nothing else', async () => {
    const add = (n: number) => api.app.database.execute(`update counts set n = n + ${n} where kind ~ '^(messages:email|activities:task)$'`);
    await add(2000);
    try {
      // So many would be read in the order of the list: the page is the same.
      expect(await listed('/emails')).toEqual([2002, 2]);
      expect((await listed('/emails?direction=outbound'))[0]).toBe(2);
      expect(await listed('/activities', await acme.key({ scopes: ['activities', 'tasks'] }))).toEqual([2002, 2]);
      const page = dataOf(await acme.owner.get('/emails?per_page=1'));
      const next = dataOf(await acme.owner.get(`/emails?per_page=1&cursor=${encodeURIComponent(page.meta.next_cursor)}`));
      expect([next.meta.total, next.data.length]).toEqual([2002, 1]);
    } finally {
      await add(-2000);
    }
  });
});
