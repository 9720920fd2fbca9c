import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import { mountBoard } from './front/board.js';
import { mountFront } from './front/mount.js';
import { Documents } from './graphql/documents.js';
import { mountGraphQL } from './graphql/mount.js';
import { PersistedDocuments } from './graphql/persisted.js';
import { buildSchema } from './graphql/schema.js';
import { graphqlServer } from './graphql/server.js';
import { mountSubscriptions } from './graphql/subscriptions.mount.js';
import { mountCallbacks } from './http/callbacks.js';
import { Connections } from './http/connections.js';
import { Metrics } from './http/metrics.js';
import { httpServer } from './http/server.js';
import { Limiter } from './kernel/access/rateLimits.js';
import { type Clock, systemClock } from './kernel/base/clock.js';
import type { Config } from './kernel/base/config.js';
import { logger } from './kernel/base/log.js';
import { connectRedis } from './kernel/base/redis.js';
import { secretKeyOf } from './kernel/base/secretFile.js';
import { TurnQueue } from './kernel/base/turnQueue.js';
import type { App } from './kernel/context/context.js';
import { memory } from './kernel/context/memory.js';
import { sharesOf } from './kernel/database/connectionShares.js';
import { type Database, type DatabaseOptions, openDatabase } from './kernel/database/index.js';
import { Egress } from './kernel/egress/egress.js';
import { registryOf } from './kernel/module/module.js';
import { LookupBatcher } from './kernel/reads/lookupBatcher.js';
import { GroupCommit } from './kernel/writes/groupCommit.js';
import { identify } from './modules/auth/auth.identify.js';
import { mailsSentInTime } from './modules/auth/auth.mail.js';
import { recheck, whileAllowed } from './modules/auth/auth.recheck.js';
import { modules } from './modules.js';
import { Catalog } from './rest/catalog.js';
import { type BoundEndpoint, bindEndpoints } from './rest/endpoints.js';
import { basePath, mountRest, sofaFor } from './rest/mount.js';
import { openApiDocument } from './rest/openapi.js';
import { simulatedVendors, vendorsFor } from './vendors/index.js';
import { Background } from './workers/background.js';

/** What tests may put in the place of the real thing. */
export interface Overrides {
  clock?: Clock;
  log?: Logger;
  /** An embedded database that is open already. */
  embedded?: DatabaseOptions['embedded'];
  /** Whether the worker sweeps by itself; a test that moves the clock says when. */
  sweeps?: boolean;
}

/** How many reads that may take long are under way at a time: most connections are left to the others. */
const longReads = 2;

/** How many transactions that change very many records are under way at a time: each has a connection for up to two minutes. */
const longWrites = 2;

/** How long a stop waits for a moment without requests. What is in flight after it is still answered. */
const patienceMs = 2000;

/** A server that is built and listens when told. */
export interface Server {
  app: App;
  schema: GraphQLSchema;
  endpoints: readonly BoundEndpoint[];
  http: FastifyInstance;
  metrics: Metrics;
  /** Loads what a first request needs and a start does not, so that nobody waits for it. */
  warm(): Promise<void>;
  /** Stops taking requests, lets the running ones end, closes what was opened. */
  close(): Promise<void>;
}

let built: ReturnType<typeof buildContract> | undefined;

/** REST and GraphQL over one schema. Knows no database and no configuration: the servers of one process share it. */
export const contract = () => {
  built ??= buildContract();
  return built;
};

function buildContract() {
  const schema = buildSchema(modules);
  const documents = new Documents(schema);
  const catalog = new Catalog();
  // Apart from those that clients send, so that no number of these displaces them.
  const endpoints = bindEndpoints([...modules, catalog.module], schema, new Documents(schema));
  let openapi: ReturnType<typeof openApiDocument> | undefined;
  const contract = {
    schema,
    documents,
    endpoints,
    sofa: sofaFor(endpoints),
    /** Made when it is first asked for. */
    get openapi() {
      openapi ??= openApiDocument(schema, endpoints, basePath);
      return openapi;
    },
  };
  catalog.publish(contract);
  return contract;
}

/** The composition root: the only place that knows every layer. */
export async function createServer(config: Config, overrides: Overrides = {}): Promise<Server> {
  const { clock = systemClock, log = logger(config.logLevel), embedded } = overrides;
  const metrics = new Metrics();
  const simulated = simulatedOutside(config, log);
  warnOfLinks(config, log);
  const persisted = new PersistedDocuments(config.graphql);
  const { schema, endpoints } = contract();
  const database = await openDatabase({ ...placeOf(config), embedded, onStatement: () => metrics.queries.inc(), log });
  const redis = config.redisUrl ? connectRedis(config.redisUrl, log) : undefined;
  const background = new Background(config, database, redis, log);
  const whole = { ...config, secretKey: secretKeyOf(config, clock) };
  const app: App = {
    config: whole,
    clock,
    log,
    database,
    ...sharing(config, database),
    longReads: new TurnQueue(longReads),
    longWrites: new TurnQueue(longWrites),
    registry: registryOf(modules, () => schema),
    limiter: new Limiter(config.limits, redis, log),
    channel: background.channel,
    jobs: background.jobs,
    followed: background.followed,
    eventsWritten: background.eventsWritten,
    vendors: vendorsFor(whole, clock),
    egress: new Egress({ allowPrivate: config.webhookAllowPrivate, publicUrl: config.publicUrl }),
    simulated,
    ready: true,
    stopping: false,
  };
  const http = await httpServer(app, identify, metrics);
  const connections = new Connections(http.server);
  // A worker answers probes and metrics alone.
  const apollo = config.role === 'worker' ? undefined : await mountApis(http, { app, metrics, persisted });
  // After the hooks that end what stays open by itself.
  http.addHook('preClose', async () => connections.end());
  http.addHook('onListen', async () => background.start(app, overrides.sweeps));
  await prepare(app, http, background);
  showQueues(metrics, background);

  const close = async () => {
    app.ready = false;
    background.rest();
    await connections.calm(patienceMs);
    app.stopping = true;
    await http.close();
    await apollo?.stop();
    await Promise.all([background.stop(), mailsSentInTime(log)]);
    for (const vendor of [app.vendors.email, app.vendors.sms, app.vendors.line]) vendor.close();
    await app.egress.close();
    redis?.disconnect();
    await database.close();
  };
  return { app, schema, endpoints, http, metrics, warm: () => warm(app), close };
}

/** Ends the start: whoever asks from here on is not to wait long. */
async function prepare(app: App, http: FastifyInstance, background: Background): Promise<void> {
  await http.ready();
  await background.prepare(app);
  app.database.started();
}

const placeOf = ({ databaseUrl: url, databasePool: pool, dataDir }: Config) => ({ url, pool, dataDir });

/** What requests share: the connections, statements that several write or ask together, and what one has read for the next. */
function sharing({ batching }: Config, database: Database) {
  const shares = sharesOf(database.connections);
  const maxInFlight = batching.commits ? undefined : Number.POSITIVE_INFINITY;
  // The embedded database does one thing after another: a look-up that waited here could come behind the transaction that waits for it.
  const isBatched = batching.lookups && database.kind !== 'pglite';
  return {
    shares,
    commits: new GroupCommit(database, maxInFlight, (account, write) => shares.transactions.run(account, write)),
    reads: new LookupBatcher(database, isBatched ? undefined : Number.POSITIVE_INFINITY, (account, read) =>
      shares.planned.run(account, read),
    ),
    recalled: memory(),
  };
}

async function warm({ database, config }: App): Promise<void> {
  await database.warm();
  if (config.role !== 'worker') await contract().sofa();
}

interface Parts {
  app: App;
  metrics: Metrics;
  persisted: PersistedDocuments;
}

async function mountApis(http: FastifyInstance, { app, metrics, persisted }: Parts) {
  const { schema, documents, endpoints, sofa } = contract();
  const apollo = graphqlServer(schema, documents);
  await apollo.start();
  const front = app.config.pages ? mountFront(http, { app, schema, demo: () => app.demo }) : undefined;
  mountGraphQL(http, { apollo, persisted, page: front?.graphiql });
  mountSubscriptions(http, { app, schema, apollo, persisted, identify, recheck, metrics });
  mountRest(http, { endpoints, sofa, whileAllowed });
  if (app.config.board) mountBoard(http);
  await mountCallbacks(http, modules);
  return apollo;
}

/** The vendors that are simulated although there is a database of its own, which is more than trying things out: said in the log. */
function simulatedOutside(config: Config, log: Logger): string[] {
  const simulated = simulatedVendors(config);
  if (!config.databaseUrl || simulated.length === 0) return [];
  log.warn({ vendors: simulated }, `simulated: ${simulated.join(', ')}. No mail leaves and no money moves by these`);
  return simulated;
}

/** A worker serves no page: what it takes for its own address leads nowhere. */
function warnOfLinks({ role, isPublicUrlGiven, publicUrl }: Config, log: Logger): void {
  if (role === 'worker' && !isPublicUrlGiven) log.warn(`PUBLIC_URL is not set: links in what this worker sends lead to ${publicUrl}`);
}

function showQueues(metrics: Metrics, background: Background) {
  const waiting = (figure: 'count' | 'age') => async () =>
    (await background.waiting()).waiting.map((queue) => ({ labels: { queue: queue.queue }, value: queue[figure] }));
  const unknown = async () => (await background.waiting()).unknown.map((queue) => ({ labels: { queue }, value: 1 }));
  metrics.figures(
    'queue_depth',
    'What waits: events for their places in the feed, due jobs and due rows for a worker',
    ['queue'],
    waiting('count'),
  );
  metrics.figures('queue_age_seconds', 'How long the oldest of it has waited', ['queue'], waiting('age'));
  metrics.figures('queue_unknown', '1 for a queue of which it cannot be told now what waits in it', ['queue'], unknown);
}
