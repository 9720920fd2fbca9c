import type { Context } from '../../kernel/context/context.js';
import { emptyRow, flag, instant, integer, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { toE164 } from '../../kernel/model/checks.js';
import { whenTold } from '../../kernel/operations/ownTransaction.js';
import { logCall, settleCall } from '../calls/call.service.js';
import { followsContact } from '../contacts/contact.followMerge.js';
import { contactMatching } from '../contacts/contact.match.js';
import { createContact, requireContact } from '../contacts/contact.service.js';
import type { LiveCallList } from './liveCall.model.js';
import { liveCallTable } from './liveCall.table.js';
import { type Ends, type TakenTurn, takingTurn } from './voice.call.js';

const { shape: row, columns } = liveCallTable;
export type LiveCallRow = RowOf<typeof row>;

/** Calls that go on, the latest first. */
export const listLiveCalls = (ctx: Context, args: LiveCallList) => listRows<LiveCallRow>(ctx, liveCallTable, args);

/** One call that goes on, or null. */
export const findLiveCall = (ctx: Context, id: string) => findRow<LiveCallRow>(ctx, liveCallTable, id);

/** One call that goes on, or 404. */
export const getLiveCall = (ctx: Context, id: string) => getRow<LiveCallRow>(ctx, liveCallTable, id);

function emitLiveCall(ctx: Context, event: 'created' | 'updated' | 'deleted', call: LiveCallRow, changes?: Changes): Promise<void> {
  return ctx.emit({ name: `live_call.${event}`, record: call, changes, contactId: call.contactId, logged: false });
}

/** What is known of a call that begins. */
export interface NewLiveCall {
  providerId: string;
  callFlowId: string;
  callFlowVersion: number;
  fromNumber: string;
  toNumber: string;
  contactId: string | null;
  choices: object;
}

/**
 * Keeps a call that begins, and the turn of a group that it takes. Throws what `isTaken` where it is kept already, what `isRetryable`
 * where another call took the turn, its end was reported, or its contact went meanwhile.
 */
export async function beginCall(ctx: Context, id: string, given: NewLiveCall, takes?: TakenTurn): Promise<void> {
  await ctx.transaction(async (inside) => {
    // Named after the call: two that begin at one moment may be written together.
    const account = ctx.caller.account.id;
    if (takes) inside.requireRow(`turn of ${id}`, takingTurn(account, takes));
    inside.requireRow(`beginning of ${id}`, sql`select 1 where not call_is_over(${account}::uuid, ${given.providerId}::text)`);
    if (given.contactId) requireContact(inside, given.contactId);
    await keepLiveCall(inside, { ...given, id });
  });
}

async function keepLiveCall(inside: Context, given: NewLiveCall & Progress & { id?: string }): Promise<void> {
  const begun = {
    status: 'ringing',
    startedAt: inside.now(),
    userId: null,
    recordingUrl: null,
    answeredAt: null,
    lineFreeAt: null,
  } as const;
  const { choices: _inside, ...call }: LiveCallRow & { choices: unknown } = inside.insert('LiveCall', {
    ...emptyRow(row),
    ...begun,
    ...given,
  });
  await emitLiveCall(inside, 'created', call);
}

const bySid = statement({
  name: 'liveCallOfProvider',
  takes: { sid: text },
  row,
  locks: true,
  text: ({ account, sid }) =>
    sql`select ${columns} from live_calls t where t.account_id = ${account} and t.provider_id = ${sid} for update`,
});

const overOrHeld = statement({
  name: 'callIsOver',
  takes: { sid: text },
  row: { isOver: flag },
  locks: true,
  text: ({ account, sid }) => sql`select call_is_over(${account}, ${sid}) as "isOver"`,
});

const callerHeld = statement({
  name: 'callerOfLiveCall',
  takes: { sid: text },
  row: { id: uuid },
  locks: true,
  // Held before the call, as who merges a contact takes it before its calls. One that was merged away leads to the one that is kept, by
  // what it says once it is held: `mergedOf` would not see a merge that this waited for.
  text: ({ account, sid }) => sql`
    with recursive held as (
      select c.id, c.merged_into_id from live_calls l join contacts c on c.account_id = l.account_id and c.id = l.contact_id
      where l.account_id = ${account} and l.provider_id = ${sid} for key share of c),
    led as (
      select id, merged_into_id from held
      union select c.id, c.merged_into_id from led join contacts c on c.account_id = ${account} and c.id = led.merged_into_id)
    select id from led where merged_into_id is null`,
});

/**
 * A call that goes on, else whether it is over; of one that is to end, also its contact. The call is locked to the end of the transaction,
 * so that it does not begin while it ends: else a second row of the call could be inserted as soon as the first one is deleted.
 */
async function standOf(
  inside: Context,
  sid: string,
  { ends = false } = {},
): Promise<{ call?: LiveCallRow; caller?: string; isOver: boolean }> {
  const [held] = await inside.rows(overOrHeld, { sid });
  if (held!.isOver) return { isOver: true };
  const [caller] = ends ? await inside.rows(callerHeld, { sid }) : [];
  const [call] = await inside.rows(bySid, { sid });
  return { call, caller: caller?.id, isOver: false };
}

type Progress = Partial<Pick<LiveCallRow, 'userId' | 'status' | 'answeredAt' | 'lineFreeAt' | 'recordingUrl'>>;

/**
 * Keeps how a call goes on, which begins by that where its beginning is told later. Of one that is over, its entry in the log learns it.
 */
export async function progress(ctx: Context, ends: Ends, change: (call: LiveCallRow) => Progress | undefined): Promise<void> {
  await whenTold(ctx, async (inside) => {
    inside.lockRows();
    const { call, isOver } = await standOf(inside, ends.sid);
    if (!call) {
      const told = change({ ...(emptyRow(row) as LiveCallRow), status: 'ringing' });
      if (!told) return;
      const { userId, recordingUrl, status } = told;
      if (!isOver) return beginOvertaken(inside, ends, told);
      return settleCall(inside, ends.sid, { userId, recordingUrl, status: status === 'voicemail' ? 'voicemail' : 'completed' });
    }
    const given = change(call);
    const changes = given && changesBetween(call, { ...call, ...given }, Object.keys(given));
    if (!given || Object.keys(changes!).length === 0) return;
    await emitLiveCall(inside, 'updated', inside.update('LiveCall', call, given), changes);
  });
}

/** Numbers under which carriers hide one that is withheld. */
const withheld = new Set(['+266696687', '+7378742883', '+2562533', '+8656696', '+86282452253']);

/** The number that calls, in E.164 form; undefined where it is withheld or no number of a phone. */
export const callersNumber = (ctx: Context, fromNumber: string): string | undefined =>
  withheld.has(fromNumber) ? undefined : toE164(fromNumber, ctx.caller.account.defaultCountry);

/** The contact who has a number; an unknown one is made, unless the number is withheld. */
async function callerAt(ctx: Context, fromNumber: string): Promise<string | null> {
  const phone = callersNumber(ctx, fromNumber);
  if (!phone) return null;
  const known = await contactMatching(ctx, { phone });
  return known ?? (await createContact(ctx, { phone, source: 'call' }, { beyondPlan: true })).id;
}

const answering = statement({
  name: 'flowThatWouldAnswer',
  takes: { number: text, at: instant },
  row: { callFlowId: uuid, callFlowVersion: integer },
  // Published before, and ever since: a call that began earlier was handled by something else. Releases before published_since leave it
  // null.
  text: ({ account, number, at }) => sql`
    select f.id as "callFlowId", f.published_version as "callFlowVersion" from call_flows f
    where f.account_id = ${account} and f.phone_number = ${number} and f.published_version is not null
      and coalesce(f.published_since, f.published_at) <= ${at}`,
});

/** A call of which something is told before its beginning and its end: it goes on. */
async function beginOvertaken(inside: Context, { sid, from, to }: Ends, told: Progress): Promise<void> {
  const [flow] = await inside.rows(answering, { number: to, at: inside.now() });
  if (!flow) return;
  await keepLiveCall(inside, { ...flow, ...told, providerId: sid, fromNumber: from, toNumber: to, contactId: null, choices: {} });
}

/** Logs a call whose end is told before its beginning, because the caller hung up at once: it was missed. */
async function logOvertaken(inside: Context, { sid, from, to }: Ends, duration: number | null): Promise<void> {
  const startedAt = new Date(inside.now().getTime() - (duration ?? 0) * 1000);
  const [flow] = await inside.rows(answering, { number: to, at: startedAt });
  if (!flow) return;
  const contactId = await callerAt(inside, from);
  await logCall(inside, {
    ...flow,
    providerId: sid,
    fromNumber: from,
    toNumber: to,
    contactId,
    startedAt,
    duration,
    direction: 'inbound',
    source: 'call_flow',
    status: 'missed',
  });
}

/**
 * Ends a call: from now on it is one of the log, once however often that is reported, and also where its beginning was not heard of
 * yet. Nothing happens for one that is over.
 */
export async function endCall(ctx: Context, ends: Ends, duration: number | null): Promise<void> {
  const { sid } = ends;
  await whenTold(ctx, async (inside) => {
    inside.lockRows();
    const { call, caller, isOver } = await standOf(inside, sid, { ends: true });
    if (!call) return isOver ? undefined : logOvertaken(inside, ends, duration);
    const { id, startedAt, status, answeredAt, callFlowId, callFlowVersion, fromNumber, toNumber, userId, recordingUrl } = call;
    const contactId = caller ?? call.contactId ?? (await callerAt(inside, fromNumber));
    await inside.db.liveCall.delete({ where: inside.at(id) });
    await emitLiveCall(inside, 'deleted', call);
    await logCall(inside, {
      providerId: sid,
      callFlowId,
      callFlowVersion,
      fromNumber,
      toNumber,
      userId,
      recordingUrl,
      contactId,
      startedAt,
      direction: 'inbound',
      source: 'call_flow',
      duration,
      status: status === 'voicemail' ? 'voicemail' : answeredAt ? 'completed' : 'missed',
    });
  });
}

/** Longer than a vendor lets a call go on: its end was not reported. */
const longest = 24;

const stale = statement({
  name: 'staleLiveCalls',
  takes: { now: instant, hours: integer },
  row: { sid: text, from: text, to: text },
  text: ({ account, now, hours }) => sql`
    select provider_id as sid, from_number as "from", to_number as "to" from live_calls
    where account_id = ${account} and started_at < ${now} - make_interval(hours => ${hours}) order by started_at limit 100`,
});

/** Calls whose end was never reported are over after a day; when they ended nobody knows. */
export const staleCalls = {
  accounts: (now: Sql) =>
    sql`select distinct account_id as id from live_calls where started_at < ${now} - make_interval(hours => ${longest})`,
  async work(ctx: Context): Promise<boolean> {
    const calls = await ctx.rows(stale, { now: ctx.now(), hours: longest });
    for (const ends of calls) await endCall(ctx, ends, null);
    return calls.length === 100;
  },
};

/** Contract POST /contacts/merge: the calls are those of the contact that is kept. */
export const onContactDeleted = followsContact({
  of: liveCallTable,
  tell: (ctx, call, changes) => emitLiveCall(ctx, 'updated', call as LiveCallRow, changes),
});
