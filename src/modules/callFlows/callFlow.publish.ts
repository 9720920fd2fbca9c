import { AppError, check, conflict } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { integer, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { readProgress, saveProgress } from '../../kernel/operations/detached.js';
import { inOwnTransaction } from '../../kernel/operations/ownTransaction.js';
import { priorOf } from '../numbers/number.routing.js';
import { claimForWorkspace, holdNumber, ownerOf } from '../numbers/number.service.js';
import { withTexts } from '../numbers/number.texts.js';
import { checkTrial } from '../plans/plan.limits.js';
import { type AtVendor, atVendor, blocked, blockersOf } from './callFlow.blockers.js';
import { type DraftGraph, forwardsOf, usersOf } from './callFlow.graph.js';
import type { PublishCallFlowInput, PublishedCallFlow } from './callFlow.model.js';
import { type CallFlowRow, flowRows, getCallFlow, type KeptFlow, keepFlow, shown } from './callFlow.service.js';
import { leaveTombstone, tombstoneOf } from './callFlow.tombstone.js';
import { restoreQuietly, wire } from './callFlow.wiring.js';

// One publication at a time over all workspaces: loops and numbers are the matter of more than one.
const oneAtATime = statement({
  name: 'lockPublications',
  row: { locked: text },
  locks: true,
  acrossAccounts: true,
  text: () => sql`select pg_advisory_xact_lock(hashtextextended('call flow publications', 0))::text as locked`,
});

const versions = statement({
  name: 'lastCallFlowVersion',
  takes: { id: uuid },
  row: { version: integer },
  text: ({ account, id }) => sql`
    select coalesce(max(version), 0)::int as version from call_flow_versions where account_id = ${account} and call_flow_id = ${id}`,
});

/** 428 without the moment that the publisher has seen, 409 where the flow was changed since. */
function checkSeen({ updatedAt }: KeptFlow, { expectedUpdatedAt = null }: PublishCallFlowInput): void {
  check(
    expectedUpdatedAt !== null,
    () =>
      new AppError('precondition_required', 'expectedUpdatedAt is required', {
        details: [{ field: 'expectedUpdatedAt', code: 'required', message: 'is required' }],
      }),
  );
  check(expectedUpdatedAt.getTime() === updatedAt.getTime(), () =>
    conflict('expectedUpdatedAt', 'does not match: the flow has been changed since'),
  );
}

/** Throws 402 after a trial where the number is yet to be claimed for the workspace, as claiming it does. Whether it is. */
async function checkMayClaim(ctx: Context, { phoneNumber }: KeptFlow): Promise<boolean> {
  if (!phoneNumber || (await ownerOf(ctx, phoneNumber)) !== 'nobody') return false;
  checkTrial(ctx);
  return true;
}

/** What the vendor says of a number that publishing a flow claims: its texts come to the service then, as where it is claimed by itself. */
async function withTextsOf(ctx: Context, flow: KeptFlow, vendor: AtVendor): Promise<AtVendor> {
  if (!('listed' in vendor && vendor.listed)) return vendor;
  const { blockers } = await blockersOf(ctx, flow, vendor);
  return blockers.length > 0 ? vendor : { listed: await withTexts(ctx, vendor.listed) };
}

/** Throws 422 for whatever keeps the flow from being published, 502 where nobody says whether the number is the workspace's. */
async function checkPublishable(ctx: Context, flow: KeptFlow, vendor: AtVendor): Promise<void> {
  const { blockers, isUnclaimed } = await blockersOf(ctx, flow, vendor);
  check(blockers.length === 0, () => blocked(blockers));
  if (!isUnclaimed) return;
  // It may have been given back since it was asked whether it is claimed.
  checkTrial(ctx);
  check('listed' in vendor && vendor.listed, () => new AppError('vendor_unavailable', 'The vendor did not confirm that it has the number'));
  await claimForWorkspace(ctx, vendor.listed);
}

/** Keeps the draft as the next version, which answers calls from now on. `vendor` is what it says of the number, where it was asked. */
export async function publishDraft(ctx: Context, before: KeptFlow, vendor: AtVendor = { failed: true }): Promise<CallFlowRow> {
  const graph = before.draftGraph as DraftGraph;
  const [last] = await ctx.rows(versions, { id: before.id });
  const version = last!.version + 1;
  ctx.insert('CallFlowVersion', {
    callFlowId: before.id,
    version,
    phoneNumber: before.phoneNumber,
    graph: graph as object,
    userIds: usersOf(graph),
    forwardsTo: forwardsOf(graph),
    publishedBy: ctx.caller.userId,
  });
  // What a flow that left the number kept of before is this one's now, unless the number was routed elsewhere since.
  const left = await tombstoneOf(ctx, before.phoneNumber!);
  if (left) ctx.update('CallFlowTombstone', left, { releasedAt: ctx.now() });
  const since = 'listed' in vendor && vendor.listed ? priorOf(ctx, vendor.listed.voice) : null;
  const prior = left && { priorConfig: since ?? left.priorConfig };
  // Earlier releases could leave an unpublished flow with the routing that it kept of another number.
  const begins = before.publishedVersion === null && { publishedSince: ctx.now(), priorConfig: null };
  const given = { publishedGraph: graph as object, publishedVersion: version, publishedAt: ctx.now(), ...begins, ...prior };
  return keepFlow(ctx, before, given, 'published');
}

/**
 * Contract POST /call-flows/{id}/publish: 402 after a trial where that claims the number, 428, 409, then 422 with the code of the first
 * blocker and all of them. The vendor is asked outside of the transaction; where it does not take the wiring, the flow is published all
 * the same, and the wiring says why. What was published under an `Idempotency-Key` before its wiring was known is only wired.
 */
export async function publishCallFlow(ctx: Context, id: string, input: PublishCallFlowInput): Promise<PublishedCallFlow> {
  const seen = await getCallFlow(ctx, id);
  const callFlow = readProgress(ctx) ? seen : await publishAsSeen(ctx, seen, input);
  return { callFlow: callFlow as PublishedCallFlow['callFlow'], wiring: await wire(ctx, callFlow) };
}

async function publishAsSeen(ctx: Context, seen: KeptFlow, input: PublishCallFlowInput): Promise<CallFlowRow> {
  const isUnclaimed = await checkMayClaim(ctx, seen);
  checkSeen(seen, input);
  const asked = await atVendor(ctx, seen.phoneNumber);
  const vendor = isUnclaimed ? await withTextsOf(ctx, seen, asked) : asked;
  return inOwnTransaction(ctx, async (inside) => {
    inside.lockRows();
    await inside.rows(oneAtATime);
    const before = await inside.forChange(flowRows, seen.id);
    checkSeen(before, input);
    // Else it might be given back between the look at whose it is and the publication.
    if (before.phoneNumber) await holdNumber(inside, before.phoneNumber);
    await checkPublishable(inside, before, vendor);
    const published = await publishDraft(inside, before, vendor);
    await saveProgress(inside, { publishedVersion: published.publishedVersion });
    return published;
  });
}

/**
 * Contract POST /call-flows/{id}/unpublish: calls that go on keep their version. The number is given back to what handled it before;
 * where that does not work, a tombstone of it stays. Nothing happens with a flow that is not published, unless it was unpublished under
 * this `Idempotency-Key`: then its number is given back.
 */
export async function unpublishCallFlow(ctx: Context, id: string): Promise<CallFlowRow> {
  const before = readProgress<Left>(ctx);
  const { flow, number } = before ? { ...before, flow: await getCallFlow(ctx, id) } : await leave(ctx, id);
  if (number) await restoreQuietly(ctx, number);
  return flow;
}

/** What is noted of a flow that was unpublished, and whose number is to be given back. */
interface Left {
  number?: string;
}

function leave(ctx: Context, id: string): Promise<Left & { flow: CallFlowRow }> {
  return inOwnTransaction(ctx, async (inside) => {
    inside.lockRows();
    const before = await inside.forChange(flowRows, id);
    if (before.publishedVersion === null) return { flow: await shown(inside, before) };
    const number = await leaveTombstone(inside, before.id);
    const given = { publishedGraph: null, publishedVersion: null, publishedAt: null, publishedSince: null, priorConfig: null };
    const flow = await keepFlow(inside, before, given, 'unpublished');
    await saveProgress(inside, { number } satisfies Left);
    return { flow, number };
  });
}
