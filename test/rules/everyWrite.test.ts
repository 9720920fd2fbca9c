import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rulesOf } from '../../src/kernel/model/fieldRules.js';
import { modules } from '../../src/modules.js';
import { sweep } from '../../src/workers/sweeps.js';
import { published } from '../contract/published.js';
import { pathOf, sampleOf } from '../contract/samples.js';
import { type Account, dataOf, type Loose, password, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { tokenMailed } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  await watch();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const types = modules.flatMap((module) => (module.events ?? []).map(({ of }) => of.type));
// An entry of the log is the telling; what is written by hand has a test of its own. A workspace is no record of a list.
const isWatched = (type: string) => types.includes(type) && !['Activity', 'Workspace'].includes(type);
const tables = new Map(
  modules
    .flatMap((module) => module.tables ?? [])
    .filter((table) => isWatched(table.type.name))
    .map((table) => [table.name, table]),
);

/**
 * What changes of a record without a word of it: what follows from other records, whose events tell it, and when somebody was
 * there or something was used.
 */
const withoutEvents: Record<string, string[]> = {
  contacts: ['lead_score', 'scored_at', 'last_activity_at', 'last_contacted_at'],
  deals: ['last_activity_at', 'position'],
  memberships: ['last_active_at'],
  api_keys: ['last_used_at'],
  imports: ['attempt', 'fruitless'],
  webhooks: ['last_fired_at', 'fail_count', 'failing_since', 'secret', 'previous_secret'],
  messages: ['attempt', 'leased_until', 'due_at'],
  enrollments: ['attempt', 'leased_until', 'due_at', 'counts_from'],
  vendor_connections: ['attempt', 'leased_until', 'due_at', 'cursor'],
  automations: ['attempt', 'leased_until', 'due_at', 'live_event'],
  call_flows: ['prior_config'],
  live_calls: ['choices'],
  workflow_runs: ['attempt', 'leased_until', 'due_at', 'tries'],
  automation_runs: ['attempt', 'leased_until', 'due_at', 'tries', 'state', 'wait_event'],
  conversations: ['message_count', 'unread_count', 'hidden', 'last_message_id', 'last_message_at', 'last_inbound_at', 'last_outbound_at'],
};

/** What is told of a workspace, where the payment service says it, and where somebody sets it. */
const billed = ['plan', 'billing_status', 'billing_interval', 'current_period_end', 'subscription_ends_at'];
const set = ['name', 'timezone', 'default_country', 'currency', 'default_tax_rate', 'lost_reason_required', 'lost_reasons', 'mfa_roles'];

/** Told of a record whose row stays as it is: a pipeline whose stages changed, an entry of the log. */
const beside = ['pipeline.updated', 'activity.created'];

/** From here on every write of a record, and every event, is noted with its transaction. */
async function watch(): Promise<void> {
  const { execute } = api.app.database;
  await execute('create table seen_writes (tx bigint, at text, id uuid, op text, changed text[], was jsonb, is_now jsonb)');
  await execute('create table seen_events (tx bigint, entity_id uuid, name text)');
  await execute(`create function see_write() returns trigger language plpgsql as $$
    declare was jsonb := case when tg_op = 'INSERT' then '{}' else to_jsonb(old) end; is_now jsonb := case when tg_op = 'DELETE' then '{}' else to_jsonb(new) end;
    begin
      insert into seen_writes select txid_current(), tg_table_name, coalesce(is_now ->> tg_argv[0], was ->> tg_argv[0])::uuid, tg_op,
        array(select key from jsonb_object_keys(was || is_now) key where was -> key is distinct from is_now -> key), was, is_now;
      return null;
    end $$`);
  await execute(`create function see_event() returns trigger language plpgsql as $$ begin
      insert into seen_events values (txid_current(), new.entity_id, new.name); return null; end $$`);
  await execute('create trigger see after insert on outbox_events for each row execute function see_event()');
  for (const { name, key } of [...tables.values(), { name: 'users', key: 'id' }, { name: 'accounts', key: 'id' }])
    await execute(`create trigger see after insert or update or delete on ${name} for each row execute function see_write('${key}')`);
}

/** Whether a column takes its value without a word of it, as its table declares for live queries: what becomes of it is told. */
function movesUntold({ at, was, is_now }: Loose, column: string): boolean {
  const table = tables.get(at);
  return Object.entries(table?.options.movesUntold ?? {}).some(
    ([field, moves]) => table!.columnOf(field) === `t.${column}` && moves[is_now[column]]?.includes(was[column]),
  );
}

/** What is to be told of a write: which fact, or `written` for any; nothing of what changes without events. */
function factOf(write: Loose): string | undefined {
  const { at, op, changed } = write;
  // Of a person themselves an account knows more only when they join, and whether their address is verified.
  if (at === 'users') return op === 'UPDATE' && changed.includes('email_verified_at') ? 'written' : undefined;
  // A conversation begins with its first message, and is told of where it is closed or read.
  // An import is told of when all its rows are kept.
  if (op === 'INSERT') return ['accounts', 'conversations', 'imports'].includes(at) ? undefined : 'created';
  if (op === 'DELETE') return 'deleted';
  if (at === 'accounts') {
    const told = changed.includes('billing_asked_at') ? [...billed, ...set] : set;
    return changed.some((column: string) => told.includes(column)) ? 'written' : undefined;
  }
  const untold = ['updated_at', ...(withoutEvents[at] ?? [])];
  return changed.some((column: string) => !untold.includes(column) && !movesUntold(write, column)) ? 'written' : undefined;
}

/** What was written without being told, and told without being written, since the last look. */
async function untold(): Promise<{ untold: string[]; unwritten: string[] }> {
  const { execute } = api.app.database;
  // In one statement: what a job commits in between is in both or in neither.
  const look = await execute(`with writes as (delete from seen_writes returning tx::text, at, id, op, changed, was, is_now),
    events as (delete from seen_events returning tx::text, entity_id as id, name)
    select coalesce((select json_agg(w) from writes w), '[]') as writes, coalesce((select json_agg(e) from events e), '[]') as events`);
  const [{ writes, events }] = look.rows as [{ writes: Loose[]; events: Loose[] }];
  // An account is made with its owner: nobody could have heard of it.
  const withAccount = writes.filter(({ at, op }) => at === 'accounts' && op === 'INSERT').map(({ tx }) => tx);
  const isTold = (write: Loose, fact: string) =>
    events.some(({ tx, id, name }) => tx === write.tx && id === write.id && (fact === 'written' || name.endsWith(`.${fact}`)));
  const missing = writes.flatMap((write) => {
    const fact = withAccount.includes(write.tx) ? undefined : factOf(write);
    return fact && !isTold(write, fact) ? [`${write.at} ${write.op} ${write.changed}`] : [];
  });
  const unwritten = events
    .filter(({ tx, id, name }) => !beside.includes(name) && !writes.some((write) => write.tx === tx && write.id === id))
    .map(({ name }) => name);
  return { untold: [...new Set(missing)], unwritten: [...new Set(unwritten)] };
}

it('every watched type has its table', () => {
  expect([...tables.values()].map(({ type }) => type.name).sort()).toEqual(types.filter(isWatched).sort());
});

it('every column that a record shows and that changes without a word of it is declared by its table, for live queries', () => {
  const shown = Object.entries(withoutEvents).flatMap(([name, columns]) => {
    const table = tables.get(name)!;
    const fields = rulesOf(table.type).map((rule) => table.columnOf(rule.name));
    const known = (table.options.withoutEvents ?? []).map((field) => table.columnOf(field));
    return columns
      .filter((column) => fields.includes(`t.${column}`) && !known.includes(`t.${column}`))
      .map((column) => `${name}.${column}`);
  });
  // The places of a column's deals change with a deal that comes or goes, which is told, and their order does not.
  expect(shown).toEqual(['deals.position']);
});

describe('every write of a record is told in its transaction:', () => {
  const endpoints = published.endpoints.filter(({ endpoint }) => endpoint.method !== 'GET' && endpoint.operation);
  it.each(endpoints.map((bound) => [bound.address, bound] as const))('%s', async (address, { endpoint, needs }) => {
    const sample = await sampleOf(address, acme);
    const client = sample.as ?? (needs.public ? api.anybody() : acme.owner);
    // What a sample keeps without the API is not told.
    await untold();
    const reply = await client.send(endpoint.method, pathOf(endpoint.path, sample), sample.body);
    expect(reply.status).toBeLessThan(400);
    expect(await untold()).toEqual({ untold: [], unwritten: [] });
  });
});

describe('what happens without a request of its own is told as well:', () => {
  const feed = async (account: Account) =>
    (await api.app.database.prisma.outboxEvent.findMany({ where: { accountId: account.id }, orderBy: { seq: 'asc' } })) as Loose[];

  it('an invoice that becomes overdue, once', async () => {
    const { id } = await acme.invoice({ dueDate: '2020-03-10' });
    dataOf(await acme.owner.post(`/invoices/${id}/send`));
    await untold();
    await Promise.all([sweep(api.app), sweep(api.app)]);
    await sweep(api.app);
    expect(await untold()).toEqual({ untold: [], unwritten: [] });
    const told = (await feed(acme)).filter((event) => event.entityId === id && event.name === 'invoice.overdue');
    expect(told).toMatchObject([
      { actorKind: 'system', changes: { status: { from: 'sent', to: 'overdue' } }, data: { status: 'overdue' } },
    ]);
  });

  it('every row and the progress of an import', async () => {
    const rows = Array.from({ length: 150 }, (_, i) => ({ firstName: `Row ${i}`, email: i === 7 ? 'no address' : `row${i}@example.com` }));
    const { id } = dataOf(await acme.owner.post('/imports', { rows }));
    dataOf(await acme.owner.post(`/imports/${id}/process`));
    await eventually(async () => dataOf(await acme.owner.get(`/imports/${id}`)).status === 'completed');
    expect(await untold()).toEqual({ untold: [], unwritten: [] });
    const progress = (await feed(acme))
      .filter((event) => event.entityId === id && event.changes?.processedRows)
      .map((event) => event.data.processedRows);
    expect(progress.at(-1)).toBe(150);
  });

  it('how a workspace is paid for, as the payment service says', async () => {
    const { url } = dataOf(await acme.owner.post('/billing/checkout', { planId: 'premium' }));
    const { pathname, search } = new URL(url);
    expect((await api.anybody().raw({ method: 'POST', path: `${pathname}${search}` })).status).toBe(200);
    expect((await feed(acme)).at(-1)).toMatchObject({ name: 'workspace.updated', changes: { plan: { to: 'premium' } } });
    expect(await untold()).toEqual({ untold: [], unwritten: [] });
  });

  it('a person who registers, verifies their address and accepts an invitation', async () => {
    const email = 'joiner@example.com';
    const own = await api.seed.account({ email });
    dataOf(await acme.owner.post('/users/invite', { email, firstName: 'Guessed' }));
    const accepted = { token: await tokenMailed(api, email, 'accept-invite'), password, firstName: 'Known' };
    dataOf(await api.anybody().post('/auth/accept-invite', accepted));
    expect(await untold()).toEqual({ untold: [], unwritten: [] });
    const [verified] = (await feed(own)).filter((event) => event.entityId === own.ownerId);
    // The link of the invitation came by mail, so that the address is verified by it.
    expect(verified).toMatchObject({ name: 'user.updated', changes: { emailVerified: { from: false, to: true } } });
    const joined = (await feed(acme)).filter((event) => event.entityId === own.ownerId).at(-1);
    const changes = {
      ...{ status: { from: 'invited', to: 'active' }, name: { from: 'Guessed', to: email } },
      emailVerified: { from: false, to: true },
    };
    expect(joined.changes).toEqual(changes);
    expect(joined).toMatchObject({
      name: 'user.updated',
      actorKind: 'user',
      actorId: own.ownerId,
      data: { email, status: 'active' },
      changes,
    });
  });
});

describe('nothing is told', () => {
  it('of a change that changes nothing', async () => {
    // What the samples above set in motion in their account may still go on.
    const still = await api.seed.account();
    const contact = await still.contact({ firstName: 'Same', city: 'Rome', tags: ['Kept'] });
    const deal = await still.deal();
    const task = await still.task();
    await untold();
    for (const [path, body] of [
      [`/contacts/${contact.id}`, { firstName: 'Same', city: 'Rome', tags: ['kept'] }],
      [`/deals/${deal.id}`, { title: deal.title, stageId: deal.stageId, value: null }],
      [`/tasks/${task.id}`, { title: task.title }],
      [`/users/${still.ownerId}`, { name: dataOf(await still.owner.get(`/users/${still.ownerId}`)).name }],
    ] as const)
      dataOf(await still.owner.patch(path, body));
    const { rows } = await api.app.database.execute(
      'select name from seen_events e where exists (select from outbox_events o where o.entity_id = e.entity_id and o.account_id = $1)',
      [still.id],
    );
    expect(rows).toEqual([]);
  });
});
