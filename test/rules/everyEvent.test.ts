import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { GraphQLObjectType } from 'graphql';
import { EqualityFilters } from '../../src/graphql/live.dependencies.js';
import type { ListPlan } from '../../src/graphql/live.plan.js';
import type { AppError } from '../../src/kernel/base/errors.js';
import type { Context } from '../../src/kernel/context/context.js';
import type { FeedEvent } from '../../src/kernel/events/feedStore.js';
import { refuseUntold } from '../../src/kernel/matching/untold.js';
import { recordSchema } from '../../src/kernel/model/recordSchema.js';
import { recordSelection, restRecordOf } from '../../src/kernel/model/restRecord.js';
import type { AnyTable } from '../../src/kernel/tables/table.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { modules } from '../../src/modules.js';
import { published } from '../contract/published.js';
import { pathOf, sampleOf } from '../contract/samples.js';
import { closed } from '../support/closed.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const told = new Map(modules.flatMap((module) => (module.events ?? []).map(({ of }) => [of.type.toLowerCase(), of.type] as const)));
const tables = new Map<string, AnyTable>(modules.flatMap(({ tables = [] }) => tables.map((table) => [table.type.name, table] as const)));
const typeOf = (event: Loose) => published.schema.getType(told.get(event.entityType)!) as GraphQLObjectType;

const ajv = new Ajv2020({ strict: false, allErrors: true });
(ajvFormats as unknown as (target: Ajv2020) => void)(ajv);
const validators = new Map<string, ValidateFunction>();

/** What is wrong with the record of an event by the schema that `automations/events` publishes of it. */
function unpublished(event: Loose): string[] {
  const type = typeOf(event).name;
  const validate = validators.get(type) ?? ajv.compile(closed(recordSchema(published.schema, type)));
  validators.set(type, validate);
  return validate(event.data) ? [] : [ajv.errorsText(validate.errors)];
}

const readWith: Record<string, string> = { Conversation: 'conversation(contactId: $id)' };

/** The REST record of what an event is about, as a read answers it now; null where it has gone or is read only with others. */
async function readOf(event: Loose): Promise<Loose> {
  const type = typeOf(event);
  const isNode = type.getInterfaces().some(({ name }) => name === 'Node');
  if (!isNode && !readWith[type.name]) return null;
  const found = readWith[type.name] ?? 'node(id: $id)';
  const document = `query ($id: ID!) { found: ${found} { ... on ${type.name} ${recordSelection(type)} } }`;
  const { data, errors } = await acme.owner.gql(document, { id: event.entityId });
  const faults = errors?.filter(({ extensions }) => extensions.code !== 'not_found') ?? [];
  expect([event.name, faults]).toEqual([event.name, []]);
  return data.found;
}

/** What follows from runs, whose own events tell it, and what of a run's event only a read shows. */
const ofRuns: Record<string, string[]> = { Workflow: ['lastRunAt'], Automation: ['lastTriggered'], WorkflowRun: ['triggerData'] };
/** Is told of calls that the voice vendor reports. */
const withoutSample = ['LiveCall'];

/** The members that are null in what was told, and something in what is read, besides what changes without a word of it. */
function missing(data: Loose, record: Loose, withoutEvents: readonly string[] = [], at = ''): string[] {
  return Object.entries(record ?? {}).flatMap(([name, value]) => {
    if (value === null || withoutEvents.includes(name)) return [];
    if (data[name] === null || data[name] === undefined) return [`${at}${name} is not told`];
    return typeof value === 'object' && !Array.isArray(value) ? missing(data[name], value, [], `${at}${name}.`) : [];
  });
}

/** What a read shows of the record of an event that is not told, there or by what has happened to it since: work goes on by itself. */
async function untold(event: Loose): Promise<string[]> {
  const { name } = typeOf(event);
  const withoutEvents = [...(tables.get(name)?.options.withoutEvents ?? []), ...(ofRuns[name] ?? [])];
  const record = await readOf(event);
  if (missing(event.data, record, withoutEvents).length === 0) return [];
  const where = { accountId: acme.id, entityId: event.entityId };
  const last: Loose = await api.app.database.prisma.outboxEvent.findFirst({ where, orderBy: { seq: 'desc' } });
  return missing(last.data, record, withoutEvents);
}

const isPlain = (value: unknown) => typeof value !== 'object' || value === null;

/** The new values of an event that its record does not have: texts, numbers and the like, since of lists and objects changes tell parts. */
const disagreeing = ({ changes, data }: Loose): string[] =>
  Object.entries((changes ?? {}) as Record<string, Loose>)
    .filter(([name, { to }]) => isPlain(to) && isPlain(data[name]) && Object.hasOwn(data, name) && data[name] !== to)
    .map(([name, { to }]) => `${name} has become ${to} and is told as ${data[name]}`);

const isGone = ({ name }: Loose) => /\.(deleted|removed|archived|revoked)$/.test(name);

/** What the row of a record that has gone, where it stays, says otherwise than its event. */
async function rowsSay(event: Loose): Promise<string[]> {
  const table = isGone(event) ? tables.get(typeOf(event).name) : undefined;
  if (!table) return [];
  const text = `select ${table.columns.sql} from ${table.name} t where t.account_id = $1 and t.${table.key} = $2`;
  const { rows } = await api.app.database.execute(text, [acme.id, event.entityId]);
  const [row] = rows as object[];
  const kept: Loose = row ? restRecordOf(published.schema, table.type.name, row, { now: () => api.clock.now() }) : {};
  const names = Object.keys(table.shape).filter((name) => name !== 'updatedAt' && name in kept && isPlain(kept[name]));
  return names
    .filter((name) => kept[name] !== event.data[name])
    .map((name) => `${name} is kept as ${kept[name]} and told as ${event.data[name]}`);
}

/** The fields of a record that are told with other values than before, by which its list can be filtered. */
function movedFilters(before: Loose, event: Loose): string[] {
  const { list, conditions = {} } = tables.get(typeOf(event).name)?.options ?? {};
  const names = list ? Object.keys(conditions) : [];
  return names.filter((name) => typeof before.data[name] === 'string' && before.data[name] !== event.data[name]);
}

/** Whether a live list that a field of a record was shown by, as it was told before, looks at what is told of the record next. */
function isLookedAt(ctx: Context, name: string, before: Loose, event: Loose): boolean {
  const table = tables.get(typeOf(event).name)!;
  const plan = { table, args: { filter: { [name]: before.data[name] } }, leadsBack: false, computed: [] };
  return new EqualityFilters(ctx, plan as unknown as ListPlan).mayShow(table.name, event as unknown as FeedEvent);
}

/** What was told of the records of the account, one change after the other, in pairs. */
async function successors(): Promise<[before: Loose, event: Loose][]> {
  const all: Loose[] = await api.app.database.prisma.outboxEvent.findMany({ where: { accountId: acme.id }, orderBy: { seq: 'asc' } });
  const last = new Map<string, Loose>();
  return all.flatMap((event) => {
    const key = `${event.entityType} ${event.entityId}`;
    const before = last.get(key);
    last.set(key, event);
    return before && before.changeId !== event.changeId ? [[before, event] as [Loose, Loose]] : [];
  });
}

/** What follows from messages, whose events tell it. */
const ofMessages: Record<string, string[]> = { Conversation: ['conversationState', 'sla', 'closedAt'] };

/** The old values of an event that were told otherwise by the one before it, but for what changes without a word of it. */
function notGoneOnFrom([before, event]: [Loose, Loose]): string[] {
  const { name: type } = typeOf(event);
  const { withoutEvents = [] } = tables.get(type)?.options ?? {};
  return Object.entries((event.changes ?? {}) as Record<string, Loose>)
    .filter(
      ([name, { from }]) => Object.hasOwn(before.data, name) && isPlain(from) && isPlain(before.data[name]) && from !== before.data[name],
    )
    .filter(([name]) => ![...withoutEvents, ...(ofRuns[type] ?? []), ...(ofMessages[type] ?? [])].includes(name))
    .map(([name, { from }]) => `${before.name}, ${event.name}: ${name} was told as ${before.data[name]}, and goes on from ${from}`);
}

const seen = new Set<string>();
let after = 0n;

async function newEvents(): Promise<Loose[]> {
  const where = { accountId: acme.id, seq: { gt: after } };
  const events = await api.app.database.prisma.outboxEvent.findMany({ where, orderBy: { seq: 'asc' } });
  after = events.at(-1)?.seq ?? after;
  for (const { entityType } of events) seen.add(entityType);
  return events;
}

describe('every event tells its record as it is then:', () => {
  const endpoints = published.endpoints.filter(({ endpoint }) => endpoint.method !== 'GET' && endpoint.operation);
  it.each(endpoints.map((bound) => [bound.address, bound] as const))('%s', async (address, { endpoint, needs }) => {
    const sample = await sampleOf(address, acme);
    const client = sample.as ?? (needs.public ? api.anybody() : acme.owner);
    const reply = await client.send(endpoint.method, pathOf(endpoint.path, sample), sample.body);
    expect(reply.status).toBeLessThan(400);
    const events = await newEvents();
    const faults = events.flatMap((event) => [...unpublished(event), ...disagreeing(event)].map((fault) => `${event.name}: ${fault}`));
    // The last of each record: of those before it something may have changed since.
    for (const event of new Map(events.map((event) => [event.entityId, event])).values()) {
      const said = [...(await untold(event)), ...(await rowsSay(event))];
      faults.push(...said.map((fault) => `${event.name}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  it('and live lists that showed it as it was told before look at it, by whichever field they are filtered', async () => {
    const ctx = (await actingForAccount(api.app, acme.id))!;
    // No sample comes back.
    const invite = () => acme.owner.post('/users/invite', { email: `back@${acme.id}.example` });
    dataOf(await acme.owner.del(`/users/${dataOf(await invite()).id}`));
    dataOf(await invite());
    const moved = (await successors()).flatMap(([before, event]) =>
      movedFilters(before, event).map((name) => ({
        at: `${typeOf(event).name}.${name}`,
        is: `${event.name}: ${before.data[name]} to ${event.data[name]}`,
        isLookedAt: isLookedAt(ctx, name, before, event),
      })),
    );
    expect(moved.filter((one) => !one.isLookedAt)).toEqual([]);
    expect(moved.map(({ at }) => at)).toEqual(expect.arrayContaining(['Message.status', 'User.status', 'Import.status']));
  });

  it('and its changes go on from what was told of it before', async () => {
    expect((await successors()).flatMap(notGoneOnFrom)).toEqual([]);
  });

  it('and these are all kinds of records', () => {
    expect([...told].filter(([type]) => !seen.has(type)).map(([, type]) => type)).toEqual(withoutSample);
  });
});

/** Whether conditions that are new may not ask for a change, which is none of a field that they do not know. */
function isRefused(ctx: Context, type: string, name: string): boolean {
  try {
    refuseUntold(ctx, type, { [`changes.${name}.to`]: null }, 'at');
    return false;
  } catch (error) {
    return (error as AppError).details?.[0]?.code === 'not_allowed';
  }
}

it('conditions may ask for every change that an event told', async () => {
  const ctx = (await actingForAccount(api.app, acme.id))!;
  const all: Loose[] = await api.app.database.prisma.outboxEvent.findMany({ where: { accountId: acme.id } });
  const heard = all.filter(({ name }) => !api.app.registry.events.get(name)!.startsNothing);
  const changes = heard.flatMap((event) => Object.keys(event.changes ?? {}).map((name) => [typeOf(event).name, name] as const));
  expect(changes.length).toBeGreaterThan(30);
  const refused = changes.filter(([type, name]) => isRefused(ctx, type, name)).map((change) => change.join('.'));
  expect([...new Set(refused)]).toEqual([]);
});

it('events of runs and of their steps alone start no run', () => {
  const feeds = modules.flatMap(({ events = [] }) => events);
  const startNothing = feeds.filter((feed) => feed.startsNothing).map(({ of }) => of.noun);
  expect(startNothing.sort()).toEqual(['automation_run', 'automation_step_log', 'workflow_run']);
});
