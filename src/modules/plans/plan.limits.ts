import { type AppError, denied, paymentRequired } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { integer, text } from '../../kernel/database/kinds.js';
import { keptTotal, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

interface Plan {
  name: string;
  contacts: number;
  pipelines: number;
  users: number;
  /** Days until a trial ends. */
  days?: number;
}

/** The plans and their limits. */
export const plans: Record<string, Plan> = {
  trial: { name: 'Trial', contacts: 1000, pipelines: 3, users: 3, days: 14 },
  standard: { name: 'Standard', contacts: 10_000, pipelines: 10, users: 10 },
  premium: { name: 'Premium', contacts: 100_000, pipelines: 50, users: 50 },
  enterprise: {
    name: 'Enterprise',
    contacts: Number.POSITIVE_INFINITY,
    pipelines: Number.POSITIVE_INFINITY,
    users: Number.POSITIVE_INFINITY,
  },
};

/** How much of what a plan limits an account has. */
export interface Usage {
  contacts: number;
  pipelines: number;
  users: number;
}

const members = (account: Sql) => sql`(select count(*)::int from memberships where account_id = ${account} and status <> 'removed')`;

const totals = {
  contacts: (account: Sql) => keptTotal(account, 'contacts'),
  pipelines: (account: Sql) => keptTotal(account, 'pipelines'),
  users: members,
};

const totalOf = (kind: keyof Usage) =>
  statement({ name: `count ${kind} for the plan`, row: { n: integer }, text: ({ account }) => sql`select ${totals[kind](account)} as n` });
const counts = { contacts: totalOf('contacts'), pipelines: totalOf('pipelines'), users: totalOf('users') };

const usage = statement({
  name: 'usageOfPlan',
  row: { contacts: integer, pipelines: integer, users: integer },
  text: ({ account }) => sql`
    select ${totals.contacts(account)} as contacts, ${totals.pipelines(account)} as pipelines, ${totals.users(account)} as users`,
});

/** The caller's account's usage; a person counts from the invitation on. */
export const usageOf = async (ctx: Context): Promise<Usage> => (await ctx.rows(usage))[0]!;

const overLimit: Record<keyof Usage, (limit: number) => AppError> = {
  contacts: (limit) => paymentRequired(`The plan allows ${limit} contacts`),
  pipelines: (limit) => denied(`The plan allows ${limit} pipelines`),
  users: (limit) => paymentRequired(`The plan allows ${limit} users`),
};

/** Throws 402 when the trial is over or the subscription has ended; reads stay possible. */
export function checkTrial(ctx: Context): void {
  const { plan, billingStatus, trialEndsAt } = ctx.caller.account;
  if (billingStatus === 'cancelled') throw paymentRequired('The subscription has ended');
  if (plan === 'trial' && trialEndsAt && trialEndsAt <= ctx.now()) throw paymentRequired('The trial has expired');
}

/** What a unit of work has counted, and what it has been granted since: rows that wait to be written are not counted yet. */
const counted = new WeakMap<Context, Map<keyof Usage, { n: Promise<number>; granted: number }>>();

/** So close to the limit of a plan those who make something come one after the other, so that none of them goes over it. */
const near = 100;

const lockOf = (kind: keyof Usage) =>
  statement({
    name: `lock ${kind} of the plan`,
    row: { locked: text },
    locks: true,
    text: ({ account }) =>
      sql`select pg_advisory_xact_lock(hashtextextended(${account}::text || ${`plan ${kind}`}::text, 0))::text as locked`,
  });
const locks = { contacts: lockOf('contacts'), pipelines: lockOf('pipelines'), users: lockOf('users') };

async function countUp(ctx: Context, kind: keyof Usage, limit: number): Promise<number> {
  const [before] = await ctx.rows(counts[kind]);
  if (before!.n <= limit - near) return before!.n;
  await ctx.rows(locks[kind]);
  const [now] = await ctx.rows(counts[kind]);
  return now!.n;
}

function usageIn(ctx: Context, kind: keyof Usage, limit: number) {
  const kinds = counted.get(ctx) ?? new Map<keyof Usage, { n: Promise<number>; granted: number }>();
  counted.set(ctx, kinds);
  const known = kinds.get(kind) ?? { n: countUp(ctx, kind, limit), granted: 0 };
  kinds.set(kind, known);
  return known;
}

/** Throws 402 (403 for pipelines) when the account may have no more of a kind. */
export async function checkPlan(ctx: Context, kind: keyof Usage, more = 1): Promise<void> {
  checkTrial(ctx);
  const limit = plans[ctx.caller.account.plan]?.[kind] ?? 0;
  if (!Number.isFinite(limit)) return;
  const usage = usageIn(ctx, kind, limit);
  const n = await usage.n;
  if (n + usage.granted + more > limit) throw overLimit[kind](limit);
  usage.granted += more;
}
