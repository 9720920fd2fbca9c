import { elapsed } from '../../kernel/base/clock.js';
import { type Context, noteRead, type Version } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { inOwnTransaction } from '../../kernel/operations/ownTransaction.js';
import { actionPerformer, errorText, mayPass, pauses } from '../actions/action.service.js';
import { runTriggerOf, within } from './run.actions.js';
import type { WorkflowRunAction } from './run.model.js';
import { changesOfRun, emitRun, runRows } from './run.service.js';
import type { RunRow } from './run.table.js';

/** What an action of a run ended in. */
class Failed extends Error {
  constructor(
    /** Its place; undefined where nobody can tell which one it was. */
    readonly index: number | undefined,
    readonly of: unknown,
  ) {
    super('An action failed');
  }
}

/**
 * Does the actions of a run that is due. All that are left are one transaction, with what became of them; where one of them fails,
 * those before it are, and it is settled by itself: an effect and its mark are kept together or not at all.
 */
export async function workOnRun(ctx: Context, due: DueRow): Promise<void> {
  let most = Number.POSITIVE_INFINITY;
  let seen = due.more ? runRows.look.read(due.more) : undefined;
  for (; ; seen = undefined) {
    try {
      const isDone = await inOwnTransaction(ctx, (inside) => doActions(inside, { ...due, seen }, most), { mayWait: true });
      if (isDone) return;
      most = Number.POSITIVE_INFINITY;
    } catch (error) {
      const { index, of } = error instanceof Failed ? error : new Failed(undefined, error);
      const next = await settleFault(ctx, due, { index, of, most });
      if (next === undefined) return;
      most = next;
    }
  }
}

/** A run that came due. `seen` is the run as it was when it was taken; undefined after the first transaction. */
type Taken = DueRow & { seen?: RunRow & Version };

/** The run, while this attempt at it is ours. */
async function runIfStillOurs(ctx: Context, { id, attempt, seen }: Taken): Promise<RunRow | undefined> {
  if (seen) noteRead(ctx, runRows, seen);
  const [run] = await ctx.toChange(runRows, [id]);
  return run && run.attempt === attempt && run.status === 'running' && run.dueAt ? run : undefined;
}

/** Does at most so many of the actions that are left. Answers whether the run has ended, or is not ours any more. */
async function doActions(outer: Context, due: Taken, most: number): Promise<boolean> {
  const before = await runIfStillOurs(outer, due);
  if (!before) return true;
  const ctx = within(outer, before);
  const perform = actionPerformer(ctx, runTriggerOf(before));
  const actions = [...before.actions];
  const end = Math.min(before.nextAction + most, actions.length);
  for (let index = before.nextAction; index < end; index++) {
    const action = actions[index]!;
    try {
      const { status, result, made } = await perform(action, index);
      actions[index] = { ...action, status, result: { ...result, ...made }, executedAt: ctx.now().toISOString() };
    } catch (error) {
      throw new Failed(index, error);
    }
  }
  await keep(ctx, before, { actions, nextAction: end, tries: 0, ...(end === actions.length && ended(ctx, before, 'success')) });
  return end === actions.length;
}

type Change = Partial<Pick<RunRow, 'actions' | 'nextAction' | 'tries' | 'status' | 'error' | 'completedAt' | 'durationMs' | 'dueAt'>>;

async function keep(ctx: Context, before: RunRow, change: Change): Promise<void> {
  const leasedUntil = change.dueAt === undefined ? {} : { leasedUntil: null };
  const after: RunRow = ctx.update('WorkflowRun', before, { ...change, ...leasedUntil });
  await emitRun(ctx, 'updated', after, changesOfRun(before, after));
}

const ended = (ctx: Context, { startedAt }: RunRow, status: 'success' | 'failed') => {
  const now = ctx.now();
  return { status, completedAt: now, durationMs: elapsed(startedAt, now), dueAt: null };
};

interface Fault {
  index: number | undefined;
  of: unknown;
  /** How many actions were to be done at once. */
  most: number;
}

/** What is next after a fault: how many actions to do now, or nothing. */
async function settleFault(ctx: Context, due: DueRow, { index, of, most }: Fault): Promise<number | undefined> {
  const run = await ctx.transaction((inside) => runIfStillOurs(inside, due));
  if (!run) return undefined;
  // Nobody knows which of them it was: one by one.
  if (index === undefined && most > 1) return 1;
  // Those before it, without it.
  if (index !== undefined && index > run.nextAction) return index - run.nextAction;
  await inOwnTransaction(ctx, async (inside) => {
    const before = await runIfStillOurs(inside, due);
    if (before) await fail(within(inside, before), before, of);
  });
  return undefined;
}

/** Puts the action that failed off, where it may succeed later; else the run fails, and the rest is left out. */
async function fail(ctx: Context, before: RunRow, error: unknown): Promise<void> {
  const index = before.nextAction;
  const pause = pauses[before.tries];
  if (mayPass(error)) ctx.app.log.error({ err: error, run: before.id, action: index }, 'an action of a workflow failed');
  if (mayPass(error) && pause !== undefined) {
    await keep(ctx, before, { tries: before.tries + 1, dueAt: new Date(ctx.now().getTime() + pause) });
    return;
  }
  const fault = errorText(error);
  const at = ctx.now().toISOString();
  const actions = before.actions.map((action, i): WorkflowRunAction => {
    if (i < index) return action;
    const of = i === index ? ({ status: 'failed', error: fault } as const) : ({ status: 'skipped' } as const);
    return { ...action, ...of, executedAt: at };
  });
  await keep(ctx, before, { ...ended(ctx, before, 'failed'), actions, error: fault });
}
