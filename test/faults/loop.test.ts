import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Alone } from '../support/alone.js';
import { dataOf, expectRefusal } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';
import { type Delay, delayOf } from '../support/loop.js';

jest.setTimeout(300_000);

/**
 * Milliseconds: the 99th of a hundred delays, and the longest one. They are promised to be 100 and 250 on a machine of its own
 * (docs/security.md has what was seen); here others run as well.
 */
const [mostOf99, mostOfAll] = [250, 400];

let crm: Alone;
let contact: string;
beforeAll(async () => {
  crm = await Alone.begin();
  const assignedTo = (await crm.caller.get('/users')).body.data.data[0].id;
  for (let n = 0; n < 300; n++) {
    const made = await crm.caller.post('/contacts', { firstName: `C${n}`, lastName: 'Crowd', email: `c${n}@example.com`, assignedTo });
    contact = made.body.data.id;
  }
});
afterAll(() => crm.end());

const seen: Record<string, Delay> = {};
afterAll(() => console.table(seen));

async function expectNoStall(what: string, work: () => Promise<unknown>): Promise<void> {
  const delay = await delayOf(crm.wire.port, work);
  seen[what] = delay;
  expect(delay.p99).toBeLessThanOrEqual(mostOf99);
  expect(delay.max).toBeLessThanOrEqual(mostOfAll);
}

/** A body of about so many megabytes, made of one thing again and again. */
const many = (megabytes: number, item: string, between = ',') =>
  Array(Math.floor((megabytes * 1e6) / (item.length + 1)))
    .fill(item)
    .join(between);

const line = (cells: number, cell: (n: number) => string) => Array.from({ length: cells }, (_, n) => cell(n)).join();
const wide = `${line(500, (n) => (n ? `c${n}` : 'firstName'))}\n${`${line(500, () => '1')}\n`.repeat(9998)}`;
const people = `firstName,lastName,email,note\n${Array.from({ length: 10_000 }, (_, n) => `A${n},L,a${n}@example.com,${'word '.repeat(190)}\n`).join('')}`;
const ownNames = (n: number) => `{${line(90, (m) => `"${(n * 90 + m).toString(36)}":1`)}}`;

/** Not those that an import makes besides, who are nobody's. */
const crowd = 'filter: { search: "Crowd" }';
const rounds = (times: number) => `${'assignedUser { contacts(first: 200) { nodes { id email '.repeat(times)}${' } } }'.repeat(times)}`;

describe('nobody waits long during', () => {
  it('a change that fifty heavy subscriptions on one socket hear of', async () => {
    const socket = await Socket.open(crm.wire.port, { init: bearer(crm) });
    const fields = '{ nodes { id firstName lastName email assignedUser { contacts(first: 18) { nodes { id firstName email } } } } }';
    const document = (n: number) =>
      `subscription ($after: ID) { s${n}: contactEvents(after: $after) { contact { assignedUser { contacts(first: 48) ${fields} } } } }`;
    const all = socket.run('subscription { events(after: "0", names: ["contact.created"]) { id entityId } }');
    const { id: after } = await eventually(() => all.events.find(({ entityId }) => entityId === contact));
    socket.send({ id: all.id, type: 'complete' });
    await expectNoStall('A2: 50 subscriptions', async () => {
      const feeds = Array.from({ length: 50 }, (_, n) => socket.run(document(n), { after }));
      for (let round = 1; round <= 8; round++) {
        await crm.caller.patch(`/contacts/${contact}`, { firstName: `Changed ${round}` });
        await Promise.all(feeds.map((feed) => feed.nth(round, 60_000)));
      }
      // They show what the event changed, and all of the two pages.
      const [user] = feeds[49]!.events.map((event) => event.contact.assignedUser);
      expect(user.contacts.nodes.map((one: { assignedUser: typeof user }) => one.assignedUser.contacts.nodes.length)).toEqual(
        Array(48).fill(18),
      );
    });
    socket.cut();
  });
});

describe('nobody waits long for the files of others', () => {
  it.each<[string, number, () => string]>([
    ['a CSV file of 10 MB', 201, () => JSON.stringify({ csv: people })],
    ['500 columns × 10,000 rows', 201, () => JSON.stringify({ csv: wide })],
    ['5 million columns', 400, () => JSON.stringify({ csv: many(9.8, 'a') })],
    ['5 million cells in a line', 400, () => JSON.stringify({ csv: `firstName\n${many(9.8, 'a')}` })],
    ['3 million lines', 400, () => JSON.stringify({ csv: `firstName\n${many(6, 'a', '\n')}` })],
    ['rows with 900,000 names', 400, () => `{"rows":[${line(10_000, ownNames)}]}`],
    ['rows with 3 million objects', 400, () => `{"rows":[${many(9.8, '{}')}]}`],
    ['a malformed body of 6 MB', 400, () => `{"rows":[${many(6, `{"firstName":"${'x'.repeat(400)}"}`)}`],
    ['a malformed body of 6 MB in one text', 400, () => `{"csv":"${'x'.repeat(6e6)}`],
  ])('an import of %s', async (what, status, make) => {
    const payload = make();
    const headers = { 'content-type': 'application/json' };
    await expectNoStall(`A3: ${what}`, async () => {
      expect((await crm.caller.raw({ method: 'POST', path: '/api/v1/imports', payload, headers })).status).toBe(status);
    });
  });

  it('a text of marks alone, and columns that are called so', async () => {
    const marks = '\u0301\u0327'.repeat(200_000);
    await expectNoStall('A8: 400,000 marks', async () => {
      expect((await crm.caller.post('/contacts', { firstName: marks })).status).toBe(400);
      expect((await crm.caller.post('/imports', { csv: `firstName,${marks}\nAnn,x` })).status).toBe(201);
    });
    await expectNoStall('A8: 80,000 signs that become marks', async () => {
      const signs = '\u0301\uFF9E'.repeat(40_000);
      expect((await crm.caller.post('/imports', { csv: `firstName,${signs}\nAnn,x` })).status).toBe(201);
    });
  });

  it('the work on an import', async () => {
    const rows = Array.from({ length: 1500 }, (_, n) => ({
      firstName: `A${n}`,
      email: `row${n}@example.com`,
      tags: 'a;b',
      city: 'London',
    }));
    const { id } = dataOf(await crm.caller.post('/imports', { rows }));
    await expectNoStall('A3: 1,500 rows at work', async () => {
      await crm.caller.post(`/imports/${id}/process`);
      await eventually(async () => dataOf(await crm.caller.get(`/imports/${id}`)).createdCount === 1500, 120_000);
    });
  });
});

describe('nobody waits long for the calendars of others', () => {
  it('whose feeds anybody may ask for, as often as they like', async () => {
    const { id } = dataOf(await crm.caller.post('/calendars', { name: 'Long' }));
    const long = { description: 'd'.repeat(5000), notes: 'n'.repeat(5000), location: 'l'.repeat(500), metadata: { m: 'm'.repeat(20_000) } };
    const begin = Date.now() + 3_600_000;
    const at = (n: number) => new Date(begin + n * 1_800_000).toISOString();
    for (let n = 0; n < 1000; n++)
      dataOf(await crm.caller.post(`/calendars/${id}/appointments`, { ...long, title: `T${n}`, startTime: at(n), endTime: at(n + 1) }));
    const { url } = dataOf(await crm.caller.get(`/calendars/${id}/feed`));
    await expectNoStall('A9: 50 feeds of a thousand long appointments', async () => {
      const all = Array.from({ length: 50 }, () => crm.caller.raw({ path: new URL(url).pathname }));
      for (const reply of await Promise.all(all)) {
        expect(reply.status).toBe(200);
        expect(reply.text.split('BEGIN:VEVENT')).toHaveLength(1001);
      }
    });
  });
});

describe('nobody waits long for the schedules of others', () => {
  // The last of each weekday is never among the first 21 days of a month.
  it('that never come', async () => {
    const schedule = '* * * 1-21 * +1#L,2#L,3#L,4#L,5#L,6#L,7#L';
    await expectNoStall('A10: ten schedules that never come', async () => {
      for (let n = 0; n < 10; n++) expectRefusal(await crm.caller.post('/automations', { name: `Never ${n}`, schedule }), 400, 'schedule');
    });
  });
});

describe('nobody waits long for the documents of others', () => {
  beforeAll(async () => {
    const filters = { field: 'email', op: 'contains', value: 'example' };
    for (let n = 0; n < 50; n++) dataOf(await crm.caller.post('/smart-lists', { name: `List ${n}`, filters }));
  });

  it.each<[string, () => string, number]>([
    ['A1: refused rounds', () => `{ contacts(first: 200, ${crowd}) { nodes { ${rounds(3)} } } }`, 400],
    ['A1: rounds until the budget is spent', () => `{ contacts(first: 100, ${crowd}) { nodes { ${rounds(1)} } } }`, 400],
    ['A1: 15,000 records', () => `{ contacts(first: 75, ${crowd}) { nodes { ${rounds(1)} } } }`, 200],
    ['A4: 200 counts of lists', () => '{ smartLists(first: 200) { nodes { count } } }', 400],
    ['A4: 50 counts of lists', () => '{ smartLists(first: 50) { nodes { count } } }', 200],
    ['A5: 200 fragments', () => `{ contacts { nodes { ${many(0.008, '...on Contact{deals{nodes{contact{tags{id}}}}}', ' ')} } } }`, 400],
  ])('%s', async (what, query, status) => {
    const payload = JSON.stringify({ query: query() });
    const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
    await expectNoStall(what, async () => {
      for (let n = 0; n < 5; n++) {
        const reply = await crm.caller.raw({ method: 'POST', path: '/graphql', payload, headers });
        expect([reply.status, reply.text.slice(0, 300)]).toEqual([status, expect.any(String)]);
      }
    });
  });
});

describe('nobody waits long for the conditions of others', () => {
  const dayMs = 86_400_000;
  const dayOf = (n: number) => new Date(Date.UTC(1990, 0, 1) + n * dayMs).toISOString().slice(0, 10);
  /** 200 lists of 200 days, one after the other: today is among them. */
  const lists = Array.from({ length: 200 }, (_, n) => Array.from({ length: 200 }, (_day, m) => dayOf(n * 200 + m)));

  it('with 40,000 days, in each of five lists', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const query = `query ($where: ContactWhere) { ${names.map((name) => `${name}: contacts(where: $where, first: 1) { nodes { id } }`).join(' ')} }`;
    const payload = JSON.stringify({ query, variables: { where: { or: lists.map((days) => ({ createdAt: { in: days } })) } } });
    const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
    await expectNoStall('A11: 40,000 days', async () => {
      const { status, text } = await crm.caller.raw({ method: 'POST', path: '/graphql', payload, headers });
      expect([status, text.slice(0, 300)]).toEqual([200, expect.any(String)]);
      for (const name of names) expect(JSON.parse(text).data[name].nodes).toHaveLength(1);
    });
  });
});

describe('nobody waits long for the bulk edits of others', () => {
  it('with thousands of custom fields, and of contacts who have thousands', async () => {
    const ids = dataOf(await crm.caller.get('/contacts?limit=60')).data.map(({ id }: { id: string }) => id);
    const edit = async (changes: object) =>
      expect(dataOf(await crm.caller.post('/bulk/contacts/edit', { ids, changes }))).toEqual({ total: 60, succeeded: 60, failed: 0 });
    const customFields = Object.fromEntries(Array.from({ length: 5500 }, (_, n) => [`k${n}`, n % 10]));
    await expectNoStall('A12: 60 bulk edits of 5,500 custom fields', () => edit({ customFields }));
    await expectNoStall('A12: 60 bulk edits of contacts who have them', () => edit({ jobTitle: 'CTO' }));
  });
});
