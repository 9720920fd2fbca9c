import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { Automations, aNode, aTask } from '../support/automations.js';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  onPostgres,
  second,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
let automations: Automations;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  automations = new Automations(acme, await acme.key());
});
afterEach(() => api.clock.reset());
afterAll(() => api.close());

const draft = async (fields: Loose): Promise<string> => dataOf(await automations.key.post('/automations', { name: 'Draft', ...fields })).id;
const graph = (title: string) => ({ graph: { startNodeId: title, nodes: [aTask(title)] } });

describe('a version that was taken back', () => {
  it('is that of no run: the next one of its number is', async () => {
    const id = await draft(graph('old'));
    const contact = await automations.contact();
    const { errors } = await automations.key.gql(`mutation {
      publishAutomation(id: "${id}") { publishedVersion }
      enrollInAutomation(id: "${id}", input: { contactIds: ["${contact}"] }) { enrolled }
      deleteTag(id: "${crypto.randomUUID()}") { deletedId }
    }`);
    expect(errors).toMatchObject([{ path: ['deleteTag'] }]);
    dataOf(await automations.key.patch(`/automations/${id}`, graph('new')));
    expect(dataOf(await automations.key.post(`/automations/${id}/publish`)).publishedVersion).toBe(1);
    const [run] = await automations.enroll(id, contact);
    await automations.until(run!, 'success', 'failed');
    expect(await automations.path(run!)).toEqual(['new completed']);
    expect(await automations.tasks(contact)).toEqual(['new']);
  });
});

describe('a run of an ext automation', () => {
  it('says, while its runner is yet to be called, that this is next', async () => {
    const id = await draft({ kind: 'ext', extWebhookUrl: 'https://example.com/run' });
    dataOf(await automations.key.post(`/automations/${id}/publish`));
    const [run] = await automations.enroll(id, await automations.contact());
    await automations.until(run!, 'success');
    await api.app.database.execute(
      `update automation_runs set status = 'running', completed_at = null, end_reason = null, due_at = '2099-01-01T00:00:00Z' where id = '${run}'`,
    );
    const { explanation } = dataOf(await automations.key.get(`/automations/${id}/runs/${run}`));
    expect(explanation).toMatchObject({
      summary: 'Started by hand. It goes on with ext at 2099-01-01T00:00:00.000Z.',
      next: { nodeId: 'ext', type: 'ext', at: '2099-01-01T00:00:00.000Z', event: null },
    });
  });
});

const another = async () => {
  const client = new pg.Client(api.place.databaseUrl);
  await client.connect();
  return client;
};

/** Publishes an automation, and before that is committed begins something that waits for it; answers what comes of that. */
async function whilePublished<T>({ key }: Automations, id: string, begin: () => Promise<T>): Promise<T> {
  const [client, { execute }] = [await another(), api.app.database];
  await execute(`create or replace function test_published() returns trigger language plpgsql set lock_timeout = 0 as $$ begin
    perform pg_advisory_xact_lock_shared(78); return new; end $$`);
  await execute(`create trigger test_published before insert on outbox_events for each row
    when (new.name = 'automation.published') execute function test_published()`);
  await client.query('select pg_advisory_lock(78)');
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const waits = (count: number) => eventually(async () => (await client.query(waiting)).rows.length >= count);
  try {
    const published = key.post(`/automations/${id}/publish`);
    await waits(1);
    const begun = begin();
    await waits(2);
    await client.end();
    dataOf(await published);
    return begun;
  } finally {
    await client.end();
    await execute('drop trigger test_published on outbox_events');
  }
}

onPostgres(describe)('an automation that is published again', () => {
  const anew = async () => {
    const id = await automations.make([aTask('old')], { triggerEvent: 'contact.created' });
    dataOf(await automations.key.patch(`/automations/${id}`, graph('new')));
    return id;
  };

  it('is started by what is read meanwhile, in its new version', async () => {
    const id = await anew();
    const contact = await whilePublished(automations, id, () => automations.contact());
    await automations.read();
    expect((await automations.runs(id)).map(({ contactId, version }) => [contactId, version])).toEqual([[contact, 2]]);
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('does not wait for the reader, which may wait for it', async () => {
    const [id, client] = [await anew(), await another()];
    await client.query('begin');
    await client.query('update feed_readers set pos = pos where account_id = $1', [acme.id]);
    expect(dataOf(await automations.key.post(`/automations/${id}/publish`)).publishedVersion).toBe(2);
    await client.query('commit');
    await client.end();
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('goes by the clocks of the workspace that are set meanwhile', async () => {
    const own = await api.seed.account();
    const its = new Automations(own, await own.key());
    const id = await its.make([aTask('daily')], { schedule: '0 9 * * *' });
    const moved = await whilePublished(its, id, () => own.owner.patch('/settings/workspace', { timezone: 'Asia/Tokyo' }));
    expect(moved.status).toBe(200);
    expect(dataOf(await its.key.get(`/automations/${id}`)).nextRunAt).toMatch(/T00:00:00.000Z$/);
  });
});

describe('a schedule that is run while the workspace gets another time zone', () => {
  it('takes its next moment by the new one', async () => {
    const own = await api.seed.account();
    const its = new Automations(own, await own.key());
    const id = await its.make([aTask('daily')], { schedule: '0 9 * * *' });
    // Overdue, and taken by a process that knows the account as it is now and has not begun.
    const { rows } = await api.app.database.execute(
      `update automations set next_run_at = now() - interval '1 minute', due_at = now() - interval '1 minute', attempt = attempt + 1,
        leased_until = now() + interval '10 days' where id = $1 returning attempt`,
      [id],
    );
    const ctx = await actingForAccount(api.app, own.id);
    dataOf(await own.owner.patch('/settings/workspace', { timezone: 'Asia/Tokyo' }));
    await api.app.registry.due.get('automations')!.work(ctx!, { id, attempt: (rows as [Loose])[0].attempt });
    expect(await its.runs(id)).toHaveLength(1);
    expect(dataOf(await its.key.get(`/automations/${id}`)).nextRunAt).toMatch(/T00:00:00.000Z$/);
  });
});

describe('a dry run of what an event of a contact starts', () => {
  const title = '{{record.email}} of {{record.city}}';
  const nodes = [
    aNode('paris', 'branch', {}, 'end', [{ when: { city: 'Paris' }, next: 'task' }]),
    aTask('task', 'end', title),
    aNode('end', 'end'),
  ];
  const dryRun = async (id: string, body: Loose) => dataOf(await automations.key.post(`/automations/${id}/dry-run`, body));
  const titles = ({ steps }: Loose) => steps.flatMap(({ output }: Loose) => output?.title ?? []);

  it('is about the contact, as a run is, about what was given, or about the example', async () => {
    const id = await automations.make(nodes, { triggerEvent: 'contact.created' });
    const contact = { email: 'grace@example.com', city: 'Paris' };
    const contactId = await automations.contact(contact);
    await automations.read();
    const [run] = await automations.runs(id);
    await automations.until(run!.id, 'success');
    const tried = await dryRun(id, { contactId });
    expect(titles(tried)).toEqual(await automations.tasks(contactId));
    expect(titles(tried)).toEqual(['grace@example.com of Paris']);
    expect(titles(await dryRun(id, { contactId, data: { email: 'given@example.com' } }))).toEqual(['given@example.com of']);
    expect(titles(await dryRun(id, { data: contact }))).toEqual(['grace@example.com of Paris']);
    const [{ sample }] = dataOf(await automations.key.get('/automations/events?kind=native')).filter(
      ({ event }: Loose) => event === 'contact.created',
    );
    const { steps } = await dryRun(id, {});
    expect(steps[0].output.branches[0].conditions).toMatchObject([{ seen: sample.data.city }]);
  });
});

describe('an account that is not paid for', () => {
  it('is told so after what is wrong with a request, and before what stands against publishing', async () => {
    const blocked = await draft({ graph: { startNodeId: 'gone', nodes: [aNode('end', 'end')] } });
    const { id: workflow } = dataOf(await acme.owner.post('/workflows', { name: 'Without a trigger' }));
    expectRefusal(await automations.key.post(`/automations/${blocked}/publish`), 422);
    await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { billingStatus: 'cancelled' } });
    api.clock.advance(2 * second);
    await expectNothingWritten(api, async () => {
      expectRefusal(await automations.key.post(`/automations/${blocked}/publish`), 402);
      expectRefusal(await automations.key.patch(`/automations/${blocked}`, { active: true }), 402);
      expectRefusal(await automations.key.patch(`/automations/${blocked}`, { active: null }), 400, 'active');
      expectRefusal(await automations.key.post('/automations', { name: 'A', actions: Array.from({ length: 1001 }, () => ({})) }), 402);
      expectRefusal(await automations.key.post('/automations', { name: '' }), 400, 'name');
      expectRefusal(await automations.key.post(`/workflows/${workflow}/activate`, {}), 402);
    });
    await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { billingStatus: 'active' } });
  });
});
