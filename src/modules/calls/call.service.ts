import { check, invalid } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, instant, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { changedReferences, checkReferences, type ReferenceKinds } from '../../kernel/operations/references.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { followsContact } from '../contacts/contact.followMerge.js';
import { checkTrial } from '../plans/plan.limits.js';
import { CallFields, type CallList, type CreateCallInput, type UpdateCallInput } from './call.model.js';
import { callTable } from './call.table.js';

const { shape: row, columns } = callTable;
export type CallRow = RowOf<typeof row>;

/** Contract GET /calls: the latest first. */
export const listCalls = (ctx: Context, args: CallList) => listRows<CallRow>(ctx, callTable, args);

/** One call, or null. */
export const findCall = (ctx: Context, id: string) => findRow<CallRow>(ctx, callTable, id);

/** One call, or 404. */
export const getCall = (ctx: Context, id: string) => getRow<CallRow>(ctx, callTable, id);

const callRows = rowsToChange(callTable);

const tracked = namesOf(CallFields);
const links: ReferenceKinds<'contactId'> = { contactId: 'contact' };

/** A call of which nothing is known. */
const blank = { ...emptyRow(row), direction: 'outbound', status: 'completed' } as const;

type Ends = Pick<CallRow, 'source' | 'fromNumber' | 'toNumber'>;

/** Throws 400 naming the numbers that are missing: only a call that was entered by hand may go without. */
function checkNumbers(call: Ends): void {
  if (call.source === 'manual_log') return;
  const missing = (['fromNumber', 'toNumber'] as const).filter((name) => !call[name]);
  check(missing.length === 0, () =>
    invalid(missing.map((field) => ({ field, code: 'required', message: 'is required unless source is manual_log' }))),
  );
}

const endOf = (startedAt: Date, duration: number | null): Date | null =>
  duration === null ? null : new Date(startedAt.getTime() + duration * 1000);

/** Contract POST /calls: a call that was held elsewhere, in the caller's name. It counts as having begun now. */
export async function createCall(ctx: Context, input: CreateCallInput): Promise<CallRow> {
  const given = { ...blank, ...defined(input) };
  checkNumbers(given);
  await checkReferences(ctx, links, input);
  checkTrial(ctx);
  const now = ctx.now();
  const call = await keepCall(ctx, { ...given, startedAt: now, createdAt: now, updatedAt: now, userId: ctx.caller.userId });
  // It begins now: nothing later can be known of the contact.
  if (isReached(call)) ctx.touch('Contact', call.contactId, { lastContactedAt: call.startedAt });
  return call;
}

type NewCall = Omit<Partial<CallRow>, 'id' | 'endedAt'> & Pick<CallRow, 'direction' | 'status' | 'startedAt'> & { id?: string };

/** Keeps a call that is over, and tells of it. When it ended follows from its duration in seconds; null where that is not known. */
async function keepCall(ctx: Context, given: NewCall): Promise<CallRow> {
  const call: CallRow = ctx.insert('Call', { ...blank, ...given, endedAt: endOf(given.startedAt, given.duration ?? null) });
  await emitCall(ctx, 'created', call);
  return call;
}

/** Keeps a call that is over, and that its contact was spoken with. When it ended follows from its duration in seconds. */
export async function logCall(ctx: Context, given: NewCall): Promise<CallRow> {
  const call = await keepCall(ctx, given);
  await touchLastContacted(ctx, call);
  return call;
}

/** Contract PATCH /calls/{id}: 404, or 400 as for a new one. */
export async function updateCall(ctx: Context, id: string, input: UpdateCallInput): Promise<CallRow> {
  const before = await ctx.forChange(callRows, id);
  const after = { ...before, ...defined(input) };
  const changes = changesBetween(before, after, tracked);
  if (isNothing(changes)) return before;
  if (changes.source || changes.fromNumber || changes.toNumber) checkNumbers(after);
  await checkReferences(ctx, links, changedReferences(links, before, input));
  // What the vendor measured stays; of what was logged by hand the end follows from the duration.
  const endedAt = changes.duration && !before.providerId ? endOf(before.startedAt, after.duration) : undefined;
  const call = ctx.update('Call', before, { ...input, endedAt });
  await emitCall(ctx, 'updated', call, changesBetween(before, call, [...tracked, 'endedAt']));
  if (changes.contactId || changes.direction || changes.status) await touchLastContacted(ctx, call);
  return call;
}

const byProvider = statement({
  name: 'callOfProvider',
  takes: { providerId: text },
  row,
  locks: true,
  text: ({ account, providerId }) =>
    sql`select ${columns} from calls t where t.account_id = ${account} and t.provider_id = ${providerId} for update`,
});

/** Keeps what a late report says of a call that is in the log: who answered it, or what was recorded. Nothing that is known is lost. */
export async function settleCall(
  ctx: Context,
  providerId: string,
  { userId, recordingUrl, status }: { userId?: string | null; recordingUrl?: string | null; status: 'voicemail' | 'completed' },
): Promise<void> {
  const [before] = await ctx.rows(byProvider, { providerId });
  if (!before) return;
  const given = {
    userId: before.userId ?? userId ?? null,
    recordingUrl: before.recordingUrl ?? recordingUrl ?? null,
    status: before.status === 'missed' ? status : before.status,
  };
  const changes = changesBetween(before, { ...before, ...given }, Object.keys(given));
  if (isNothing(changes)) return;
  const call = ctx.update('Call', before, given);
  await emitCall(ctx, 'updated', call, changes);
  if (changes.status) await touchLastContacted(ctx, call);
}

const reached = statement({
  name: 'contactReachedByCall',
  takes: { id: uuid, at: instant, now: instant },
  changes: true,
  // They may have been written to since the call began.
  text: ({ account, id, at, now }) => sql`
    update contacts set last_contacted_at = greatest(last_contacted_at, ${at}), updated_at = ${now}
    where account_id = ${account} and id = ${id}`,
});

/** Whether a call reached a contact: every call of ours does, and one of theirs that somebody took. */
const isReached = (call: CallRow): call is CallRow & { contactId: string } =>
  !!call.contactId && (call.direction !== 'inbound' || call.status === 'completed');

/** Keeps when a contact was last reached, never earlier than known. */
async function touchLastContacted(ctx: Context, call: CallRow): Promise<void> {
  if (isReached(call)) await ctx.rows(reached, { id: call.contactId, at: call.startedAt, now: ctx.now() });
}

function emitCall(ctx: Context, event: 'created' | 'updated', call: CallRow, changes?: Changes): Promise<void> {
  return ctx.emit({ name: `call.${event}`, record: call, changes, contactId: call.contactId });
}

/** Contract POST /contacts/merge: the calls are those of the contact that is kept. */
export const onContactDeleted = followsContact({
  of: callTable,
  tell: (ctx, call, changes) => emitCall(ctx, 'updated', call, changes),
});
