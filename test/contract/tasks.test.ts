import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const create = (body: unknown) => acme.owner.post('/tasks', body);
const patch = async (id: string, body: unknown) => dataOf(await acme.owner.patch(`/tasks/${id}`, body));
const read = async (id: string) => dataOf(await acme.owner.get(`/tasks/${id}`));

/** The names of the events about a task, the oldest first. */
async function eventsOf(entityId: string): Promise<string[]> {
  const events = await api.app.database.prisma.outboxEvent.findMany({ where: { entityId }, orderBy: { seq: 'asc' } });
  return events.map((event) => event.name);
}

const inZone = (timezone: string) => api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone } });

describe('POST /tasks', () => {
  it('keeps every field as it was sent, and tells who made it', async () => {
    const contact = await acme.contact();
    const fields = {
      title: 't'.repeat(500),
      description: 'd'.repeat(5000),
      dueDate: '2030-05-06T10:00:00.000Z',
      priority: 'urgent',
      status: 'in_progress',
      assignedTo: acme.ownerId,
      contactId: contact.id,
    };
    const reply = await create(fields);
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject({ ...fields, dealId: null, createdBy: acme.ownerId, completedAt: null });
    expect(await read(reply.body.data.id)).toEqual(reply.body.data);
  });

  it('fills in the defaults', async () => {
    const { id, createdAt, updatedAt, ...task } = await acme.task({ title: ' Call ' });
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(updatedAt).toBe(createdAt);
    const nothing = { description: null, dueDate: null, assignedTo: null, contactId: null, dealId: null, completedAt: null };
    expect(task).toEqual({ title: 'Call', priority: 'medium', status: 'todo', createdBy: acme.ownerId, ...nothing });
  });

  it('refuses what a field cannot hold, naming the field', async () => {
    const bad: [string, unknown][] = [
      ...[null, '', ' ', 5, 't'.repeat(501)].map((value): [string, unknown] => ['title', value]),
      ...['d'.repeat(5001), 7].map((value): [string, unknown] => ['description', value]),
      ...['soon', 'High', ''].map((value): [string, unknown] => ['priority', value]),
      ...['finished', 'Done', ''].map((value): [string, unknown] => ['status', value]),
      ...['nobody', v4(), acme.id].map((value): [string, unknown] => ['assignedTo', value]),
      ...['x', v4()].flatMap((value): [string, unknown][] => [
        ['contactId', value],
        ['dealId', value],
      ]),
    ];
    await expectNothingWritten(api, async () => {
      for (const [field, value] of bad) expectRefusal(await create({ title: 'Call', [field]: value }), 400, field);
      expectRefusal(await create({ description: 'no title' }), 400, 'title');
    });
  });

  it('does not know a contact of another account', async () => {
    const other = await api.seed.account();
    const { id: contactId } = await other.contact();
    await expectNothingWritten(api, async () => expectRefusal(await create({ title: 'Call', contactId }), 400, 'contactId'));
  });

  it('costs one statement, done or not', async () => {
    await create({ title: 'warm' });
    for (const status of ['todo', 'done']) expect(await api.statements(() => create({ title: 'Call', status }))).toBeLessThanOrEqual(1);
  });
});

describe('a due date', () => {
  const due = async (dueDate: string) => (await acme.task({ dueDate })).dueDate;

  it('is an instant with any offset, or a day that ends in the time zone of the workspace', async () => {
    expect(await due('2030-05-06T10:00:00+02:00')).toBe('2030-05-06T08:00:00.000Z');
    expect(await due('2030-05-06t10:00Z')).toBe('2030-05-06T10:00:00.000Z');
    expect(await due('2030-05-06')).toBe('2030-05-06T23:59:59.999Z');
    await inZone('America/New_York');
    const abroad = await acme.login();
    const inNewYork = async (dueDate: string) => dataOf(await abroad.post('/tasks', { title: 'Call', dueDate })).dueDate;
    expect(await inNewYork('2030-05-06')).toBe('2030-05-07T03:59:59.999Z');
    expect(await inNewYork('2030-12-06')).toBe('2030-12-07T04:59:59.999Z');
    await inZone('UTC');
  });

  it('refuses days that do not exist, times without an offset and other text', async () => {
    const bad = ['2030-02-30', '2030-05-06T10:00:00', '2030-02-30T10:00:00Z', 'tomorrow', '06.05.2030', '2030-05-06T25:00:00Z', '2030-5-6'];
    for (const dueDate of bad) expectRefusal(await create({ title: 'Call', dueDate }), 400, 'dueDate');
    expectRefusal(await create({ title: 'Call', dueDate: 5 }), 400, 'dueDate');
    expect((await create({ title: 'Call', dueDate: '' })).body.data.dueDate).toBeNull();
  });
});

describe('PATCH /tasks/{id}', () => {
  it('changes what is given, clears what is null, and keeps the rest', async () => {
    const task = await acme.task({ description: 'a', dueDate: '2030-05-06', priority: 'low' });
    const after = await patch(task.id, { description: null, priority: 'high' });
    expect(after).toEqual({ ...task, description: null, priority: 'high', updatedAt: after.updatedAt });
    expect(Date.parse(after.updatedAt)).toBeGreaterThanOrEqual(Date.parse(task.updatedAt));
    expect(await read(task.id)).toEqual(after);
  });

  it('changes nothing and tells of nothing when all is as it was', async () => {
    const task = await acme.task({ dueDate: '2030-05-06' });
    await expectNothingWritten(api, async () => {
      for (const body of [{}, { title: task.title, dueDate: task.dueDate, status: 'todo' }])
        expect(await patch(task.id, body)).toEqual(task);
    });
  });

  it('completes the task when it becomes done, once, and opens it again otherwise', async () => {
    const task = await acme.task();
    const done = await patch(task.id, { status: 'done' });
    expect(done.completedAt).not.toBeNull();
    expect((await patch(task.id, { status: 'done', title: 'Renamed' })).completedAt).toBe(done.completedAt);
    expect((await patch(task.id, { status: 'in_progress' })).completedAt).toBeNull();
    expect(await eventsOf(task.id)).toEqual(['task.created', 'task.updated', 'task.completed', 'task.updated', 'task.updated']);
    await patch(task.id, { status: 'done' });
    expect((await eventsOf(task.id)).filter((name) => name === 'task.completed')).toHaveLength(2);
  });

  it('moves between all states', async () => {
    const states = ['todo', 'in_progress', 'done'];
    for (const from of states) {
      for (const to of states) {
        const { id } = await acme.task({ status: from });
        const { status, completedAt } = await patch(id, { status: to });
        expect([status, completedAt !== null]).toEqual([to, to === 'done']);
      }
    }
  });

  it('completes a task that is made done', async () => {
    const { id, completedAt } = await acme.task({ status: 'done' });
    expect(completedAt).not.toBeNull();
    expect(await eventsOf(id)).toEqual(['task.created', 'task.completed']);
  });

  it('leaves what each field was and is in the log, on the contact', async () => {
    const contact = await acme.contact();
    const task = await acme.task({ title: 'Old', contactId: contact.id });
    await patch(task.id, { title: 'New', status: 'done' });
    const where = { entityId: task.id, type: 'task.completed' };
    const entry = await api.app.database.prisma.activity.findFirstOrThrow({ where });
    expect(entry).toMatchObject({ entityType: 'task', action: 'updated', contactId: contact.id, userId: acme.ownerId });
    expect(entry.changes).toEqual({ title: { from: 'Old', to: 'New' }, status: { from: 'todo', to: 'done' } });
  });
});

describe('DELETE /tasks/{id}', () => {
  it('removes the task, which the log remembers', async () => {
    const { id } = await acme.task();
    expect((await acme.owner.del(`/tasks/${id}`)).body).toEqual({ data: { id, deleted: true } });
    expectRefusal(await acme.owner.get(`/tasks/${id}`), 404);
    expectRefusal(await acme.owner.del(`/tasks/${id}`), 404);
    const log = await api.app.database.prisma.activity.findMany({ where: { entityId: id }, orderBy: { id: 'asc' } });
    expect(log.map(({ type, action }) => [type, action])).toEqual([
      ['task.created', 'created'],
      ['task.deleted', 'deleted'],
    ]);
  });
});

/** Where lists are read, at a moment that does not move. */
let home: Account;
const ids: Record<string, string> = {};
const now = '2030-05-06T12:00:00Z';
const list = async (query = '') => dataOf(await home.owner.get(`/tasks?${query}`));
const titles = async (query = '') => (await list(`sort=title&order=asc&${query}`)).data.map((task: Loose) => task.title);

async function fillHome() {
  api.clock.set(now);
  home = await api.seed.account();
  const contact = await home.contact();
  const member = await home.member();
  const tasks: Record<string, unknown>[] = [
    { title: 'Earlier today', dueDate: '2030-05-06T09:00:00Z', priority: 'urgent' },
    { title: 'Later today', dueDate: '2030-05-06', priority: 'low', status: 'in_progress', contactId: contact.id },
    { title: 'Tomorrow', dueDate: '2030-05-07T00:00:00Z', priority: 'high', assignedTo: member.userId },
    { title: 'Yesterday', dueDate: '2030-05-05', contactId: contact.id },
    { title: 'Yesterday, done', dueDate: '2030-05-05', status: 'done' },
    { title: 'Whenever' },
  ];
  for (const task of tasks) ids[task.title as string] = (await home.task(task)).id;
  Object.assign(ids, { contact: contact.id, member: member.userId });
}

const all = ['Earlier today', 'Later today', 'Tomorrow', 'Whenever', 'Yesterday', 'Yesterday, done'];

describe('GET /tasks', () => {
  beforeAll(fillHome);
  afterAll(() => api.clock.reset());

  it('has the tabs all, today, upcoming, overdue and completed', async () => {
    expect(await titles('tab=all')).toEqual(all);
    expect(await titles('tab=today')).toEqual(['Earlier today', 'Later today']);
    expect(await titles('tab=upcoming')).toEqual(['Tomorrow']);
    expect(await titles('tab=overdue')).toEqual(['Earlier today', 'Yesterday']);
    expect(await titles('tab=completed')).toEqual(['Yesterday, done']);
    expectRefusal(await home.owner.get('/tasks?tab=mine'), 400, 'tab');
  });

  it('finds the overdue ones, and the others', async () => {
    expect(await titles('overdue=true')).toEqual(['Earlier today', 'Yesterday']);
    expect(await titles('overdue=false')).toEqual(['Later today', 'Tomorrow', 'Whenever', 'Yesterday, done']);
    expectRefusal(await home.owner.get('/tasks?overdue=maybe'), 400, 'overdue');
  });

  it('filters by status, priority, assignee and contact under each of their names', async () => {
    expect(await titles('status=done')).toEqual(['Yesterday, done']);
    expect(await titles('priority=low')).toEqual(['Later today']);
    for (const name of ['assigned_to', 'assignedTo']) expect(await titles(`${name}=${ids.member}`)).toEqual(['Tomorrow']);
    for (const name of ['contact_id', 'contactId']) expect(await titles(`${name}=${ids.contact}`)).toEqual(['Later today', 'Yesterday']);
    for (const name of ['deal_id', 'dealId']) expect(await titles(`${name}=${v4()}`)).toEqual([]);
    for (const bad of ['status=open', 'priority=1', 'assigned_to=me', 'contact_id=x', 'dealId=x', 'sort=password', 'order=down']) {
      expectRefusal(await home.owner.get(`/tasks?${bad}`), 400, bad.split('=')[0]);
    }
  });

  it('filters by due date, both ends included', async () => {
    expect(await titles('dueFrom=2030-05-06&dueTo=2030-05-06')).toEqual(['Earlier today', 'Later today']);
    expect(await titles('dueFrom=2030-05-06T09:00:00Z&dueTo=2030-05-07T00:00:00Z')).toEqual(['Earlier today', 'Later today', 'Tomorrow']);
    expectRefusal(await home.owner.get('/tasks?dueFrom=soon'), 400, 'dueFrom');
  });

  it('searches the title', async () => {
    expect(await titles('search=DAY')).toEqual(['Earlier today', 'Later today', 'Yesterday', 'Yesterday, done']);
    expect(await titles('search=to')).toEqual(['Earlier today', 'Later today', 'Tomorrow']);
    expect(await titles('search=%25%25%25')).toEqual([]);
  });

  it('sorts by every key in both directions, nulls last', async () => {
    const sorted = async (sort: string, order: string) => (await list(`sort=${sort}&order=${order}`)).data.map((t: Loose) => t[sort]);
    const rank = { priority: ['low', 'medium', 'high', 'urgent'], status: ['todo', 'in_progress', 'done'] };
    for (const key of ['createdAt', 'updatedAt', 'dueDate', 'priority', 'title', 'status']) {
      const at = (value: Loose) => (key in rank ? rank[key as keyof typeof rank].indexOf(value) : value);
      for (const order of ['asc', 'desc']) {
        const values = await sorted(key, order);
        const present = values.filter((v: Loose) => v !== null);
        const up = [...present].sort((a, b) => (at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : 0));
        expect(values).toEqual([...(order === 'asc' ? up : up.reverse()), ...values.filter((v: Loose) => v === null)]);
      }
    }
    expect((await list()).data.map((t: Loose) => t.title)[0]).toBe('Whenever');
  });

  it('pages in one statement, total included', async () => {
    const page = await list('sort=dueDate&order=asc&per_page=2&page=2');
    expect(page.data.map((t: Loose) => t.title)).toEqual(['Earlier today', 'Later today']);
    expect(page.meta).toMatchObject({ page: 2, per_page: 2, total: 6, totalPages: 3 });
    expect(await api.statements(() => list('tab=today'))).toBe(1);
  });
});

describe('tasks through the other API', () => {
  it('lead to their contact, assignee and author, and back, in one statement', async () => {
    const home = await api.seed.account();
    const contact = await home.contact({ firstName: 'Ada' });
    for (const title of ['first', 'second', 'third']) await home.task({ title, contactId: contact.id, assignedTo: home.ownerId });
    const query = `{ tasks(sort: title, order: asc) { totalCount nodes { title
      contact { firstName tasks(first: 2) { nodes { title } } } assignedUser { email } author { email } } } }`;
    const { data } = await home.owner.gql(query);
    expect(data.tasks.totalCount).toBe(3);
    const related = { contact: { firstName: 'Ada', tasks: { nodes: [{ title: 'third' }, { title: 'second' }] } } };
    const people = { assignedUser: { email: home.ownerEmail }, author: { email: home.ownerEmail } };
    expect(data.tasks.nodes).toEqual(['first', 'second', 'third'].map((title) => ({ title, ...related, ...people })));
    expect(await api.statements(() => home.owner.gql(query))).toBe(1);
    expectGraphQLRefusal(await home.owner.gql('{ tasks { nodes { contact { tasks(first: 0) { nodes { id } } } } } }'), 400, 'first');
  });

  it('take the same due dates', async () => {
    const { data } = await acme.owner.gql('mutation { createTask(input: { title: "Call", dueDate: "2030-05-06" }) { dueDate status } }');
    expect(data.createTask).toEqual({ dueDate: '2030-05-06T23:59:59.999Z', status: 'todo' });
    expectGraphQLRefusal(await acme.owner.gql('mutation { createTask(input: { title: "Call", dueDate: "soon" }) { id } }'), 400, 'dueDate');
  });
});
