import { resolve } from 'node:path';
import { z } from 'zod';

const given = z.enum(['0', '1', 'true', 'false']).transform((text) => text === '1' || text === 'true');
const flag = (fallback: boolean) => given.default(fallback);
const count = (fallback: number) => z.coerce.number().int().min(0).default(fallback);

/** Every environment variable the server reads, with its default; docs/configuration.md explains them, test/bench/README.md those of the bench. */
const environment = z.object({
  NODE_ENV: z.string().default('production'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4000),
  HOST: z.string().default('127.0.0.1'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  DATA_DIR: z.string().default('./data'),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  ROLE: z.enum(['all', 'api', 'worker']).default('all'),
  TRUST_PROXY: z.string().optional(),
  OUTBOX_DIR: z.string().optional(),
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  MAIL_FROM: z.string().default('CRM <no-reply@localhost>'),
  STRIPE_SECRET_KEY: z.string().optional(),
  STRIPE_WEBHOOK_SECRET: z.string().optional(),
  STRIPE_PRICE_STANDARD_MONTHLY: z.string().optional(),
  STRIPE_PRICE_STANDARD_YEARLY: z.string().optional(),
  STRIPE_PRICE_PREMIUM_MONTHLY: z.string().optional(),
  STRIPE_PRICE_PREMIUM_YEARLY: z.string().optional(),
  STRIPE_PRICE_ENTERPRISE_MONTHLY: z.string().optional(),
  STRIPE_PRICE_ENTERPRISE_YEARLY: z.string().optional(),
  STRIPE_API_BASE: z.url({ protocol: /^https?$/ }).optional(),
  DEFAULT_PLAN: z.enum(['trial', 'standard', 'premium', 'enterprise']).default('trial'),
  SECRET_KEY: z.string().min(32).optional(),
  PUBLIC_URL: z.url().optional(),
  CORS_ORIGINS: z.string().default(''),
  REQUIRE_VERIFIED_EMAIL: flag(false),
  PASSWORD_DENYLIST: flag(false),
  REQUIRE_LIVE_VENDORS: flag(false),
  METRICS_TOKEN: z.string().min(16).optional(),
  SEED_DEMO: given.optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  RATE_LIMIT_ENABLED: flag(true),
  RATE_LIMIT_GENERAL: count(100),
  RATE_LIMIT_KEY: count(100),
  RATE_LIMIT_CREATE: count(30),
  RATE_LIMIT_LOGIN: count(5),
  RATE_LIMIT_REGISTER: count(3),
  RATE_LIMIT_SECURITY: count(5),
  RATE_LIMIT_GRAPHQL: count(600),
  RATE_LIMIT_FORM: count(30),
  RATE_LIMIT_INVITE: count(100),
  RATE_LIMIT_RECIPIENT: count(5),
  RATE_LIMIT_SOCKETS: count(50),
  RATE_LIMIT_KEY_SOCKETS: count(1000),
  GRAPHQL_MAX_TOKENS: count(5000),
  GRAPHQL_MAX_DEPTH: count(10),
  GRAPHQL_MAX_FIELDS: count(1000),
  GRAPHQL_MAX_ROOT_FIELDS: count(20),
  GRAPHQL_MAX_ALIASES: count(30),
  GRAPHQL_MAX_DIRECTIVES: count(50),
  GRAPHQL_MAX_OVERLAPS: count(2000),
  GRAPHQL_MAX_COST: count(1_000_000),
  GRAPHQL_MAX_RECORDS: count(20_000),
  GRAPHQL_MAX_BYTES: count(16 * 1024 * 1024),
  BENCH_NO_COMMIT_BATCHING: flag(false),
  BENCH_NO_LOOKUP_BATCHING: flag(false),
});

type Environment = z.infer<typeof environment>;

export interface StripeConfig {
  secretKey: string;
  webhookSecret: string;
  /** Stripe's price ids by plan and interval. */
  prices: Record<`${'standard' | 'premium' | 'enterprise'}_${'monthly' | 'yearly'}`, string>;
  /** Another address than Stripe's own, for tests. */
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
  /** Invitations of one account in an hour, and mails of one kind to one address that others ask for. */
  invite: number;
  recipient: number;
  /** WebSockets and event streams that one person may hold open at a time, and one API key. */
  sockets: number;
  keySockets: number;
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
  /** Records that it does read or answer: spent while it runs. */
  records: number;
  /** Bytes that it does read, and bytes of `data` that it answers: spent while it runs. */
  bytes: number;
}

export interface Config {
  production: boolean;
  port: number;
  host: string;
  databaseUrl?: string;
  dataDir: string;
  redisUrl?: string;
  role: 'all' | 'api' | 'worker';
  trustProxy?: string[];
  outboxDir: string;
  smtpUrl?: string;
  mailFrom: string;
  /** Absent: payments are simulated. */
  stripe?: StripeConfig;
  defaultPlan: 'trial' | 'standard' | 'premium' | 'enterprise';
  /** Absent only with the embedded database, which keeps a random one in its data directory. */
  secretKey?: string;
  publicUrl: string;
  /** Origins whose pages may call from a browser; none by default. */
  corsOrigins: string[];
  /** Whether an address must be verified before its person invites or sends mail. */
  requireVerifiedEmail: boolean;
  /** Whether the most common passwords are refused. */
  passwordDenylist: boolean;
  /** Whether the server refuses to start with a simulator in the place of a vendor. */
  requireLiveVendors: boolean;
  /** What opens the metrics to other machines. */
  metricsToken?: string;
  seedDemo: boolean;
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
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error(`Configuration: CORS_ORIGINS: "${origin}" is no origin such as https://app.example.com`);
    }
    return origin;
  });
}

/** With the secret key everything else of Stripe must be there too, or the first customer would find what is missing. */
function stripeConfig(e: Environment): StripeConfig | undefined {
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
  invite: e.RATE_LIMIT_INVITE,
  recipient: e.RATE_LIMIT_RECIPIENT,
  sockets: e.RATE_LIMIT_SOCKETS,
  keySockets: e.RATE_LIMIT_KEY_SOCKETS,
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
    records: e.GRAPHQL_MAX_RECORDS,
    bytes: e.GRAPHQL_MAX_BYTES,
  };
}

/** Reads the configuration from the environment; throws one readable error that names every wrong variable. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(set);
  if (!parsed.success) {
    throw new Error(`Configuration: ${parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ')}`);
  }
  const e = parsed.data;
  if (e.DATABASE_URL && !e.SECRET_KEY) {
    throw new Error('Configuration: SECRET_KEY (at least 32 characters) is required with DATABASE_URL');
  }
  const dataDir = e.DATA_DIR === ':memory:' ? e.DATA_DIR : resolve(e.DATA_DIR);
  return {
    production: e.NODE_ENV === 'production',
    port: e.PORT,
    host: e.HOST,
    databaseUrl: e.DATABASE_URL,
    dataDir,
    redisUrl: e.REDIS_URL,
    role: e.ROLE,
    trustProxy: e.TRUST_PROXY?.split(',').map((entry) => entry.trim()),
    outboxDir: resolve(e.OUTBOX_DIR ?? (dataDir === ':memory:' ? './data/outbox' : `${dataDir}/outbox`)),
    smtpUrl: e.SMTP_URL,
    mailFrom: e.MAIL_FROM,
    stripe: stripeConfig(e),
    defaultPlan: e.DEFAULT_PLAN,
    secretKey: e.SECRET_KEY,
    publicUrl: (e.PUBLIC_URL ?? `http://${e.HOST}:${e.PORT}`).replace(/\/+$/, ''),
    corsOrigins: originsOf(e.CORS_ORIGINS),
    requireVerifiedEmail: e.REQUIRE_VERIFIED_EMAIL,
    passwordDenylist: e.PASSWORD_DENYLIST,
    requireLiveVendors: e.REQUIRE_LIVE_VENDORS,
    metricsToken: e.METRICS_TOKEN,
    seedDemo: e.SEED_DEMO ?? !e.DATABASE_URL,
    logLevel: e.LOG_LEVEL,
    limits: rateLimits(e),
    graphql: graphqlLimits(e),
    batching: { commits: !e.BENCH_NO_COMMIT_BATCHING, lookups: !e.BENCH_NO_LOOKUP_BATCHING },
  };
}
