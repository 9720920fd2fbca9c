import { type AppError, paymentRequired } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { perContext } from '../../kernel/context/perContext.js';
import { isPessimistic } from '../../kernel/context/rows.js';
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
  /** Whether the total of this kind is kept (`keptTotal`), so that a write can look at it. */
  isKept?: boolean;
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
interface Usage {
  n: Promise<number>;
  granted: number;
  /** Whether the write makes sure that there is room: nothing is held before it. */
  isChecked: boolean;
}

const countedIn = perContext(() => new Map<DeclaredLimit, Usage>());

/**
 * More than can be under way in all processes between their counts and their writes: as long as more are left, nobody waits for anybody.
 */
const underWay = 1000;
/** The same of transactions, which hold the lock to their end, others waiting: of these few are under way at once. */
const underWayInTransactions = 400;

/** Closer to the limit those who make something come one after the other, in their writes or from here on, so that none goes over it. */
async function countUp(ctx: Context, limit: DeclaredLimit, most: number, usage: Usage): Promise<number> {
  const [before] = await ctx.rows(limit.count);
  if (before!.n < most - underWay) return before!.n;
  usage.isChecked = (limit.isKept ?? false) && !isPessimistic(ctx);
  return usage.isChecked || before!.n < most - underWayInTransactions ? before!.n : countAlone(ctx, limit);
}

async function countAlone(ctx: Context, { kind, count }: DeclaredLimit): Promise<number> {
  await ctx.lockName(`plan ${kind}`);
  const [now] = await ctx.rows(count);
  return now!.n;
}

function usageIn(ctx: Context, limit: DeclaredLimit, most: number): Usage {
  const limits = countedIn(ctx);
  const known = limits.get(limit);
  // What is written has been checked, and is counted from now on: the next one is not checked any more.
  const isOver = known?.isChecked && known.granted > 0 && ctx.unit?.isOpen;
  if (known && !isOver) return known;
  const usage: Usage = { n: Promise.resolve(0), granted: 0, isChecked: false };
  usage.n = isOver ? countAlone(ctx, limit) : countUp(ctx, limit, most, usage);
  limits.set(limit, usage);
  return usage;
}

/** Has the next write find room for all that was granted, in its turn: else the operation is tried again, and counts under the lock. */
function requireRoom(ctx: Context, { kind }: DeclaredLimit, most: number): void {
  const room = sql`select 1 where plan_has_room(${ctx.caller.account.id}::uuid, ${kind}::text, ${most}::int)`;
  // One unit in a statement: the check of each does not see what the others insert by it.
  ctx.requireRow(`plan ${kind}`, room, 'exclusive');
}

/** Throws the refusal of a limit, 402 by default, when the account may have no more of its kind. */
export const checkPlan = (ctx: Context, limit: DeclaredLimit): Promise<void> => checkPlanThen(ctx, limit, () => undefined);

/**
 * The same, and then the checks that are decided behind it: of many records in one unit of work, one that these refuse takes no place,
 * and the next one has it. Answers what they answer.
 */
export async function checkPlanThen<T>(ctx: Context, limit: DeclaredLimit, rest: () => T): Promise<T> {
  checkTrial(ctx);
  const most = limit.most[ctx.caller.account.plan as keyof typeof Plan] ?? 0;
  if (!Number.isFinite(most)) return rest();
  const usage = usageIn(ctx, limit, most);
  const n = await usage.n;
  if (n + usage.granted + 1 > most) throw (limit.refusal ?? paymentRequired)(`The plan allows ${most} ${limit.kind}`);
  const answer = rest();
  usage.granted++;
  if (usage.isChecked) requireRoom(ctx, limit, most - usage.granted);
  return answer;
}
