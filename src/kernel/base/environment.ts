import { z } from 'zod';
import { shortestKey } from './previousKeys.js';

const given = z.enum(['0', '1', 'true', 'false']).transform((text) => text === '1' || text === 'true');
const flag = (fallback: boolean) => given.default(fallback);
const count = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
/** A limit that is 1 or more: with 0 no document at all would be allowed. */
const atLeastOne = (fallback: number) => z.coerce.number().int().min(1).default(fallback);
/** What a vendor gave, or a header bears. A line break at its end, as a secret from a file has, would leave every signature wrong. */
const token = z.string().regex(/^\S*$/, 'must have no blanks or line breaks');
/** The sender of mails: an address by itself, or in angle brackets behind a name. Its exact form is the mail server's matter. */
const sender = /<[^<>]*[^\s<>@]@[^\s<>@][^<>]*>|^[^<>]*[^\s<>@]@[^\s<>@][^<>]*$/;
const hostName = /^[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*$/u;

/**
 * Every environment variable the server reads, with its default; docs/configuration.md explains them, test/bench/README.md those of the
 * bench.
 */
export const environment = z.object({
  NODE_ENV: z.string().default('production'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4000),
  HOST: z.string().default('127.0.0.1'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  // Fewer would wait for each other: a transaction that uses one beside it, two reads that take long.
  DATABASE_POOL: z.coerce.number().int().min(8).max(200).optional(),
  DATA_DIR: z.string().default('./data'),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  ROLE: z.enum(['all', 'api', 'worker']).default('all'),
  WORKER_NICE: z.coerce.number().int().min(0).max(19).default(10),
  TRUST_PROXY: z.string().optional(),
  OUTBOX_DIR: z.string().optional(),
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  MAIL_FROM: z.string().regex(sender, 'needs an address, such as CRM <crm@example.com>').default('CRM <no-reply@localhost>'),
  TWILIO_ACCOUNT_SID: token.optional(),
  TWILIO_AUTH_TOKEN: token.optional(),
  TWILIO_FROM: z
    .string()
    .regex(/^\+\d{7,15}$/)
    .optional(),
  TWILIO_FROM_SHARED: flag(false),
  VENDORS_PORT: z.coerce.number().int().min(0).max(65_531).default(4010),
  VENDOR_LINE_URL: z.url({ protocol: /^https?$/ }).optional(),
  TWILIO_API_BASE: z.url({ protocol: /^https?$/ }).optional(),
  INBOUND_MAIL_SECRET: z
    .string()
    .min(16)
    .regex(/^\S(.*\S)?$/, 'must have no line breaks, and no blanks around it')
    .optional(),
  INBOUND_MAIL_DOMAIN: z.string().regex(hostName, 'must be a host name, such as in.example.com').optional(),
  MAIL_BOUNCES: z.enum(['domain', 'sender']).default('domain'),
  STRIPE_SECRET_KEY: token.optional(),
  STRIPE_WEBHOOK_SECRET: token.optional(),
  STRIPE_PRICE_STANDARD_MONTHLY: token.optional(),
  STRIPE_PRICE_STANDARD_YEARLY: token.optional(),
  STRIPE_PRICE_PREMIUM_MONTHLY: token.optional(),
  STRIPE_PRICE_PREMIUM_YEARLY: token.optional(),
  STRIPE_PRICE_ENTERPRISE_MONTHLY: token.optional(),
  STRIPE_PRICE_ENTERPRISE_YEARLY: token.optional(),
  STRIPE_API_BASE: z.url({ protocol: /^https?$/ }).optional(),
  DEFAULT_PLAN: z.enum(['trial', 'standard', 'premium', 'enterprise']).default('trial'),
  SECRET_KEY: z.string().min(shortestKey).optional(),
  SECRET_KEY_PREVIOUS: z.string().default(''),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  CORS_ORIGINS: z.string().default(''),
  CORS_LOCALHOST: given.optional(),
  REQUIRE_VERIFIED_EMAIL: flag(false),
  PASSWORD_DENYLIST: flag(false),
  REQUIRE_LIVE_VENDORS: flag(false),
  LEASE_SECONDS: z.coerce.number().int().min(1).max(3600).default(30),
  WEBHOOK_ALLOW_PRIVATE: flag(false),
  // A delivery may be replayed for as long as it is kept, and is retried for three days.
  KEEP_DELIVERIES_DAYS: z.coerce.number().int().min(7).max(36_500).optional(),
  // Events are kept for a month; what they led to is not forgotten before.
  KEEP_RUNS_DAYS: z.coerce.number().int().min(31).max(36_500).optional(),
  KEEP_IMPORTS_DAYS: z.coerce.number().int().min(1).max(36_500).optional(),
  METRICS_TOKEN: token.min(16).optional(),
  SEED_DEMO: given.optional(),
  PAGES: flag(true),
  BOARD: given.optional(),
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
  RATE_LIMIT_IMPORT: count(10),
  RATE_LIMIT_VENDOR_LINE: count(60),
  RATE_LIMIT_INVITE: count(100),
  RATE_LIMIT_RECIPIENT: count(5),
  RATE_LIMIT_SOCKETS: count(50),
  RATE_LIMIT_KEY_SOCKETS: count(1000),
  RATE_LIMIT_UNKNOWN_SOCKETS: count(2000),
  GRAPHQL_MAX_TOKENS: atLeastOne(5000),
  GRAPHQL_MAX_DEPTH: atLeastOne(10),
  GRAPHQL_MAX_FIELDS: atLeastOne(1000),
  GRAPHQL_MAX_ROOT_FIELDS: atLeastOne(20),
  GRAPHQL_MAX_ALIASES: count(30),
  GRAPHQL_MAX_DIRECTIVES: count(50),
  GRAPHQL_MAX_OVERLAPS: count(2000),
  GRAPHQL_MAX_COST: atLeastOne(1_000_000),
  GRAPHQL_MAX_EVENT_COST: count(30_000),
  GRAPHQL_MAX_LIVE_COST: count(100_000),
  GRAPHQL_MAX_RECORDS: atLeastOne(20_000),
  GRAPHQL_MAX_BYTES: atLeastOne(16 * 1024 * 1024),
  GRAPHQL_TRUSTED_DOCUMENTS: z.string().optional(),
  GRAPHQL_TRUSTED_ONLY: flag(false),
  BENCH_NO_COMMIT_BATCHING: flag(false),
  BENCH_NO_LOOKUP_BATCHING: flag(false),
});

export type Environment = z.infer<typeof environment>;
