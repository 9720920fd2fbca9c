import { found, unprocessable } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow } from '../../kernel/database/kinds.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { loadRecord } from '../../kernel/lists/relationRows.js';
import { deleted } from '../../kernel/model/removal.js';
import { checkTrial } from '../plans/plan.limits.js';
import { cancelDeliveries, signingSecretOf } from '../webhooks/webhook.queue.js';
import { holdTimezone } from '../workspaces/workspace.service.js';
import { checkDraft, checkSize } from './automation.graph.js';
import type { AutomationList, CreateAutomationInput, UpdateAutomationInput } from './automation.model.js';
import { checkToRun, liveOf, planOfVersion } from './automation.publish.js';
import { automationForChange, changesOf } from './automation.rows.js';
import { checkSchedule } from './automation.schedule.js';
import { type AutomationRow, automationTable } from './automation.table.js';
import { withTrigger } from './automation.trigger.js';
import { wakeRunsOf } from './run.end.js';

/** Contract GET /automations: newest first. */
export const listAutomations = (ctx: Context, args: AutomationList) => listRows<AutomationRow>(ctx, automationTable, args);

/** One automation, or null. */
export const findAutomation = (ctx: Context, id: string) => findRow<AutomationRow>(ctx, automationTable, id);

/** Contract GET /automations/{id}: one automation, or 404. */
export const getAutomation = (ctx: Context, id: string) => getRow<AutomationRow>(ctx, automationTable, id);

/** The automation of an id, as part of a larger answer, or 404. Automations that are asked for at the same moment are read together. */
export const draftOf = async (ctx: Context, id: string) =>
  found((await loadRecord(ctx, automationTable, id)) as AutomationRow | null, 'Automation');

/** GET /automations/{id}/signing-secret: for whoever checks what it sends; 404. */
export async function signingSecret(ctx: Context, id: string) {
  const automation = await getAutomation(ctx, id);
  return { secret: signingSecretOf(ctx, { kind: 'automation', id: automation.id }) };
}

const blank = {
  ...emptyRow(automationTable.shape),
  kind: 'native',
  status: 'draft',
  active: false,
  liveAfter: '0',
  liveUnplaced: [] as string[],
  runCount: 0,
  attempt: 0,
} as const;

/** Contract POST /automations: a draft, which does nothing before it is published. */
export async function createAutomation(ctx: Context, input: CreateAutomationInput): Promise<AutomationRow> {
  checkDraft(input);
  checkSchedule(input.schedule, input.scheduleTimezone, ctx.now());
  checkTrial(ctx);
  checkSize(input);
  const { webhookUrl: _url, runCount, lastTriggered, ...whole } = { ...blank, ...withTrigger(defined(input)) };
  const made = ctx.insert('Automation', { ...whole, createdBy: ctx.caller.userId });
  const automation: AutomationRow = { ...made, webhookUrl: made.extWebhookUrl, runCount, lastTriggered };
  await ctx.emit({ name: 'automation.created', record: automation });
  return automation;
}

/** Throws where an automation cannot start runs again: as `checkToRun`, and 422 where it was never published. */
async function checkToStart(ctx: Context, { id, publishedVersion }: AutomationRow): Promise<void> {
  if (publishedVersion !== null) return checkToRun(ctx, await planOfVersion(ctx, id, publishedVersion));
  checkTrial(ctx);
  throw unprocessable('active', 'not_allowed', 'needs a published version: publish it first');
}

/**
 * Contract PATCH /automations/{id}: the draft, which holds once it is published. `active` starts and stops the published version;
 * 422 where there is none, 400 where what its actions name is gone, 402 after a trial. What runs goes on.
 */
export async function updateAutomation(ctx: Context, id: string, input: UpdateAutomationInput): Promise<AutomationRow> {
  checkDraft(input);
  ctx.lockRows();
  if (input.active) await holdTimezone(ctx);
  const before = await automationForChange(ctx, id);
  const { active = before.active, ...draft } = withTrigger(defined(input), before);
  checkSchedule(draft.schedule, draft.scheduleTimezone ?? before.scheduleTimezone, ctx.now());
  if (active && !before.active) await checkToStart(ctx, before);
  checkSize(draft);
  const switched = active === before.active ? {} : { active, ...(await liveOf(ctx, before, active)) };
  const given = { ...draft, ...switched };
  const wanted = { ...before, ...given, webhookUrl: draft.extWebhookUrl === undefined ? before.webhookUrl : draft.extWebhookUrl };
  if (Object.keys(changesOf(before, wanted)).length === 0) return before;
  const saved: AutomationRow = { ...ctx.update('Automation', before, given), webhookUrl: wanted.webhookUrl };
  await ctx.emit({ name: 'automation.updated', record: saved, changes: changesOf(before, saved) });
  return saved;
}

/** Contract DELETE /automations/{id}: it starts nothing more, its runs end, and what waits to be sent of it is cancelled. */
export async function deleteAutomation(ctx: Context, id: string) {
  const before = await automationForChange(ctx, id);
  ctx.update('Automation', before, { deletedAt: ctx.now(), active: false, liveEvent: null, nextRunAt: null, dueAt: null });
  const record = { ...before, active: false, nextRunAt: null };
  await ctx.emit({ name: 'automation.deleted', record });
  await wakeRunsOf(ctx, before.id);
  await cancelDeliveries(ctx, before.id);
  return deleted('Automation', before.id);
}
