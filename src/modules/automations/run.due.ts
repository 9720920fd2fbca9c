import { type Context, noteRead, type Version } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { inOwnTransaction } from '../../kernel/operations/ownTransaction.js';
import { errorText, mayPass, pauses } from '../actions/action.service.js';
import { planOfVersion } from './automation.publish.js';
import { within } from './run.actions.js';
import { rests } from './run.begin.js';
import { mostActions, type Pace, type Progress, RunExecutor } from './run.executor.js';
import { type DueRun, runRows } from './run.table.js';

/**
 * Goes on with a run: up to its next wait, or its end. What its steps do and where it stands then are one transaction, so that
 * nothing is done twice; where an action fails, those before it are done one by one.
 */
export async function goOn(ctx: Context, due: DueRow): Promise<void> {
  let pace: Pace | undefined = { mostActions };
  let passed: Progress['passed'];
  let seen = due.more ? runRows.look.read(due.more) : undefined;
  for (let isMore = true; isMore && pace; seen = undefined) {
    const progress: Progress = { actions: 0, nodeId: null };
    try {
      const at: Pace = { ...pace, progress };
      isMore = await inOwnTransaction(ctx, (inside) => {
        // A transaction that is tried again begins where this burst began.
        progress.passed = passed;
        return burst(inside, { ...due, seen }, at);
      });
      if (progress.isWaiting && (await rests(ctx, due))) return;
      passed = progress.isWaiting ? undefined : progress.passed;
    } catch (error) {
      pace = await paceAfter(ctx, due, { error, pace, progress });
    }
  }
}

interface Fault {
  error: unknown;
  pace: Pace;
  progress: Progress;
}

/** How a run goes on after a fault; undefined where it does so later. A fault of no step is thrown. */
async function paceAfter(ctx: Context, due: DueRow, { error, pace, progress }: Fault): Promise<Pace | undefined> {
  if (progress.nodeId === null || pace.fault) throw error;
  if (progress.actions > 1) return { mostActions: 1 };
  if (mayPass(error) && (await isPutOff(ctx, due, error))) return undefined;
  return { mostActions: 1, fault: { nodeId: progress.nodeId, message: errorText(error) } };
}

/** A run that came due. `seen` is the run as it was when it was taken; undefined after the first transaction. */
type Taken = DueRow & { seen?: DueRun & Version };

async function burst(ctx: Context, { id, attempt, seen }: Taken, pace: Pace): Promise<boolean> {
  if (seen) noteRead(ctx, runRows, seen);
  const run = await ctx.forChange(runRows, id);
  if (run.attempt !== attempt || !run.dueAt || !['running', 'waiting'].includes(run.status)) return false;
  const automation = { id: run.automationId, name: run.automationName };
  const inside = within(ctx, { automation, runId: id, causes: run.causes });
  const executor = new RunExecutor(inside, run, await planOfVersion(ctx, run.automationId, run.version), pace);
  return executor.go();
}

/** Puts off a step after a fault that may pass; false where it was tried often enough. */
async function isPutOff(ctx: Context, { id, attempt }: DueRow, error: unknown): Promise<boolean> {
  return inOwnTransaction(ctx, async (inside) => {
    const run = await inside.forChange(runRows, id);
    const pause = pauses[run.tries];
    // It may have been cancelled meanwhile.
    if (run.attempt !== attempt || !run.dueAt) return true;
    if (pause === undefined) return false;
    ctx.app.log.warn({ err: error, run: id, tries: run.tries + 1 }, 'a step of an automation failed and is tried again');
    const dueAt = new Date(inside.now().getTime() + pause);
    inside.update('AutomationRun', run, { tries: run.tries + 1, dueAt, leasedUntil: null });
    return true;
  });
}
