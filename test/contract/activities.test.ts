import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const create = (body: unknown) => acme.owner.post('/activities', body);
const list = async (query: string, client = acme.owner) => dataOf(await client.get(`/activities?${query}`));
const titles = async (query: string) => (await list(query)).data.map((entry: Loose) => entry.title);

describe('POST /activities', () => {
  it('keeps what was written, in the name of who wrote it', async () => {
    const { id: contactId } = await acme.contact();
    const fields = {
      type: 't'.repeat(100),
      title: 'Spoke',
      description: 'd'.repeat(5000),
      contactId,
      metadata: { minutes: 5, with: ['Ada'] },
    };
    const reply = await create(fields);
    expect(reply.status).toBe(201);
    const { id, timestamp, ...entry } = reply.body.data;
    const nothing = { dealId: null, entityType: null, entityId: null, action: null, changes: null, names: null };
    expect(entry).toEqual({ ...fields, ...nothing, userId: acme.ownerId, userName: acme.ownerEmail });
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(Math.abs(Date.parse(timestamp) - Date.now())).toBeLessThan(60_000);
    expect((await list(`contact_id=${contactId}&type=${fields.type}`)).data).toEqual([reply.body.data]);
    const { lastActivityAt } = dataOf(await acme.owner.get(`/contacts/${contactId}`));
    expect(Date.parse(lastActivityAt)).toBeGreaterThanOrEqual(Date.parse(timestamp));
  });

  it('needs type and title, and a contact and deal that are there', async () => {
    await expectNothingWritten(api, async () => {
      for (const value of [undefined, null, '', 5]) {
        expectRefusal(await create({ type: value, title: 'Spoke' }), 400, 'type');
        expectRefusal(await create({ type: 'call', title: value }), 400, 'title');
      }
      for (const field of ['contactId', 'dealId']) expectRefusal(await create({ type: 'call', title: 'Spoke', [field]: v4() }), 400, field);
      for (const metadata of ['text', [1], 5]) expectRefusal(await create({ type: 'call', title: 'Spoke', metadata }), 400, 'metadata');
      expectRefusal(await create({ type: 'call', title: 'Spoke', metadata: { big: 'x'.repeat(65 * 1024) } }), 413, 'metadata');
    });
  });

  it('is told, leaves no entry of its own, and costs one statement, and one more to ask for a link', async () => {
    const { id: contactId } = await acme.contact();
    expect(await api.statements(() => create({ type: 'call', title: 'Spoke', contactId }))).toBeLessThanOrEqual(2);
    expect(await api.statements(() => create({ type: 'call', title: 'Spoke' }))).toBeLessThanOrEqual(1);
    const { events, entries, rows } = await toldIn(acme, () => create({ type: 'call', title: 'Told', contactId }));
    expect(events).toEqual([`activity.created ${rows[0]!.entityId}`]);
    expect(entries).toEqual(['call null']);
  });
});

describe('GET /activities', () => {
  it('lists entries by hand and changes of records together, newest first', async () => {
    const contact = await acme.contact({ firstName: 'Ada' });
    dataOf(await create({ type: 'call', title: 'Spoke', contactId: contact.id }));
    dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { firstName: 'Augusta', city: 'London' }));
    const { data, meta } = await list(`contact_id=${contact.id}`);
    expect(data.map((entry: Loose) => entry.type)).toEqual(['contact.updated', 'call', 'contact.created']);
    expect(data[0]).toMatchObject({
      ...{ title: 'Contact updated', entityType: 'contact', entityId: contact.id, action: 'updated', contactId: contact.id },
      changes: { firstName: { from: 'Ada', to: 'Augusta' }, city: { from: null, to: 'London' } },
      ...{ userId: acme.ownerId, userName: acme.ownerEmail, timestamp: expect.stringMatching(/^\d{4}-.+Z$/) },
    });
    expect(meta).toMatchObject({ page: 1, per_page: 50, total: 3 });
    expect(await api.statements(() => list(`contactId=${contact.id}`))).toBe(1);
  });

  it('filters by type, dates and words', async () => {
    const { id } = await acme.contact();
    const write = async (title: string, more = {}) => dataOf(await create({ type: 'meeting', title, contactId: id, ...more }));
    const [today, tomorrow] = [new Date().toISOString().slice(0, 10), new Date(Date.now() + day).toISOString().slice(0, 10)];
    await write('Breakfast', { description: '100% tea' });
    api.clock.advance(day);
    await write('Lunch');
    api.clock.reset();
    const about = `contact_id=${id}&type=meeting`;
    expect(await titles(about)).toEqual(['Lunch', 'Breakfast']);
    expect(await titles(`${about}&toDate=${today}`)).toEqual(['Breakfast']);
    expect(await titles(`${about}&fromDate=${tomorrow}`)).toEqual(['Lunch']);
    expect(await titles(`${about}&from_date=${today}&to_date=${tomorrow}`)).toEqual(['Lunch', 'Breakfast']);
    expect(await titles(`${about}&search=LUNCH`)).toEqual(['Lunch']);
    expect(await titles(`${about}&search=0%25`)).toEqual(['Breakfast']);
    expect(await titles(`deal_id=${v4()}`)).toEqual([]);
    for (const bad of ['fromDate=soon', 'toDate=2030-02-30', 'contact_id=x', 'deal_id=x', 'page=0']) {
      expectRefusal(await acme.owner.get(`/activities?${bad}`), 400, bad.split('=')[0]);
    }
  });

  it('comes newest first whatever a request says of its order', async () => {
    const plain = dataOf(await acme.owner.get('/activities?per_page=5')).data;
    for (const query of ['order=asc', 'sort=createdAt', 'sort=timestamp&order=asc', 'sort=nonsense&order=sideways']) {
      expect(dataOf(await acme.owner.get(`/activities?per_page=5&${query}`)).data).toEqual(plain);
    }
    const { data } = await acme.owner.gql('{ activities(first: 5, sort: timestamp, order: asc) { nodes { id } } }');
    expect(data.activities.nodes.map(({ id }: Loose) => id)).toEqual(plain.map(({ id }: Loose) => id));
  });

  it('shows a key only changes of what its scopes let it read', async () => {
    const contact = await acme.contact();
    await acme.task({ title: 'Call', contactId: contact.id });
    dataOf(await create({ type: 'call', title: 'Spoke', contactId: contact.id }));
    const seen = async (scopes: string[]) => {
      const key = await acme.key({ scopes });
      return (await list(`contact_id=${contact.id}`, key)).data.map((entry: Loose) => entry.type);
    };
    expect(await seen(['activities'])).toEqual(['call']);
    expect(await seen(['activities', 'tasks'])).toEqual(['call', 'task.created']);
    expect(await seen(['activities', 'tasks', 'contacts'])).toEqual(['call', 'task.created', 'contact.created']);
    const key = await acme.key({ scopes: ['activities', 'contacts'] });
    const { data } = await key.gql(`{ contact(id: "${contact.id}") { activities { nodes { type } } } }`);
    expect(data.contact.activities.nodes).toEqual([{ type: 'call' }, { type: 'contact.created' }]);
  });
});

describe('an entry of a change', () => {
  it('is one for each change, and names the record and what it led to, as they were called at the time', async () => {
    const [from, to] = await Promise.all([acme.member(), acme.company({ name: 'Analytical Engines' })]);
    const pipeline = await acme.pipeline();
    const [fresh, talking] = pipeline.stages;
    const deal = await acme.deal({ pipeline, title: 'Mill for Ada', assignedTo: from.userId });
    const moved = { stageId: talking.id, assignedTo: acme.ownerId, companyId: to.id, status: 'won' };
    dataOf(await acme.owner.patch(`/deals/${deal.id}`, moved));
    dataOf(await acme.owner.patch(`/companies/${to.id}`, { name: 'Called otherwise since' }));
    dataOf(await acme.owner.patch(`/deals/${deal.id}`, { assignedTo: null }));
    const { data } = await list(`deal_id=${deal.id}`);
    expect(data.map(({ type, title, description }: Loose) => [type, title, description])).toEqual([
      ['deal.updated', 'Deal updated', `Mill for Ada: assigned to ${acme.ownerEmail} → none`],
      [
        ...['deal.won', 'Deal won'],
        `Mill for Ada: stage New → Talking, assigned to Mem Ber → ${acme.ownerEmail}, company none → Analytical Engines`,
      ],
      ['deal.created', 'Deal created', 'Mill for Ada'],
    ]);
    const names = { [fresh.id]: 'New', [talking.id]: 'Talking', [from.userId]: 'Mem Ber', [acme.ownerId]: acme.ownerEmail };
    expect(data.map((entry: Loose) => entry.names)).toEqual([
      { [acme.ownerId]: acme.ownerEmail },
      { ...names, [to.id]: 'Analytical Engines' },
      null,
    ]);
    const graph = await acme.owner.gql(`{ deal(id: "${deal.id}") { activities { nodes { description names } } } }`);
    const shown = data.map(({ description, names }: Loose) => ({ description, names }));
    expect(graph.data.deal.activities.nodes).toEqual(shown);
    expect((await list('search=mill%20for%20ada')).meta.total).toBe(3);
  });

  it('says what a record was called that is gone', async () => {
    const task = await acme.task({ title: 'Ring the mill' });
    dataOf(await acme.owner.del(`/tasks/${task.id}`));
    const { data } = await list('search=ring%20the%20mill');
    expect(data.map(({ type, description }: Loose) => [type, description])).toEqual([
      ['task.deleted', 'Ring the mill'],
      ['task.created', 'Ring the mill'],
    ]);
  });
});

describe('activities through the other API', () => {
  it('lead to their contact and who did them, and back', async () => {
    const { id } = await acme.contact({ firstName: 'Ada' });
    const input = { type: 'call', title: 'Spoke', contactId: id };
    const made = await acme.owner.gql(
      `mutation ($input: CreateActivityInput!) {
      createActivity(input: $input) { contact { firstName activities(first: 1) { nodes { title } } } user { email } } }`,
      { input },
    );
    expect(made.data.createActivity).toEqual({
      contact: { firstName: 'Ada', activities: { nodes: [{ title: 'Spoke' }] } },
      user: { email: acme.ownerEmail },
    });
  });
});
