import { dayMs, hourMs, minuteMs, secondMs } from '../../kernel/base/durations.js';
import { type Context, forChangeAsRead } from '../../kernel/context/context.js';
import { flag, integer, json, nullable, type RowOf, record, text, uuid } from '../../kernel/database/kinds.js';
import { emptySql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { forgetOutcome, notedOutcome, noteOutcome } from '../../kernel/operations/notedOutcomes.js';
import { patience, whenTold } from '../../kernel/operations/ownTransaction.js';
import { isMailRefused, textRefusals } from '../contacts/contact.optOut.js';
import { isHeld } from './message.hold.js';
import { asTold, emitMessage, type MessageRow, messageRows, touchLastContacted } from './message.service.js';
import { messageRow } from './message.table.js';

/**
 * How long the request that makes a message has to take it for itself, before whoever works on what is due does: its process may
 * have died in between.
 */
export const headStart = 5 * secondMs;

/** Before the second attempt, and so on; there is none after the last. */
const pauses = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 6 * hourMs, dayMs];

/** The pause before the next attempt of a plan that does not end after so many: the longest is an hour. */
export const pauseAfter = (tries: number): number => pauses[Math.min(tries, 3)]!;

/**
 * A message that is to be sent, and what of its recipient decides whether it may go. It is read when it goes. `isPlanned`: the attempt
 * is one of the server's own plan, the first one or one that came due; else a client repeats its request in between. `isByItself`:
 * whether a sequence, a workflow or an automation sends it, and no person. `ownsSender`: whether the number that a text comes from is
 * the workspace's; null where nobody has claimed it. `noted`: what became of an attempt that could not be kept, and whether that was one
 * of the plan; it is not sent again, but settled by that.
 */
const sending = {
  ...messageRow.shape,
  lineId: nullable(text),
  xmin: text,
  email: nullable(text),
  phone: nullable(text),
  isGone: flag,
  doNotContact: flag,
  optedOutEmail: flag,
  optedOutSms: flag,
  landline: nullable(text),
  isPaused: flag,
  isPlanned: flag,
  isByItself: flag,
  ownsSender: nullable(flag),
  noted: nullable(record({ outcome: json<Outcome>(), isPlanned: flag })),
};
export type Sending = RowOf<typeof sending>;

/** What is to be sent, of rows of messages under the alias `t`, of which version they are, and whether the attempt is a planned one. */
const sendingOf = (from: Sql, version: Sql, isPlanned: Sql) => sql`
    select ${messageRow.columns()}, t.line_id as "lineId", ${version} as xmin, ${isPlanned} as "isPlanned",
      (t.enrollment_id is not null or t.causes is not null) as "isByItself",
      c.email, c.phone, c.deleted_at is not null as "isGone",
      ${isMailRefused} as "optedOutEmail", ${textRefusals(sql`t.to_number`)},
      (select n.account_id = t.account_id from phone_numbers n where n.number = t.from_number) as "ownsSender",
      exists (select 1 from enrollments e join sequences s on s.account_id = e.account_id and s.id = e.sequence_id
        where e.account_id = t.account_id and e.id = t.enrollment_id and ${isHeld}) as "isPaused",
      ${notedOutcome('messages', 't')} as noted
    from ${from} t join contacts c on c.account_id = t.account_id and c.id = t.contact_id`;

const toSend = statement({
  name: 'messageToSend',
  takes: { id: uuid, attempt: integer },
  row: sending,
  shared: true,
  text: ({ account, id, attempt }) => sql`${sendingOf(sql`messages`, sql`t.xmin::text`, sql`true`)}
    where t.account_id = ${account} and t.id = ${id} and t.attempt = ${attempt} and t.status in ('queued', 'scheduled', 'sending')`,
});

/**
 * A message that has come due, which this attempt is to send, with what of its recipient decides about it; undefined where it is not ours.
 */
export const messageToSend = async (ctx: Context, id: string, attempt: number): Promise<Sending | undefined> =>
  (await ctx.rows(toSend, { id, attempt }))[0];

interface Taking {
  name: string;
  /** Which messages may be taken. */
  where: Sql;
  /** What is set besides. */
  also?: Sql;
}

/** A statement that takes a message for this process, and answers what is to be sent; nothing where somebody else has it. */
export const takingToSend = ({ name, where, also = emptySql }: Taking) =>
  statement({
    name,
    takes: { id: uuid, seconds: integer },
    row: sending,
    changes: true,
    text: ({ account, id, seconds }) => sql`
    with taken as (
      update messages set attempt = attempt + 1, leased_until = now() + make_interval(secs => ${seconds})${also}
      where account_id = ${account} and id = ${id} and (leased_until is null or leased_until <= now()) and ${where}
      returning *, xmin::text as version)
    ${sendingOf(sql`taken`, sql`t.version`, sql`t.attempt = 1`)}`,
  });

/** A text message that was taken begins to go; nothing where it was cancelled since. */
const beginning = statement({
  name: 'beginSms',
  takes: { id: uuid, attempt: integer },
  row: { id: uuid },
  changes: true,
  text: ({ account, id, attempt }) => sql`
    update messages set status = 'sending' where account_id = ${account} and id = ${id} and attempt = ${attempt} and status = 'queued'
    returning id`,
});

/**
 * Begins to send a text message that was taken, and answers what is to be sent; undefined where it was cancelled since. It is read once it
 * is held, after a change of the contact's number that was under way; an opt-out counts once it is committed. Where it cannot be read it
 * has not begun: of one that has, nobody could tell whether it went.
 */
export const beginToSend = (ctx: Context, id: string, attempt: number): Promise<Sending | undefined> =>
  ctx.transaction(async (inside) => {
    const [begun] = await inside.rows(beginning, { id, attempt });
    return begun && messageToSend(inside, id, attempt);
  });

const take = takingToSend({ name: 'takeMessage', where: sql`due_at is not null` });

/** Takes a message that is due for this process; undefined where somebody else has it. */
export async function takeMessage(ctx: Context, id: string): Promise<Sending | undefined> {
  const [taken] = await ctx.rows(take, { id, seconds: ctx.app.config.leaseSeconds });
  return taken;
}

/** What became of an attempt. */
export type Outcome =
  | { kind: 'sent'; providerId: string; provider: string; fromNumber?: string; fromEmail?: string; toEmail?: string }
  | { kind: 'cancelled'; error: string }
  /** `refusal`: why the vendor refused it, which may say something of the number for good. */
  | { kind: 'failed'; error: string; refusal?: string }
  /** By a plan of so many attempts, or at a moment, as often as it takes within two days. */
  | { kind: 'later'; error: string; at?: Date }
  /**
   * Nobody knows whether it was sent. Where the vendor takes it no second time, it is handed over again at a moment. `refusal`: why the
   * vendor refused it now, which says nothing of the attempts before.
   */
  | { kind: 'unconfirmed'; at?: Date; refusal?: string };

interface Settling {
  outcome: Outcome;
  isPlanned: boolean;
}

/** What is to be kept of a message: what was noted of an earlier attempt, whose moments are texts in JSON, else what became of this one. */
function settlingOf({ noted, isPlanned }: Sending, outcome: Outcome): Settling {
  if (!noted) return { outcome, isPlanned };
  const known = noted.outcome;
  return { ...noted, outcome: 'at' in known && known.at ? { ...known, at: new Date(known.at) } : known };
}

const refusalIn = (outcome: Outcome) => ('refusal' in outcome ? outcome.refusal : undefined);

/** What became of an attempt, noted beside its message; that nothing went is found out again. */
class OutcomeNote {
  isKept: boolean;

  constructor(
    private readonly ctx: Context,
    private readonly message: Sending,
    private readonly settling: Settling,
  ) {
    this.isKept = message.noted !== null;
  }

  /** Whether it is noted. */
  async keep(): Promise<boolean> {
    if (this.isKept || !['sent', 'failed', 'unconfirmed'].includes(this.settling.outcome.kind)) return this.isKept;
    const { ctx, message, settling } = this;
    this.isKept = await noteOutcome(ctx, { table: 'messages', id: message.id }, settling).then(
      () => true,
      () => false,
    );
    return this.isKept;
  }
}

/**
 * Keeps what became of an attempt, while it is ours: where the lease was lost, somebody else's outcome stands. What a refusal says of the
 * number is kept first (`learn`). Where it cannot be written at once, since somebody holds the message or its contact, it is noted beside
 * the message: what a carrier has taken must not be forgotten, or it would be sent again by whoever takes it once the lease is over, or
 * this process. Where they are held for longer than about ten seconds, the message is settled by whoever takes it next.
 */
export async function settle(
  ctx: Context,
  message: Sending,
  outcome: Outcome,
  learn?: (inside: Context, refusal: string) => Promise<void>,
): Promise<MessageRow | null> {
  const settling = settlingOf(message, outcome);
  const refusal = refusalIn(settling.outcome);
  const note = new OutcomeNote(ctx, message, settling);
  const patiently = patience(async () => void (await note.keep()));
  try {
    if (learn && refusal) await whenTold(ctx, (inside) => learn(inside, refusal), patiently);
    return await whenTold(ctx, (inside) => keep(inside, message, settling, note), patiently);
  } catch (error) {
    if (!(await note.keep())) throw error;
    ctx.app.log.warn({ err: error, message: message.id }, 'what became of a message is noted, and written later');
    return null;
  }
}

/** What of a message an attempt may change. */
const settledFields = ['status', 'error', 'sentAt', 'provider', 'providerId', 'fromEmail', 'toEmail', 'fromNumber'];

async function keep(inside: Context, message: Sending, settling: Settling, note: OutcomeNote): Promise<MessageRow | null> {
  const { outcome } = settling;
  const before = await forChangeAsRead(inside, messageRows, message);
  const isOurs =
    ['queued', 'scheduled', 'sending'].includes(before.status) || (outcome.kind === 'sent' && hasGoneAllTheSame(before, outcome));
  if (before.attempt !== message.attempt) return null;
  if (note.isKept) await forgetOutcome(inside, { table: 'messages', id: message.id });
  if (!isOurs) return null;
  const after = { ...inside.update('Message', before, { ...settled(inside, before, settling), leasedUntil: null }) };
  const found = changesBetween(asTold(before), after, settledFields);
  const changes = isNothing(found) ? undefined : found;
  if (outcome.kind === 'sent') touchLastContacted(inside, after);
  // Reads have shown meanwhile that a text was on its way: that it waits again is told also where that is nothing new.
  if (changes || after.status !== before.status) await emitMessage(inside, 'updated', after, changes, outcome.kind === 'sent');
  return after;
}

/** What a message that was taken has gone in spite of: that it was taken back, or that another attempt at it is reported to have failed. */
const hasGoneAllTheSame = ({ status, providerId }: MessageRow, sent: { providerId: string }): boolean =>
  status === 'cancelled' || (status === 'failed' && providerId !== null && providerId !== sent.providerId);

function settled(ctx: Context, before: MessageRow, { outcome, isPlanned }: Settling) {
  const now = ctx.now();
  if (outcome.kind === 'sent') {
    const { kind: _kind, ...given } = outcome;
    return { ...given, status: 'sent' as const, error: null, sentAt: now, dueAt: null };
  }
  if (outcome.kind !== 'later' && outcome.kind !== 'unconfirmed') return { status: outcome.kind, error: outcome.error, dueAt: null };
  const tries = before.tries + Number(isPlanned);
  // A moment that a vendor names is taken for two days, and by what waited longer before its first attempt, of an enrollment that was
  // paused.
  const isLate = before.tries > 0 && now.getTime() - (before.scheduledAt ?? before.createdAt).getTime() > 2 * pauses.at(-1)!;
  const named = isPlanned && isLate ? undefined : outcome.at;
  /** What a client tries in between neither puts off what is planned nor uses it up. */
  const next = (at: Date | undefined) => (isPlanned ? at : (before.dueAt ?? at));
  if (outcome.kind === 'unconfirmed')
    return { status: 'sending' as const, error: 'unconfirmed', tries, dueAt: (named && next(named)) ?? null };
  const pause = outcome.at ? undefined : pauses[before.tries];
  const dueAt = next(named ?? (pause === undefined ? undefined : new Date(now.getTime() + pause)));
  if (!dueAt) return { status: 'failed' as const, error: outcome.error, tries, dueAt: null };
  return { status: 'queued' as const, error: outcome.error, tries, dueAt };
}
