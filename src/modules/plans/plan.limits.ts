import { type AppError, paymentRequired } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { perContext } from '../../kernel/context/perContext.js';
import { integer } from '../../kernel/database/kinds.js';
import { joinSql, rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { type Statement, statement } from '../../kernel/database/statement.js';
import type { Plan } from './plan.model.js';

interface PlanTerms {
  name: string;
  /** Days until a trial ends. */
  days?: number;
}

/** The plans. What each allows of a kind stands with that kind: `planLimit`. */
export const plans: Readonly<Record<string, PlanTerms>> = {
  trial: { name: 'Trial', days: 14 },
  standard: { name: 'Standard' },
  premium: { name: 'Premium' },
  enterprise: { name: 'Enterprise' },
};

/** A number of each kind that plans limit; the module of a kind adds its name. */
// biome-ignore lint/suspicious/noEmptyInterface: modules add to it
export interface Limited {}

/** What a plan limits. */
export interface PlanLimit {
  /** A kind of records, in the plural: `contacts`. */
  kind: keyof Limited;
  /** How many of them an account has. */
  total(account: Sql): Sql;
  /** How many each plan allows. */
  most: Readonly<Record<keyof typeof Plan, number>>;
  /** What refuses more of them; 402 by default. */
  refusal?(message: string): AppError;
}

interface DeclaredLimit extends PlanLimit {
  count: Statement<{ n: number }, Record<never, never>>;
}

const declared = new Map<string, DeclaredLimit>();

/** Declares a limit, in the module that makes such records and checks it there with `checkPlan`. */
export function planLimit(limit: PlanLimit): DeclaredLimit {
  const { kind, total } = limit;
  const made = {
    ...limit,
    count: statement({
      name: `count ${kind} for the plan`,
      row: { n: integer },
      text: ({ account }) => sql`select ${total(account)} as n`,
    }),
  };
  declared.set(kind, made);
  return made;
}

/** A number for each kind. */
function eachKind(numberOf: (limit: DeclaredLimit) => number): Limited {
  const numbers: Partial<Limited> = {};
  for (const limit of declared.values()) numbers[limit.kind] = numberOf(limit);
  return numbers as Limited;
}

/** How many of each kind a plan allows. */
export const limitsOf = (plan: string): Limited => eachKind(({ most }) => most[plan as keyof typeof Plan] ?? 0);

/** How many of each kind the caller's account has; a person counts from the invitation on. */
export async function usageOf(ctx: Context): Promise<Limited> {
  const account = sql`${ctx.caller.account.id}::uuid`;
  const limits = [...declared.values()];
  const totals = limits.map(({ kind, total }) => sql`${total(account)} as ${rawSql(kind)}`);
  const [usage] = await ctx.select(Object.fromEntries(limits.map(({ kind }) => [kind, integer])), sql`select ${joinSql(totals, ', ')}`);
  return eachKind(({ kind }) => usage![kind]!);
}

/** Why nothing new may be made: the trial is over, or the subscription has ended or is no longer paid. */
export function unpaid(ctx: Context): string | undefined {
  const { plan, billingStatus, trialEndsAt } = ctx.caller.account;
  if (billingStatus === 'cancelled') return 'The subscription has ended';
  if (billingStatus === 'unpaid') return 'The subscription is not paid';
  return plan === 'trial' && trialEndsAt && trialEndsAt <= ctx.now() ? 'The trial has expired' : undefined;
}

/** Throws 402 where nothing new may be made; reads stay possible. */
export function checkTrial(ctx: Context): void {
  const reason = unpaid(ctx);
  if (reason) throw paymentRequired(reason);
}

/** What a unit of work has counted, and what it was granted after that: rows that wait to be written are not counted yet. */
const countedIn = perContext(() => new Map<DeclaredLimit, { n: Promise<number>; granted: number }>());

/** So close to the limit of a plan those who make something come one after the other, so that none of them goes over it. */
const near = 100;

async function countUp(ctx: Context, { kind, count }: DeclaredLimit, most: number): Promise<number> {
  const [before] = await ctx.rows(count);
  if (before!.n <= most - near) return before!.n;
  await ctx.lockName(`plan ${kind}`);
  const [now] = await ctx.rows(count);
  return now!.n;
}

function usageIn(ctx: Context, limit: DeclaredLimit, most: number) {
  const limits = countedIn(ctx);
  const known = limits.get(limit) ?? { n: countUp(ctx, limit, most), granted: 0 };
  limits.set(limit, known);
  return known;
}

/** Throws the refusal of a limit, 402 by default, when the account may have no more of its kind. */
export async function checkPlan(ctx: Context, limit: DeclaredLimit, more = 1): Promise<void> {
  checkTrial(ctx);
  const most = limit.most[ctx.caller.account.plan as keyof typeof Plan] ?? 0;
  if (!Number.isFinite(most)) return;
  const usage = usageIn(ctx, limit, most);
  const n = await usage.n;
  if (n + usage.granted + more > most) throw (limit.refusal ?? paymentRequired)(`The plan allows ${most} ${limit.kind}`);
  usage.granted += more;
}
