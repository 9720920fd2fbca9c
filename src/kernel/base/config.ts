import { resolve } from 'node:path';
import { type Environment, environment } from './environment.js';
import { previousKeysOf, shortestKey } from './previousKeys.js';
import { proxiesOf } from './proxies.js';

export interface StripeConfig {
  secretKey: string;
  webhookSecret: string;
  /** Stripe's price ids by plan and interval. */
  prices: Record<`${'standard' | 'premium' | 'enterprise'}_${'monthly' | 'yearly'}`, string>;
  /** Another address than Stripe's own, for simulators. */
  apiBase?: string;
}

export interface TwilioConfig {
  accountSid: string;
  authToken: string;
  /** Another address than Twilio's own, for simulators. */
  apiBase?: string;
}

export interface RateLimits {
  enabled: boolean;
  general: number;
  key: number;
  create: number;
  login: number;
  register: number;
  security: number;
  graphql: number;
  form: number;
  import: number;
  vendorLine: number;
  /** Invitations of one account in an hour, as many test mails, and mails of one kind to one address that others ask for. */
  invite: number;
  recipient: number;
  /** WebSockets and event streams that one person may hold open at a time, and one API key. */
  sockets: number;
  keySockets: number;
  /** WebSockets of one address that are open at a time and have not said yet whose they are. */
  unknownSockets: number;
}

/** What one GraphQL document may ask for at most (src/graphql/guards.ts). */
export interface GraphQLLimits {
  /** Words and signs of its text. */
  tokens: number;
  /** Fields inside fields. */
  depth: number;
  /** Fields in all, fragments written out. */
  fields: number;
  rootFields: number;
  aliases: number;
  directives: number;
  /** Pairs of fields of one name in one selection, which validation compares with each other. */
  overlaps: number;
  /** Records that it could read at most, by the sizes of its pages: looked at before it runs. */
  cost: number;
  /** Records that a subscription could read at most at each of its events; `liveCost`: all live subscriptions of one caller at an event. */
  eventCost: number;
  liveCost: number;
  /** Records that it does read or answer: spent while it runs. */
  records: number;
  /** Bytes that it does read, and bytes of `data` that it answers: spent while it runs. */
  bytes: number;
  /** A file of documents that are known by their hashes, and whether nothing else is served. */
  trustedDocuments?: string;
  trustedOnly: boolean;
}

export interface Config {
  production: boolean;
  port: number;
  host: string;
  databaseUrl?: string;
  /** Connections of this process to PostgreSQL at most. */
  databasePool?: number;
  dataDir: string;
  redisUrl?: string;
  role: 'all' | 'api' | 'worker';
  /** The nice value of a worker, unless its process has a higher one already. */
  workerNice: number;
  trustProxy?: string[];
  outboxDir: string;
  smtpUrl?: string;
  mailFrom: string;
  /** Absent: text messages are simulated. */
  twilio?: TwilioConfig;
  /** The number that text messages come from where a workspace has none of its own. */
  twilioFrom?: string;
  /** Whether that number stays everybody's sender: no workspace can claim it. */
  twilioFromShared: boolean;
  /** What comes in by mail: the key of who brings it, the domain that answers go to, and whether bounces do. Absent: nothing comes in. */
  inboundMail?: { secret: string; domain: string; bounces?: 'domain' | 'sender' };
  /** Absent: the vendor of lines is simulated. */
  vendorLineUrl?: string;
  /** The first of the five ports of `npm run vendors`; 0 takes any that are free. */
  vendorsPort: number;
  /** Absent: payments are simulated. */
  stripe?: StripeConfig;
  defaultPlan: 'trial' | 'standard' | 'premium' | 'enterprise';
  /** Absent only with the embedded database, which keeps a random one in its data directory. */
  secretKey?: string;
  /** Keys of before: what they sealed is read and sealed anew, what they signed is accepted. */
  previousSecretKeys: string[];
  publicUrl: string;
  /** Whether somebody has said it, and it is no guess. */
  isPublicUrlGiven: boolean;
  /** Origins whose pages may call from a browser; none by default. */
  corsOrigins: string[];
  /** Whether pages of this machine may, on any port: the demo, where front ends are tried out. */
  corsLocalhost: boolean;
  /** Whether an address must be verified before its person invites or sends mail. */
  requireVerifiedEmail: boolean;
  /** Whether the most common passwords are refused. */
  passwordDenylist: boolean;
  /** Whether the server refuses to start with a simulator in the place of a vendor. */
  requireLiveVendors: boolean;
  /** Seconds for which due work (a message to send, a step of a sequence) belongs to the process that took it. */
  leaseSeconds: number;
  /** Whether customers' addresses may be http and private: for tests and development. */
  webhookAllowPrivate: boolean;
  /** Days for which ended deliveries are kept; absent: for ever. */
  keepDeliveriesDays?: number;
  /** Days for which runs of workflows and automations are kept after their ends; absent: for ever. */
  keepRunsDays?: number;
  /** Days for which the rows of imports are kept after these were completed, as far as nothing shows them; absent: for ever. */
  keepImportsDays?: number;
  /** What opens the metrics to other machines. */
  metricsToken?: string;
  seedDemo: boolean;
  /** Whether the pages for people who build with the API are served. */
  pages: boolean;
  /** Whether the pages at `/board` are served. */
  board: boolean;
  logLevel: string;
  limits: RateLimits;
  graphql: GraphQLLimits;
  /** Off only for the bench, which measures what each of the two brings (test/bench/README.md). */
  batching: { commits: boolean; lookups: boolean };
}

/** A list of origins as browsers write them. */
function originsOf(list: string): string[] {
  const origins = list.split(',').map((entry) => entry.trim());
  return origins.filter(Boolean).map((origin) => {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new Error(`Configuration: CORS_ORIGINS: "${origin}" is no origin such as https://app.example.com`);
    return origin;
  });
}

/** What links are built from, by this machine's address unless it is given. It is parsed wherever it is compared: so here first. */
function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Environment): string {
  const url = PUBLIC_URL ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`;
  if (!URL.canParse(url)) throw new Error(`Configuration: HOST: "${HOST}" is neither a host name nor an address`);
  const { search, hash } = new URL(url);
  if (search || hash) throw new Error('Configuration: PUBLIC_URL: must have no query string or fragment');
  return url.replace(/\/+$/, '');
}

/** With the secret key everything else of Stripe must be there too, or the first customer would find what is missing. */
function stripeConfig(e: Environment): StripeConfig | undefined {
  // Half of the pair would be taken for none: and whoever pays on the simulated page pays nothing.
  if (!e.STRIPE_SECRET_KEY && e.STRIPE_WEBHOOK_SECRET)
    throw new Error('Configuration: STRIPE_SECRET_KEY is required with STRIPE_WEBHOOK_SECRET');
  if (!e.STRIPE_SECRET_KEY) return undefined;
  const needed = (name: keyof typeof e & `STRIPE_${string}`) => {
    const value = e[name];
    if (!value) throw new Error(`Configuration: ${name} is required with STRIPE_SECRET_KEY`);
    return value;
  };
  return {
    secretKey: e.STRIPE_SECRET_KEY,
    webhookSecret: needed('STRIPE_WEBHOOK_SECRET'),
    prices: {
      standard_monthly: needed('STRIPE_PRICE_STANDARD_MONTHLY'),
      standard_yearly: needed('STRIPE_PRICE_STANDARD_YEARLY'),
      premium_monthly: needed('STRIPE_PRICE_PREMIUM_MONTHLY'),
      premium_yearly: needed('STRIPE_PRICE_PREMIUM_YEARLY'),
      enterprise_monthly: needed('STRIPE_PRICE_ENTERPRISE_MONTHLY'),
      enterprise_yearly: needed('STRIPE_PRICE_ENTERPRISE_YEARLY'),
    },
    apiBase: e.STRIPE_API_BASE,
  };
}

function twilioConfig(e: Environment): TwilioConfig | undefined {
  const { TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken, TWILIO_API_BASE: apiBase } = e;
  // Half of the pair, as by a misspelt name, would be taken for none: and text messages would be simulated.
  if (!accountSid && authToken) throw new Error('Configuration: TWILIO_ACCOUNT_SID is required with TWILIO_AUTH_TOKEN');
  if (!accountSid) return undefined;
  if (!authToken) throw new Error('Configuration: TWILIO_AUTH_TOKEN is required with TWILIO_ACCOUNT_SID');
  return { accountSid, authToken, apiBase };
}

function inboundMail({ INBOUND_MAIL_SECRET: secret, INBOUND_MAIL_DOMAIN: domain, MAIL_BOUNCES: bounces }: Environment) {
  if (Boolean(secret) !== Boolean(domain)) throw new Error('Configuration: INBOUND_MAIL_SECRET and INBOUND_MAIL_DOMAIN go together');
  return secret && domain ? { secret, domain, bounces } : undefined;
}

const rateLimits = (e: Environment): RateLimits => ({
  enabled: e.RATE_LIMIT_ENABLED,
  general: e.RATE_LIMIT_GENERAL,
  key: e.RATE_LIMIT_KEY,
  create: e.RATE_LIMIT_CREATE,
  login: e.RATE_LIMIT_LOGIN,
  register: e.RATE_LIMIT_REGISTER,
  security: e.RATE_LIMIT_SECURITY,
  graphql: e.RATE_LIMIT_GRAPHQL,
  form: e.RATE_LIMIT_FORM,
  import: e.RATE_LIMIT_IMPORT,
  vendorLine: e.RATE_LIMIT_VENDOR_LINE,
  invite: e.RATE_LIMIT_INVITE,
  recipient: e.RATE_LIMIT_RECIPIENT,
  sockets: e.RATE_LIMIT_SOCKETS,
  keySockets: e.RATE_LIMIT_KEY_SOCKETS,
  unknownSockets: e.RATE_LIMIT_UNKNOWN_SOCKETS,
});

function graphqlLimits(e: Environment): GraphQLLimits {
  return {
    tokens: e.GRAPHQL_MAX_TOKENS,
    depth: e.GRAPHQL_MAX_DEPTH,
    fields: e.GRAPHQL_MAX_FIELDS,
    rootFields: e.GRAPHQL_MAX_ROOT_FIELDS,
    aliases: e.GRAPHQL_MAX_ALIASES,
    directives: e.GRAPHQL_MAX_DIRECTIVES,
    overlaps: e.GRAPHQL_MAX_OVERLAPS,
    cost: e.GRAPHQL_MAX_COST,
    eventCost: e.GRAPHQL_MAX_EVENT_COST,
    liveCost: e.GRAPHQL_MAX_LIVE_COST,
    records: e.GRAPHQL_MAX_RECORDS,
    bytes: e.GRAPHQL_MAX_BYTES,
    trustedDocuments: e.GRAPHQL_TRUSTED_DOCUMENTS,
    trustedOnly: e.GRAPHQL_TRUSTED_ONLY,
  };
}

/** Throws where a variable is set that needs another one, which is not. */
function checkNeeds(e: Environment): void {
  if (e.DATABASE_URL && !e.SECRET_KEY)
    throw new Error(`Configuration: SECRET_KEY (at least ${shortestKey} characters) is required with DATABASE_URL`);
  if (e.GRAPHQL_TRUSTED_ONLY && !e.GRAPHQL_TRUSTED_DOCUMENTS)
    throw new Error('Configuration: GRAPHQL_TRUSTED_ONLY needs GRAPHQL_TRUSTED_DOCUMENTS');
}

/** Reads the configuration from the environment; throws one readable error that names every wrong variable. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim() !== ''));
  const parsed = environment.safeParse(set);
  if (!parsed.success) throw new Error(`Configuration: ${parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ')}`);
  const e = parsed.data;
  checkNeeds(e);
  const isDemo = e.SEED_DEMO ?? !e.DATABASE_URL;
  const dataDir = e.DATA_DIR === ':memory:' ? e.DATA_DIR : resolve(e.DATA_DIR);
  return {
    production: e.NODE_ENV === 'production',
    port: e.PORT,
    host: e.HOST,
    databaseUrl: e.DATABASE_URL,
    databasePool: e.DATABASE_POOL,
    dataDir,
    redisUrl: e.REDIS_URL,
    ...{ role: e.ROLE, workerNice: e.WORKER_NICE },
    trustProxy: proxiesOf(e.TRUST_PROXY ?? ''),
    outboxDir: resolve(e.OUTBOX_DIR ?? (dataDir === ':memory:' ? './data/outbox' : `${dataDir}/outbox`)),
    smtpUrl: e.SMTP_URL,
    mailFrom: e.MAIL_FROM,
    twilio: twilioConfig(e),
    ...{ twilioFrom: e.TWILIO_FROM, twilioFromShared: e.TWILIO_FROM_SHARED },
    inboundMail: inboundMail(e),
    vendorLineUrl: e.VENDOR_LINE_URL?.replace(/\/+$/, ''),
    vendorsPort: e.VENDORS_PORT,
    stripe: stripeConfig(e),
    defaultPlan: e.DEFAULT_PLAN,
    secretKey: e.SECRET_KEY,
    previousSecretKeys: previousKeysOf(e.SECRET_KEY_PREVIOUS),
    publicUrl: publicUrlOf(e),
    isPublicUrlGiven: e.PUBLIC_URL !== undefined,
    corsOrigins: originsOf(e.CORS_ORIGINS),
    corsLocalhost: e.CORS_LOCALHOST ?? isDemo,
    requireVerifiedEmail: e.REQUIRE_VERIFIED_EMAIL,
    passwordDenylist: e.PASSWORD_DENYLIST,
    requireLiveVendors: e.REQUIRE_LIVE_VENDORS,
    leaseSeconds: e.LEASE_SECONDS,
    webhookAllowPrivate: e.WEBHOOK_ALLOW_PRIVATE,
    keepDeliveriesDays: e.KEEP_DELIVERIES_DAYS,
    ...{ keepRunsDays: e.KEEP_RUNS_DAYS, keepImportsDays: e.KEEP_IMPORTS_DAYS },
    metricsToken: e.METRICS_TOKEN,
    seedDemo: isDemo,
    pages: e.PAGES,
    board: e.BOARD ?? isDemo,
    logLevel: e.LOG_LEVEL,
    limits: rateLimits(e),
    graphql: graphqlLimits(e),
    batching: { commits: !e.BENCH_NO_COMMIT_BATCHING, lookups: !e.BENCH_NO_LOOKUP_BATCHING },
  };
}
