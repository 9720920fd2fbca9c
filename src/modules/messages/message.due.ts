import { check, conflict } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { flag, integer, json, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { emptySql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/facts.js';
import { transacted } from '../../kernel/operations/transacted.js';
import { contacted, emitMessage, type MessageRow, messageToChange } from './message.service.js';

const second = 1000;
const minute = 60 * second;

/**
 * How long the request that makes a message has to take it for itself, before whoever works on what is due does: its process may
 * have died in between.
 */
export const headStart = 5 * second;

/** Before the second attempt, and so on; there is none after the last. */
const pauses = [minute, 5 * minute, 15 * minute, 60 * minute, 6 * 60 * minute, 24 * 60 * minute];

/** The pause after an attempt that is not counted: the longest is an hour. */
export const pauseAfter = (attempt: number): number => pauses[Math.min(attempt, 4) - 1]!;

/** What of the recipient decides whether a message may go. It is read when it goes. */
const sending = {
  ...{ id: uuid, attempt: integer, contactId: uuid, channel: text, status: text, subject: nullable(text), body: text },
  ...{ bodyHtml: nullable(text), transport: nullable(text), fromNumber: nullable(text), toNumber: nullable(text) },
  ...{ lineId: nullable(text), metadata: nullable(json<object>()) },
  ...{ email: nullable(text), phone: nullable(text), isGone: flag, doNotContact: flag, optedOutEmail: flag, optedOutSms: flag },
  ...{ landline: nullable(text), tracked: flag, error: nullable(text), isHeld: flag },
};
export type Sending = RowOf<typeof sending>;

/** What is to be sent, of rows of messages under the alias `t`. */
const sendingOf = (from: Sql) => sql`
    select t.id, t.attempt, t.contact_id as "contactId", t.channel, t.status, t.subject, t.body, t.body_html as "bodyHtml", t.transport,
      t.from_number as "fromNumber", t.to_number as "toNumber", t.line_id as "lineId",
      t.metadata, c.email, c.phone, c.deleted_at is not null as "isGone",
      coalesce(c.do_not_contact, false) as "doNotContact", c.opted_out_email as "optedOutEmail", c.opted_out_sms as "optedOutSms", c.landline, t.tracked, t.error,
      exists (select 1 from enrollments e join sequences s on s.account_id = e.account_id and s.id = e.sequence_id
        where e.account_id = t.account_id and e.id = t.enrollment_id and (not s.is_active or e.status = 'paused')) as "isHeld"
    from ${from} t join contacts c on c.account_id = t.account_id and c.id = t.contact_id`;

const toSend = statement({
  name: 'messageToSend',
  takes: { id: uuid, attempt: integer },
  row: sending,
  shared: true,
  text: ({ account, id, attempt }) => sql`${sendingOf(sql`messages`)}
    where t.account_id = ${account} and t.id = ${id} and t.attempt = ${attempt} and t.status in ('queued', 'scheduled', 'sending')`,
});

/** A message that this attempt is to send, with what of its recipient decides about it; undefined where it is not ours. */
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
      where account_id = ${account} and id = ${id} and (leased_until is null or leased_until <= now()) and ${where} returning *)
    ${sendingOf(sql`taken`)}`,
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
  | { kind: 'failed' | 'cancelled'; error: string }
  /** By a plan of so many attempts, or at a moment, as often as it takes within two days. */
  | { kind: 'later'; error: string; at?: Date }
  /** Nobody knows whether it was sent. Where the vendor takes it no second time, it is handed over again at a moment. */
  | { kind: 'unconfirmed'; at?: Date };

/** Keeps what became of an attempt, while it is ours: where the lease was lost, somebody else's outcome stands. */
export async function settle(ctx: Context, { id, attempt }: { id: string; attempt: number }, outcome: Outcome): Promise<MessageRow | null> {
  // Again where the database chose it in a deadlock: what a carrier has taken must not be forgotten, or it would be sent again.
  return transacted(ctx, async (inside) => {
    const before = await inside.forChange(messageToChange, id, 'Message');
    // What was taken back while it went has gone.
    const isOurs = ['queued', 'scheduled', 'sending'].includes(before.status) || (before.status === 'cancelled' && outcome.kind === 'sent');
    if (before.attempt !== attempt || !isOurs) return null;
    const message = { ...inside.update('Message', before, { ...settled(inside, before, outcome), leasedUntil: null }) };
    const changes = changesBetween(before, message, ['status', 'error', 'sentAt', 'providerId', 'fromEmail', 'toEmail', 'fromNumber']);
    if (outcome.kind === 'sent') contacted(inside, message);
    if (Object.keys(changes).length > 0) await emitMessage(inside, 'updated', message, changes, outcome.kind === 'sent');
    return message;
  });
}

function settled(ctx: Context, { attempt, scheduledAt, createdAt }: MessageRow, outcome: Outcome) {
  if (outcome.kind === 'sent') {
    const { kind: _kind, ...given } = outcome;
    return { ...given, status: 'sent' as const, error: null, sentAt: ctx.now(), dueAt: null };
  }
  const isLate = ctx.now().getTime() - (scheduledAt ?? createdAt).getTime() > 2 * pauses.at(-1)!;
  if (outcome.kind === 'unconfirmed') return { status: 'sending' as const, error: 'unconfirmed', dueAt: (!isLate && outcome.at) || null };
  if (outcome.kind !== 'later') return { status: outcome.kind, error: outcome.error, dueAt: null };
  const pause = pauses[attempt - 1];
  const next = outcome.at ?? (pause === undefined ? undefined : new Date(ctx.now().getTime() + pause));
  if (!next || isLate) return { status: 'failed' as const, error: outcome.error, dueAt: null };
  return { status: 'queued' as const, error: outcome.error, dueAt: next };
}

// By the database's clock, as leases go.
const underWay = statement({
  name: 'messageUnderWay',
  takes: { id: uuid },
  row: { id: uuid },
  text: ({ account, id }) => sql`select t.id from messages t where t.account_id = ${account} and t.id = ${id} and t.leased_until > now()`,
});

/** POST /messages/{id}/cancel: a message that waits, or a draft, is taken back. 404, or 409 once it is on its way or settled. */
export async function cancelMessage(ctx: Context, id: string): Promise<MessageRow> {
  ctx.lockRows();
  const before = await ctx.forChange(messageToChange, id, 'Message');
  const mayBe = ['scheduled', 'queued', 'draft', 'cancelled'].includes(before.status);
  check(mayBe, () => conflict(`The message is ${before.status}`));
  if (before.status === 'cancelled') return before;
  // An e-mail says so by its lease alone.
  const isUnderWay = (await ctx.rows(underWay, { id })).length > 0;
  check(!isUnderWay, () => conflict('The message is being sent'));
  const message = ctx.update('Message', before, { status: 'cancelled', dueAt: null });
  await emitMessage(ctx, 'updated', message, changesBetween(before, message, ['status']));
  return message;
}
