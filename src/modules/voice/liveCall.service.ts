import { found } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, flag, instant, integer, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, type Fact } from '../../kernel/events/facts.js';
import { findRow, listRows } from '../../kernel/lists/list.js';
import { relinks } from '../../kernel/lists/relink.js';
import { toE164 } from '../../kernel/model/checks.js';
import { transacted } from '../../kernel/operations/transacted.js';
import { logCall, settleCall } from '../calls/call.service.js';
import { contactMatching } from '../contacts/contact.match.js';
import { createContact, mergedInto } from '../contacts/contact.service.js';
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
export const getLiveCall = async (ctx: Context, id: string) => found(await findLiveCall(ctx, id), 'Call');

function emitLiveCall(ctx: Context, fact: 'created' | 'updated' | 'deleted', call: LiveCallRow, changes?: Changes): Promise<void> {
  return ctx.emit({ name: `live_call.${fact}`, record: call, changes, contactId: call.contactId, logged: false });
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
 * where another call took the turn or its end was reported meanwhile.
 */
export async function beginCall(ctx: Context, id: string, given: NewLiveCall, takes?: TakenTurn): Promise<void> {
  await ctx.transaction(async (inside) => {
    // Named after the call: two that begin at one moment may be written together.
    const account = ctx.caller.account.id;
    if (takes) inside.requireRow(`turn of ${id}`, takingTurn(account, takes));
    inside.requireRow(`beginning of ${id}`, sql`select 1 where not call_is_over(${account}::uuid, ${given.providerId}::text)`);
    const { choices: _inside, ...call } = inside.insert('LiveCall', {
      ...{ ...emptyRow(row), ...given, id, status: 'ringing', startedAt: inside.now(), userId: null, recordingUrl: null, answeredAt: null },
    });
    await emitLiveCall(inside, 'created', call as LiveCallRow);
  });
}

const bySid = statement({
  name: 'liveCallOfProvider',
  takes: { sid: text },
  row,
  locks: true,
  text: ({ account, sid }) =>
    sql`select ${columns} from live_calls t where t.account_id = ${account} and t.provider_id = ${sid} for update`,
});

type Progress = Partial<Pick<LiveCallRow, 'userId' | 'status' | 'answeredAt' | 'recordingUrl'>>;

/** Keeps how a call goes on. Of one that is over already, its entry in the log learns it: reports come in any order. */
export async function progress(ctx: Context, sid: string, change: (call: LiveCallRow) => Progress | undefined): Promise<void> {
  await transacted(ctx, async (inside) => {
    inside.lockRows();
    const [call] = await inside.rows(bySid, { sid });
    if (!call) {
      const told = change({ ...(emptyRow(row) as LiveCallRow), status: 'ringing' });
      if (!told) return;
      const { userId, recordingUrl, status } = told;
      await settleCall(inside, sid, { userId, recordingUrl, status: status === 'voicemail' ? 'voicemail' : 'completed' });
      return;
    }
    const given = change(call);
    const changes = given && changesBetween(call, { ...call, ...given }, Object.keys(given));
    if (!given || Object.keys(changes!).length === 0) return;
    await emitLiveCall(inside, 'updated', inside.update('LiveCall', call, given) as LiveCallRow, changes);
  });
}

/** Numbers under which carriers hide one that is withheld. */
const withheld = new Set(['+266696687', '+7378742883', '+2562533', '+8656696', '+86282452253']);

/** The contact of who called; an unknown one is made, unless the number is withheld. */
async function callerOf(ctx: Context, { contactId, fromNumber }: Pick<LiveCallRow, 'contactId' | 'fromNumber'>): Promise<string | null> {
  if (contactId) return contactId;
  const phone = withheld.has(fromNumber) ? undefined : toE164(fromNumber, ctx.caller.account.defaultCountry);
  if (!phone) return null;
  const known = await contactMatching(ctx, { phone });
  return known ?? (await createContact(ctx, { phone, source: 'call' }, true)).id;
}

const overOrHeld = statement({
  name: 'callIsOver',
  takes: { sid: text },
  row: { isOver: flag },
  locks: true,
  text: ({ account, sid }) => sql`select call_is_over(${account}, ${sid}) as "isOver"`,
});

const answering = statement({
  name: 'flowThatWouldAnswer',
  takes: { number: text, at: instant },
  row: { callFlowId: uuid, callFlowVersion: integer },
  // Published before: a call that began earlier was handled by something else.
  text: ({ account, number, at }) => sql`
    select f.id as "callFlowId", f.published_version as "callFlowVersion" from call_flows f
    where f.account_id = ${account} and f.phone_number = ${number} and f.published_version is not null and exists (
      select from call_flow_versions v where v.account_id = f.account_id and v.call_flow_id = f.id and v.created_at <= ${at})`,
});

/** A call whose end is told before its beginning, since who called hung up at once: nobody took it. */
async function logOvertaken(inside: Context, { sid, from, to }: Ends, duration: number | null): Promise<void> {
  const startedAt = new Date(inside.now().getTime() - (duration ?? 0) * 1000);
  const [flow] = await inside.rows(answering, { number: to, at: startedAt });
  if (!flow) return;
  const contactId = await callerOf(inside, { contactId: null, fromNumber: from });
  await logCall(inside, {
    ...{ ...flow, providerId: sid, fromNumber: from, toNumber: to, contactId, startedAt, duration },
    ...{ direction: 'inbound', source: 'call_flow', status: 'missed', endedAt: duration === null ? null : inside.now() },
  });
}

/**
 * Ends a call: from now on it is one of the log, once however often that is reported, and also where its beginning was not heard of
 * yet. Nothing happens for one that is over.
 */
export async function endCall(ctx: Context, ends: Ends, duration: number | null): Promise<void> {
  const { sid } = ends;
  await transacted(ctx, async (inside) => {
    inside.lockRows();
    const [seen] = await inside.rows(bySid, { sid });
    const [held] = seen ? [] : await inside.rows(overOrHeld, { sid });
    // It may have begun while that was asked.
    const [call] = seen ? [seen] : await inside.rows(bySid, { sid });
    if (!call) return held?.isOver ? undefined : logOvertaken(inside, ends, duration);
    const { id, startedAt, status, answeredAt, callFlowId, callFlowVersion, fromNumber, toNumber, userId, recordingUrl } = call;
    const contactId = await callerOf(inside, call);
    await inside.db.liveCall.delete({ where: inside.at(id) });
    await emitLiveCall(inside, 'deleted', call);
    const endedAt = duration === null ? null : new Date(startedAt.getTime() + duration * 1000);
    await logCall(inside, {
      ...{ providerId: sid, callFlowId, callFlowVersion, fromNumber, toNumber, userId, recordingUrl, contactId, startedAt },
      ...{ direction: 'inbound', source: 'call_flow', endedAt, duration },
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
  accounts: `select distinct account_id as id from live_calls where started_at < $1::timestamptz - interval '${longest} hours'`,
  async work(ctx: Context): Promise<boolean> {
    const calls = await ctx.rows(stale, { now: ctx.now(), hours: longest });
    for (const ends of calls) await endCall(ctx, ends, null);
    return calls.length === 100;
  },
};

const followContact = relinks(
  { table: 'live_calls', row, columns, tell: (ctx, call, changes) => emitLiveCall(ctx, 'updated', call as LiveCallRow, changes) },
  'contactId',
);

/** Contract POST /contacts/merge: the calls are those of the contact that is kept. */
export async function onContactDeleted(ctx: Context, fact: Fact): Promise<void> {
  const kept = mergedInto(fact);
  if (kept) await followContact(ctx, fact.record.id, kept);
}
