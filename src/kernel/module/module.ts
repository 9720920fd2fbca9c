import type { GraphQLSchema } from 'graphql';
import type { Bucket } from '../access/rateLimits.js';
import type { AppError } from '../base/errors.js';
import type {
  AccountSweep,
  App,
  Context,
  DeclaredEvent,
  DueWork,
  FeedReader,
  JobHandler,
  NodeSource,
  Reaction,
} from '../context/context.js';
import type { LocksBeforeOf, Reference, SealedColumn, UsesOf } from '../context/registry.js';
import { constraintsMean } from '../database/errors.js';
import type { Sweep } from '../database/sweep.js';
import type { EventName } from '../events/recordEvents.js';
import type { RecordFeed } from '../feed/recordFeed.js';
import { nodeSourceOf } from '../lists/nodes.js';
import { isNode } from '../model/node.js';
import type { AnswerField } from '../tables/answerField.js';
import type { Relation } from '../tables/relation.js';
import type { AnyTable } from '../tables/table.js';
import type { Endpoint, Method, RawReply } from './routes.js';

/** What comes to a callback: the body as it was sent, since a signature covers its bytes. */
export interface CallbackRequest {
  params: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * What vendors and the pages that we hand out links to call: at the root of the server, no part of the contract, with no
 * credentials but what the handler finds in the request itself.
 */
export interface Callback {
  method: Method;
  path: `/${string}`;
  /** The named buckets that a request spends; none by default. */
  buckets?: readonly Bucket[];
  /** Whether a person looks at what it answers: errors are pages, too. */
  page?: boolean;
  /** Bytes that the body may have; 1 MiB by default. */
  bodyCap?: number;
  /** Throws what keeps a request out by its headers alone: nothing of its body is kept then. */
  admits?(ctx: Context, headers: CallbackRequest['headers']): Promise<void>;
  handler(ctx: Context, request: CallbackRequest): Promise<RawReply>;
}

/** What the world sees of a module: one default export of `<noun>s.module.ts`. */
export interface Module {
  name: string;
  /** What it is about, in a line: for the documents, wherever it has endpoints. */
  about?: string;
  /** Resolver classes. */
  resolvers: NonNullable<unknown>[];
  /** Its tables: what its records are read from. */
  tables?: readonly AnyTable[];
  /** How its records lead to others, and these to them: the module that holds the key declares both directions. */
  relations?: readonly Relation[];
  /** How what its operations answer leads to records. */
  answers?: readonly AnswerField[];
  /** Its REST endpoints, one a row of the contract. */
  routes: Endpoint[];
  callbacks?: readonly Callback[];
  /** What is told of this module's records, with the typed subscription of each type. */
  events?: readonly RecordFeed[];
  /** Reactions to the events of earlier modules. */
  on?: Reactions;
  /** What is done later, outside any request, by the queue that `ctx.enqueue` names. */
  jobs?: Record<string, JobHandler>;
  /** What is done about rows whose time has come, by a name that no queue has. */
  due?: Record<string, DueWork>;
  /** What is made of the feed of each account, by a name that is kept with the position. */
  readers?: Record<string, FeedReader>;
  /** The records of this module that a saved filter can be about, by their name: `contact`. */
  filterable?: Record<string, AnyTable>;
  /** The records of this module that fields of other records may name, by their kind: `contact`. */
  references?: Record<string, Reference>;
  /** What of this module's records needs a record of another kind, by that kind: `template`. It keeps the other from being deleted. */
  uses?: Record<string, UsesOf<Context>>;
  /** What of this module's rows is locked before a record of another kind that is about to go, by that kind: `user`. */
  locksBefore?: Record<string, LocksBeforeOf<Context>>;
  /** What is swept over all accounts every five minutes, by the name that the log has for it. */
  sweeps?: Record<string, Sweep | AccountSweep>;
  /** What its unique indexes and constraints mean, by their names, where these do not end in the field at fault. */
  constraints?: Record<string, () => AppError>;
  /** Its columns of sealed values. */
  seals?: readonly SealedColumn[];
  /** Records that none of its tables holds, by their type. */
  nodes?: Record<string, NodeSource>;
}

/** What is done about events, by their names. */
export type Reactions = { readonly [Name in EventName]?: Reaction };

export const defineModule = (module: Module): Module => module;

/** Gathers the modules; `schema` is filled in once it is built. */
export function registryOf(modules: readonly Module[], schema: () => GraphQLSchema): App['registry'] {
  const reactions = new Map<string, Reaction[]>();
  const events = new Map<string, DeclaredEvent>();
  for (const module of modules) {
    for (const [event, reaction] of Object.entries(module.on ?? {})) reactions.set(event, [...(reactions.get(event) ?? []), reaction]);
    for (const { resolver: _, ...event } of module.events ?? []) for (const name of event.of.names) addEvent(events, name, event);
  }
  constraintsMean(named(modules, 'constraints'));
  for (const name of reactions.keys()) if (!events.has(name)) throw new Error(`Something is done about ${name}, which no module declares`);
  return {
    reactions,
    events,
    ...workOf(modules),
    readers: named(modules, 'readers'),
    uses: byKind(modules, ({ uses }) => uses),
    locksBefore: byKind(modules, ({ locksBefore }) => locksBefore),
    filterable: named(modules, 'filterable'),
    references: named(modules, 'references'),
    tables: new Map(modules.flatMap(({ tables = [] }) => tables).map((table) => [table.type.name, table])),
    nodes: nodesOf(modules),
    sweeps: named(modules, 'sweeps'),
    seals: modules.flatMap(({ seals = [] }) => seals),
    schema,
  };
}

/** What modules declare about records of other modules, by their kinds. */
function byKind<T>(modules: readonly Module[], declared: (module: Module) => Readonly<Record<string, T>> | undefined): Map<string, T[]> {
  const all = new Map<string, T[]>();
  for (const [kind, value] of modules.flatMap((module) => Object.entries(declared(module) ?? {})))
    all.set(kind, [...(all.get(kind) ?? []), value]);
  return all;
}

/** Jobs and due rows: their names are those of one set of wakes and of one metric. */
function workOf(modules: readonly Module[]): Pick<App['registry'], 'jobs' | 'due'> {
  const [jobs, due] = [named(modules, 'jobs'), named(modules, 'due')];
  for (const name of due.keys()) if (jobs.has(name)) throw new Error(`A queue and work on due rows are both called ${name}`);
  return { jobs, due };
}

function addEvent(events: Map<string, DeclaredEvent>, name: string, event: DeclaredEvent): void {
  if (events.has(name)) throw new Error(`Two events are called ${name}`);
  events.set(name, event);
}

/** How the records of every type are read by their ids. */
export function nodesOf(modules: readonly Module[]): ReadonlyMap<string, NodeSource> {
  const tables = modules.flatMap(({ tables: own = [] }) => own).filter(({ type }) => isNode(type));
  return new Map([...tables.map((table) => [table.type.name, nodeSourceOf(table)] as const), ...named(modules, 'nodes')]);
}

type Declared = 'constraints' | 'jobs' | 'due' | 'readers' | 'filterable' | 'references' | 'nodes' | 'sweeps';

/** What all modules declare under a member, by its names; no two of one name. */
function named<K extends Declared>(modules: readonly Module[], member: K): Map<string, NonNullable<Module[K]>[string]> {
  const all = new Map<string, NonNullable<Module[K]>[string]>();
  const declared = modules.flatMap((module) => Object.entries((module[member] ?? {}) as NonNullable<Module[K]>));
  for (const [name, value] of declared as [string, NonNullable<Module[K]>[string]][]) {
    if (all.has(name)) throw new Error(`Two ${member} are called ${name}`);
    all.set(name, value);
  }
  return all;
}
