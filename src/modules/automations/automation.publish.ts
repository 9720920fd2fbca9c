import { LRUCache } from 'lru-cache';
import { AppError } from '../../kernel/base/errors.js';
import { jsonSize } from '../../kernel/base/jsonText.js';
import type { Context } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { perContext } from '../../kernel/context/perContext.js';
import { integer, json, listOf, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { activeLimit } from '../../kernel/operations/activeLimit.js';
import { beginsBehind } from '../../kernel/operations/feedEnd.js';
import { loader } from '../../kernel/operations/loader.js';
import { type Action, checkActions, holdTemplates, sendsEmail } from '../actions/action.service.js';
import { checkMayName } from '../actions/action.trigger.js';
import { checkMayMail } from '../auth/auth.verification.js';
import { checkTrial } from '../plans/plan.limits.js';
import { holdTimezone, timezoneNow } from '../workspaces/workspace.service.js';
import { planOf } from './automation.blockers.js';
import type { Blocker, Plan } from './automation.graph.js';
import { automationForChange, changesOf } from './automation.rows.js';
import { nextMoment } from './automation.schedule.js';
import type { AutomationRow } from './automation.table.js';
import { actionOf } from './run.actions.js';

const versions = statement({
  name: 'automationVersions',
  takes: { ids: listOf(uuid), versions: listOf(integer) },
  row: { id: uuid, version: integer, plan: json<Plan>() },
  planned: true,
  text: ({ account, ids, versions: numbers }) => sql`
    select v.automation_id as id, v.version, v.graph as plan from automation_versions v
    where v.account_id = ${account} and (v.automation_id, v.version) in (select * from unnest(${ids}, ${numbers}))`,
});

/** Versions that are kept at hand, which never change once they are there: so many, and so many characters of JSON. */
const kept = new LRUCache<string, Plan>({ max: 500, maxSize: 16_000_000, sizeCalculation: (plan) => jsonSize(plan) });
/**
 * What a unit of work publishes itself. It then keeps no version at hand: what it reads may be its own, which goes again where it fails.
 */
const publishedIn = perContext(() => new Set<string>());

/** Published versions of automations by "id version", for many keys in one statement. */
const automationPlanLoader = loader<Plan | null>(async (ctx, keys) => {
  const asked = keys.map((key) => key.split(' ') as [string, string]);
  const rows = await ctx.rows(versions, { ids: asked.map(([id]) => id), versions: asked.map(([, nth]) => Number(nth)) });
  return inOrder(keys, rows, ({ id, version }) => `${id} ${version}`).map((row) => row?.plan ?? null);
});

/** A published version of an automation. */
export async function planOfVersion(ctx: Context, id: string, nth: number): Promise<Plan> {
  const key = `${ctx.caller.account.id} ${id} ${nth}`;
  const known = kept.get(key);
  if (known) return known;
  const plan = await automationPlanLoader(ctx).load(`${id} ${nth}`);
  if (!plan) throw new Error(`Automation ${id} has no version ${nth}`);
  if (publishedIn(ctx).size === 0) kept.set(key, plan);
  return plan;
}

/**
 * What starts runs of a version while it is active: events from here on, unless they did already, and the next moment of its
 * schedule; one that is overdue by the same schedule stays.
 */
async function startsOf(ctx: Context, before: AutomationRow, { event, schedule, timezone }: Plan) {
  const { id, liveEvent, nextRunAt: due, publishedVersion } = before;
  const now = ctx.now();
  const running = before.active && due && due <= now ? await planOfVersion(ctx, id, publishedVersion!) : undefined;
  const isOverdue = running && running.schedule === schedule && running.timezone === timezone;
  const next = schedule ? nextMoment(schedule, timezone ?? (await timezoneNow(ctx)), now) : null;
  const nextRunAt = isOverdue ? due : next;
  const after = event === liveEvent ? {} : await beginsBehind(ctx, event === null ? [] : [event], 'live');
  // A worker that has taken the automation for its former moment loses it by the new attempt: so the next moment is not done early.
  return { liveEvent: event, ...after, nextRunAt, dueAt: nextRunAt, attempt: before.attempt + 1, leasedUntil: null };
}

/** What starts runs of an automation that is switched on or off. */
export async function liveOf(ctx: Context, automation: AutomationRow, isActive: boolean) {
  if (!isActive) return { liveEvent: null, nextRunAt: null, dueAt: null };
  return startsOf(ctx, automation, await planOfVersion(ctx, automation.id, automation.publishedVersion!));
}

const refusal = (blockers: Blocker[]) =>
  new AppError('validation_failed', `The automation cannot be published: ${blockers[0]!.message}`, { more: { blockers } });

/** What stands against publishing the draft of an automation. */
export const blockersOf = async (ctx: Context, automation: AutomationRow): Promise<Blocker[]> => (await planOf(ctx, automation)).blockers;

/**
 * Throws 403 where the version starts by an event, or waits for one, that is for others than the caller, and where it sends mail and the
 * account may not yet.
 */
async function checkMayRun(ctx: Context, plan: Plan): Promise<void> {
  const { event, nodes } = plan;
  const waited = nodes.filter(({ type }) => type === 'wait').map(({ config }) => config.event);
  const named = [event, ...waited].filter((name): name is string => typeof name === 'string' && ctx.app.registry.events.has(name));
  for (const name of named) checkMayName(ctx, name);
  if (sendsEmail(actionsOf(plan))) await checkMayMail(ctx);
}

const nodesOf = ({ nodes }: Plan) => nodes.filter(({ type }) => type === 'action');
const actionsOf = (plan: Plan): Action[] => nodesOf(plan).map(actionOf);

const checkActive = activeLimit('automations', { field: 'active', active: sql`active and deleted_at is null` });

/**
 * Throws where a published version must not start runs again: 403 and 402 as publishing does, and 400 where what its actions name is gone.
 * The templates that they name are held from being deleted meanwhile.
 */
export async function checkToRun(ctx: Context, plan: Plan): Promise<void> {
  await checkMayRun(ctx, plan);
  const cleaned = await checkActions(
    ctx,
    nodesOf(plan).map((node) => ({ ...actionOf(node), at: node.id })),
  );
  checkTrial(ctx);
  await checkActive(ctx);
  holdTemplates(ctx, cleaned);
}

/**
 * Contract POST /automations/{id}/publish: the draft becomes a version, by which new runs go; runs under way keep theirs. 403 for an event
 * that is for others than the caller, 402 after a trial, 422 with blockers.
 */
export async function publishAutomation(ctx: Context, id: string): Promise<AutomationRow> {
  ctx.lockRows();
  await holdTimezone(ctx);
  const before = await automationForChange(ctx, id);
  const { plan, blockers } = await planOf(ctx, before);
  await checkMayRun(ctx, plan);
  checkTrial(ctx);
  if (blockers.length > 0) throw refusal(blockers);
  if (!before.active) await checkActive(ctx);
  holdTemplates(ctx, actionsOf(plan));
  const publishedVersion = (before.publishedVersion ?? 0) + 1;
  publishedIn(ctx).add(before.id);
  ctx.insert('AutomationVersion', { automationId: before.id, version: publishedVersion, graph: plan, publishedBy: ctx.caller.userId });
  const state = {
    status: 'published',
    active: true,
    publishedVersion,
    publishedAt: ctx.now(),
    ...(await startsOf(ctx, before, plan)),
  } as const;
  const saved: AutomationRow = ctx.update('Automation', before, state);
  if (saved.liveEvent || plan.nodes.some(({ type }) => type === 'wait')) await ctx.follow('automations');
  const changes = changesOf(before, saved);
  await ctx.emit({
    name: 'automation.updated',
    record: saved,
    changes,
    also: { 'automation.published': ['status', 'publishedVersion', 'publishedAt'] },
  });
  return saved;
}
