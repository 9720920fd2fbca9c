import { AppError, check, conflict, taken } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, integer, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { checkTrial } from '../plans/plan.limits.js';
import { type DraftGraph, graphOf, isSameGraph, seededGraph } from './callFlow.graph.js';
import type { CallFlowList, CreateCallFlowInput, UpdateCallFlowInput } from './callFlow.model.js';
import { callFlowRow, callFlowTable, callsToday } from './callFlow.table.js';

const row = callFlowRow.shape;
/** A flow as it is kept. */
export type KeptFlow = RowOf<typeof row>;
export type CallFlowRow = KeptFlow & { callsToday: number };

/** Contract GET /call-flows: the newest first. */
export const listCallFlows = (ctx: Context, args: CallFlowList) => listRows<CallFlowRow>(ctx, callFlowTable, args);

/** One flow, or null. */
export const findCallFlow = (ctx: Context, id: string) => findRow<CallFlowRow>(ctx, callFlowTable, id);

/** One flow, or 404. */
export const getCallFlow = (ctx: Context, id: string) => getRow<CallFlowRow>(ctx, callFlowTable, id);

/** How flows are read to be changed. */
export const flowRows = rowsToChange(callFlowTable.reading(row, callFlowRow.columns()));

/** A flow as it is shown. */
export async function shown(ctx: Context, flow: KeptFlow): Promise<CallFlowRow> {
  const of = sql`select ${callsToday(ctx)} as count from call_flows t where t.account_id = ${ctx.caller.account.id}::uuid and t.id = ${flow.id}::uuid`;
  const [today] = await ctx.select({ count: integer }, of);
  return { ...flow, callsToday: today?.count ?? 0 };
}

const answering = statement({
  name: 'whatAnswersNumber',
  takes: { number: text, except: nullable(uuid) },
  row: { kind: text },
  text: ({ account, number, except }) => sql`
    select 'call_flow' as kind from call_flows where account_id = ${account} and phone_number = ${number} and id is distinct from ${except}
    union all select claimed_by from phone_numbers where account_id = ${account} and number = ${number} and claimed_by is not null`,
});

/** Throws 409 where something else of the workspace answers the number. Other workspaces may draft it. */
async function checkFree(ctx: Context, number: string | null | undefined, except: string | null): Promise<void> {
  if (!number) return;
  const [other] = await ctx.rows(answering, { number, except });
  check(!other, () => taken('phoneNumber', 'is answered already'));
}

const blank = emptyRow(row);

/** Contract POST /call-flows. 402 after a trial, then 409 for a number that is answered, then 422 for a graph that has no shape of one. */
export async function createCallFlow(ctx: Context, { draftGraph, ...input }: CreateCallFlowInput): Promise<CallFlowRow> {
  checkTrial(ctx);
  await checkFree(ctx, input.phoneNumber, null);
  const graph = draftGraph === undefined ? seededGraph() : graphOf(draftGraph);
  const flow: KeptFlow = ctx.insert('CallFlow', {
    ...blank,
    ...defined(input),
    name: input.name,
    draftGraph: graph as object,
    draftRevision: 1,
  });
  const made = { ...flow, callsToday: 0 };
  await ctx.emit({ name: 'call_flow.created', record: made });
  return made;
}

/** What is told of a change. A change of the graph is told by its revision, because the record has the graph itself. */
const tracked = ['name', 'phoneNumber', 'draftRevision', 'publishedVersion', 'publishedAt'];

type FlowChange = 'updated' | 'published' | 'unpublished';

/** Keeps a change of a flow and tells it, as what it is besides. */
export async function keepFlow(
  ctx: Context,
  before: KeptFlow,
  given: Partial<KeptFlow> & { priorConfig?: object | null; publishedSince?: Date | null },
  what: FlowChange,
) {
  const flow = await shown(ctx, ctx.update('CallFlow', before, given) as KeptFlow);
  const changes: Changes = changesBetween(before, flow, tracked);
  const also = what === 'updated' ? {} : { [`call_flow.${what}`]: ['publishedVersion', 'publishedAt'] };
  await ctx.emit({ name: 'call_flow.updated', record: flow, changes, also });
  return flow;
}

/** Throws 428 without the revision that a graph is a change of, then 409 where the draft has another one than was named by now. */
function checkRevision(before: KeptFlow, { draftGraph, expectedDraftRevision = null }: UpdateCallFlowInput): void {
  if (draftGraph === undefined && expectedDraftRevision === null) return;
  check(
    expectedDraftRevision !== null,
    () =>
      new AppError('precondition_required', 'expectedDraftRevision is required with draftGraph', {
        details: [{ field: 'expectedDraftRevision', code: 'required', message: 'is required with draftGraph' }],
      }),
  );
  check(expectedDraftRevision === before.draftRevision, () =>
    conflict('expectedDraftRevision', `does not match: the draft now has revision ${before.draftRevision}`),
  );
}

/** The graph that is to be kept, where it is another one. Throws 422 where it has no shape of a graph. */
function newGraph(before: KeptFlow, { draftGraph }: UpdateCallFlowInput): DraftGraph | undefined {
  if (draftGraph === undefined) return undefined;
  const graph = graphOf(draftGraph);
  return isSameGraph(graph, before.draftGraph as DraftGraph) ? undefined : graph;
}

/**
 * Contract PATCH /call-flows/{id}: 428, then 409, then 422. The number of a published flow stays until it is unpublished: 409, as for
 * one that is answered.
 */
export async function updateCallFlow(ctx: Context, id: string, input: UpdateCallFlowInput): Promise<CallFlowRow> {
  const before = await ctx.forChange(flowRows, id);
  checkRevision(before, input);
  const { name = before.name } = input;
  const phoneNumber = input.phoneNumber === undefined ? before.phoneNumber : input.phoneNumber;
  const isMoved = phoneNumber !== before.phoneNumber;
  check(!isMoved || before.publishedVersion === null, () => conflict('phoneNumber', 'cannot be changed while the flow is published'));
  if (isMoved) await checkFree(ctx, phoneNumber, before.id);
  const graph = newGraph(before, input);
  if (!graph && !isMoved && name === before.name) return shown(ctx, before);
  const drafted = graph && { draftGraph: graph as object, draftRevision: before.draftRevision + 1 };
  return keepFlow(ctx, before, { name, phoneNumber, ...drafted }, 'updated');
}
