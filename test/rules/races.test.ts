import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aNode } from '../support/automations.js';
import { removals, untilWaiting, waitingIn, whileHeldUp, whileLocked } from '../support/heldUp.js';
import {
  type Account,
  dataOf,
  expectRefusal,
  least,
  onPostgres,
  processorTime,
  type Reply,
  second,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
let small: Account;
beforeAll(async () => {
  api = await server();
  [acme, small] = [await api.seed.account(), await api.seed.account({ plan: 'trial' })];
});
afterAll(() => api.close());

const statusesOf = (replies: { status: number }[]) => replies.map(({ status }) => status).sort((a, b) => a - b);

onPostgres(describe)('what two do at once', () => {
  it('to two tags, merged into each other, leaves one of them', async () => {
    for (let n = 0; n < 10; n++) {
      const [a, b] = [await acme.tag(`a${n}`), await acme.tag(`b${n}`)];
      const merge = (sourceId: string, targetId: string) => acme.owner.post('/tags/merge', { sourceId, targetId });
      expect(statusesOf(await Promise.all([merge(a.id, b.id), merge(b.id, a.id)]))).toEqual([200, 404]);
      const left = await Promise.all([a, b].map(({ id }) => acme.owner.get(`/tags/${id}`)));
      expect(statusesOf(left)).toEqual([200, 404]);
    }
  });

  it('near the limit of a plan never goes over it', async () => {
    const data = Array.from({ length: 990 }, (_, n) => ({ accountId: small.id, id: api.clock.id(), firstName: `C${n}` }));
    const times = { createdAt: api.clock.now(), updatedAt: api.clock.now() };
    await api.app.database.prisma.contact.createMany({ data: data.map((row) => ({ ...row, ...times })) });
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => small.owner.post('/contacts', { firstName: `D${n}` })));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 402)).toHaveLength(30);
  });
});

onPostgres(describe)('contacts that are made by twenty at once, a hundred below the limit of a plan', () => {
  it('are no more than it allows', async () => {
    const trial = await api.seed.account({ plan: 'trial' });
    const { prisma } = api.app.database;
    const own = { accountId: trial.id, createdAt: api.clock.now(), updatedAt: api.clock.now() };
    await prisma.contact.createMany({ data: Array.from({ length: 890 }, (_, n) => ({ ...own, id: api.clock.id(), firstName: `C${n}` })) });
    const twenty = Array.from({ length: 20 }, (_, n) => `c${n}: createContact(input: { firstName: "D${n}" }) { id }`);
    const create = () => trial.owner.gql(`mutation { ${twenty.join(' ')} }`);
    const all = () => Promise.all(Array.from({ length: 12 }, create));
    // Nobody has written before others have counted.
    await whileLocked(api, 'lock table contacts in share row exclusive mode', all, untilWaiting(1));
    const total = await prisma.contact.count({ where: { accountId: trial.id } });
    expect(total).toBeLessThanOrEqual(1000);
    expect(total).toBeGreaterThanOrEqual(990);
  });
});

onPostgres(describe)('the same new tags in another case, named by two at once', () => {
  it('have the second wait for the first, and neither for each other', async () => {
    const others = `insert into tags (account_id, id, name, created_at, updated_at)
      select '${acme.id}', gen_random_uuid(), name, now(), now() from unnest(array['wait', 'hold']) name`;
    const create = (...tags: string[]) => acme.owner.post('/contacts', { firstName: 'Ada', tags });
    const both = () => Promise.all([create('VIP', 'Wait', 'alpha'), create('vip', 'Hold', 'Alpha')]);
    const replies = await whileLocked(api, others, both, async (look) => {
      await untilWaiting(2)(look);
      const statements = await waitingIn(look);
      const pids = new Set(statements.map(({ pid }) => pid));
      // The other one waits for what is held here.
      expect(statements.filter((one) => one.others.some((pid) => pids.has(pid)))).toHaveLength(1);
    });
    expect(statusesOf(replies)).toEqual([201, 201]);
  });
});

onPostgres(describe)('an API key that is made while its maker is removed', () => {
  it('is none', async () => {
    const admin = await acme.member('admin');
    const { replies, waitedFor } = await whileHeldUp(
      api,
      removals,
      () => acme.owner.del(`/users/${admin.userId}`),
      () => admin.post('/api-keys', { name: 'late', permission: 'read' }),
    );
    expect(waitedFor).toEqual(['memberships']);
    expect(replies[0]!.status).toBe(200);
    expectRefusal(replies[1]!, 401);
    expect(await api.app.database.prisma.apiKey.count({ where: { createdBy: admin.userId } })).toBe(0);
  });
});

onPostgres(describe)('a line that is given to another agent while its own one is removed', () => {
  it.each(['another agent', 'nobody'])('is told to be free once, and the assignment to %s is refused', async (whom) => {
    const own = await api.seed.account();
    const { userId } = await own.member();
    const settings = '/settings/vendor-line';
    const name = whom === 'nobody' ? 'freed' : 'passedon';
    const assign = (holder: string | null) => own.owner.put(`${settings}/lines/${name}-1`, { userId: holder });
    dataOf(await own.owner.put(settings, { apiKey: `line_${name}` }));
    dataOf(await assign(userId));
    // Tasks hear of the removal after lines, which are released by then, and not committed.
    const task = await own.task({ assignedTo: userId });
    const late: Promise<Reply>[] = [];
    const told = await toldIn(own, async () => {
      const held = `select from tasks where id = '${task.id}' for update`;
      const remove = () => own.owner.del(`/users/${userId}`);
      const removed = await whileLocked(api, held, remove, async (look) => {
        await untilWaiting(1)(look);
        late.push(assign(whom === 'nobody' ? null : own.ownerId));
        await untilWaiting(2)(look);
      });
      expect(removed.status).toBe(200);
      const [refused] = await Promise.all(late);
      expect([refused!.status, refused!.body.code]).toEqual([409, 'conflict']);
    });
    const ofLines = told.rows.filter((row) => row.name.startsWith('line_assignment.'));
    expect(ofLines.map((row) => row.name)).toEqual(['line_assignment.deleted']);
  });
});

describe('what many say of one new person at once', () => {
  it('is of one contact, and what they say of others is not held up', async () => {
    for (let n = 0; n < 3; n++) {
      const [same, other] = [
        { email: `same${n}@example.com`, phone: `+1415555012${n}` },
        (i: number) => ({ email: `other${n}-${i}@example.com` }),
      ];
      const said = Array.from({ length: 24 }, (_, i) => acme.owner.post('/contact', i % 2 ? same : other(i)));
      const replies = await Promise.all(said);
      expect(statusesOf(replies)).toEqual([...Array(11).fill(200), ...Array(13).fill(201)]);
      const contacts = new Set(replies.map((reply) => dataOf(reply).id));
      expect(contacts.size).toBe(13);
    }
  });

  it('is of one contact also where a phone number leads to somebody without the e-mail address', async () => {
    for (let n = 0; n < 20; n++) {
      const [email, phone] = [`none${n}@example.com`, `+1415555${4000 + n}`];
      await acme.contact({ phone });
      const replies = await Promise.all([acme.owner.post('/contact', { email, phone }), acme.owner.post('/contact', { email })]);
      for (const { status } of replies) expect([200, 201]).toContain(status);
      expect(dataOf(await acme.owner.get(`/contacts?search=${email}`)).meta.total).toBe(1);
    }
  });

  it('is not of a contact who moves away from the address meanwhile, whose new address stays', async () => {
    for (let n = 0; n < 20; n++) {
      const [email, other] = [`from${n}@example.com`, `to${n}@example.com`];
      const { id } = await acme.contact({ email });
      const upsert = () => acme.owner.post('/contact', { email, jobTitle: 'Upserted', ...(n % 2 && { tags: ['upserted'] }) });
      const replies = await Promise.all([upsert(), acme.owner.patch(`/contacts/${id}`, { email: other }), upsert()]);
      for (const { status } of replies) expect([200, 201]).toContain(status);
      expect(dataOf(await acme.owner.get(`/contacts/${id}`)).email).toBe(other);
    }
  });

  it('by a form is one contact of all submissions, with the tags of the form and the points of one form', async () => {
    const fields = [{ key: 'email', label: 'E-mail', type: 'email', required: true }];
    const form = dataOf(await acme.owner.post('/forms', { name: 'Contact us', fields, settings: { tags: ['from a form'] } }));
    const submit = () => api.anybody().post(`/forms/${form.id}/submit`, { data: { email: 'one@example.com' } });
    const filled = (await Promise.all(Array.from({ length: 8 }, submit))).map((reply) => dataOf(reply));
    expect(new Set(filled.map(({ contactId }) => contactId)).size).toBe(1);
    expect(new Set(filled.map(({ id }) => id)).size).toBe(8);
    const contact = dataOf(await acme.owner.get(`/contacts/${filled[0].contactId}`));
    expect(contact).toMatchObject({ email: 'one@example.com', leadScore: 5, tags: [{ name: 'from a form' }] });
    expect(contact.lastActivityAt).not.toBeNull();
  });
});

describe('a cell that names a member of every object', () => {
  it('is an ordinary wrong value, and its import ends', async () => {
    const rows = [{ firstName: 'Ada', doNotContact: 'constructor' }];
    const made = dataOf(await acme.owner.post('/imports', { rows }));
    expect(made.preview[0].error).toMatch(/doNotContact must be true or false/);
  });
});

describe('a body of very many faults', () => {
  it.each([
    [19_999, 'at the hundredth', 100],
    [400_000, 'for their number', 1],
  ])('is refused before it has cost a second: %i, %s', async (length, _why, told) => {
    const rows = Array.from({ length }, (_, n) => n);
    const refuse = async () => {
      const reply = await acme.owner.post('/imports', { rows });
      expect([reply.status, reply.body.details.length]).toEqual([400, told]);
    };
    // Of the processor, which others use as well.
    expect(await least(3, () => processorTime(refuse))).toBeLessThan(second);
  });
});

onPostgres(describe)('an automation that is switched on while the workspace gets another time zone', () => {
  const live = { table: 'automations', columns: 'active', rows: 'new.active' };

  it.each(['is published', 'is active again'])('has its first moment by that: it %s', async (how) => {
    const own = await api.seed.account();
    const graph = { startNodeId: 'end', nodes: [aNode('end', 'end')] };
    const { id } = dataOf(await own.owner.post('/automations', { name: 'Daily', graph, schedule: '0 9 * * *' }));
    const publish = () => own.owner.post(`/automations/${id}/publish`);
    const switchTo = (active: boolean) => own.owner.patch(`/automations/${id}`, { active });
    if (how === 'is active again') {
      dataOf(await publish());
      dataOf(await switchTo(false));
    }
    const { replies } = await whileHeldUp(api, live, how === 'is published' ? publish : () => switchTo(true), () =>
      own.owner.patch('/settings/workspace', { timezone: 'Asia/Tokyo' }),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(dataOf(await own.owner.get(`/automations/${id}`)).nextRunAt).toMatch(/T00:00:00.000Z$/);
  });
});
