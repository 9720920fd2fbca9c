import { type Context, requireVersion } from '../../kernel/context/context.js';
import { isPessimistic } from '../../kernel/context/rows.js';
import { flag, instant, integer, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import type { ModelName } from '../../kernel/database/models.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { DomainEvent } from '../../kernel/events/changes.js';
import { batched } from '../../kernel/operations/loader.js';
import type { ContactScore, ScoreFactor } from './contact.model.js';
import { contactRows, getContact } from './contact.service.js';

const engagement = {
  ...{ id: uuid, inbound: integer, dealsOpen: integer, dealsWon: integer },
  ...{ calls: integer, appointments: integer, submissions: integer, recent: flag },
  /** The version of the contact's row; null of one who is not kept yet, or whom nobody is about to change. */
  xmin: nullable(text),
};

const engagementOf = statement({
  name: 'engagementOfContacts',
  takes: { ids: listOf(uuid), now: instant, most: nullable(integer) },
  row: engagement,
  shared: true,
  counts: true,
  text: ({ account, ids, now, most }) => {
    const own = sql`account_id = ${account} and contact_id = i.id`;
    return sql`select i.id,
      (select count(*)::int from (select 1 from messages where ${own} and direction = 'inbound' limit ${most}) m) as inbound,
      (select count(*)::int from deals where ${own} and deleted_at is null and status = 'open') as "dealsOpen",
      (select count(*)::int from deals where ${own} and deleted_at is null and status = 'won') as "dealsWon",
      (select count(*)::int from calls where ${own} and status = 'completed') as calls,
      (select count(*)::int from appointments where ${own} and deleted_at is null and status <> 'cancelled') as appointments,
      (select count(*)::int from submissions where ${own}) as submissions,
      exists (select 1 from messages where ${own} and direction = 'inbound' and created_at > ${now} - interval '14 days') as recent,
      (select c.xmin::text from contacts c where c.account_id = ${account} and c.id = i.id) as xmin
      from unnest(${ids}) i(id)`;
  },
});

/** No more inbound messages than these count. */
const mostInbound = 5;

/** Points for what a person did, capped factor by factor so that they sum to 100; a new contact has none. */
function factorsOf(e: RowOf<typeof engagement>): ScoreFactor[] {
  const factor = (key: string, label: string, points: number, detail: string) => ({ key, label, points, detail });
  return [
    factor('replies', 'Wrote to us', Math.min(mostInbound, e.inbound) * 5, `${e.inbound} inbound messages`),
    factor('recent_reply', 'Wrote lately', e.recent ? 10 : 0, 'an inbound message within 14 days'),
    factor('open_deals', 'Has open deals', Math.min(20, e.dealsOpen * 10), `${e.dealsOpen} open deals`),
    factor('won_deals', 'Has bought', Math.min(20, e.dealsWon * 20), `${e.dealsWon} won deals`),
    factor('calls', 'Spoke with us', Math.min(10, e.calls * 5), `${e.calls} completed calls`),
    factor('appointments', 'Met with us', Math.min(10, e.appointments * 5), `${e.appointments} appointments`),
    factor('forms', 'Filled in a form', Math.min(5, e.submissions * 5), `${e.submissions} submissions`),
  ];
}

/** What a contact has who waits to be inserted: all of it waits too. */
function engagementWaiting(ctx: Context, id: string): RowOf<typeof engagement> {
  const count = (model: ModelName, counts: (row: Record<string, unknown>) => boolean = () => true) =>
    ctx.waiting(model).filter((row) => row.contactId === id && counts(row)).length;
  const inbound = count('Message', ({ direction }) => direction === 'inbound');
  return {
    ...{ id, inbound, recent: inbound > 0, xmin: null },
    dealsOpen: count('Deal', ({ status }) => status === 'open'),
    dealsWon: count('Deal', ({ status }) => status === 'won'),
    calls: count('Call', ({ status }) => status === 'completed'),
    appointments: count('Appointment', ({ status }) => status !== 'cancelled'),
    submissions: count('Submission'),
  };
}

// Others may refer to them meanwhile, as what is about to be kept does already.
const holdContacts = statement({
  name: 'holdContactsToScore',
  takes: { ids: listOf(uuid) },
  row: { id: uuid },
  locks: true,
  text: ({ account, ids }) => sql`
    select c.id from contacts c where c.account_id = ${account} and c.id = any(${ids}) order by c.id for no key update`,
});

/**
 * What contacts did, those included who wait to be inserted; messages up to the number that counts. Their scores are about to be kept:
 * nobody else keeps one of them meanwhile, so that each counts what the one before has done.
 */
async function engagementsOf(ctx: Context, ids: readonly string[], now: Date): Promise<RowOf<typeof engagement>[]> {
  const waiting = new Set(ctx.waiting('Contact').map(({ id }) => id));
  const [made, known] = [ids.filter((id) => waiting.has(id)), ids.filter((id) => !waiting.has(id))];
  if (known.length > 0 && isPessimistic(ctx)) await ctx.rows(holdContacts, { ids: known });
  const read = known.length > 0 ? await ctx.rows(engagementOf, { ids: known, now, most: mostInbound }) : [];
  for (const { id, xmin } of read) if (xmin !== null) requireVersion(ctx, contactRows, { id, xmin });
  return [...made.map((id) => engagementWaiting(ctx, id)), ...read];
}

const total = (factors: ScoreFactor[]) => factors.reduce((sum, factor) => sum + factor.points, 0);

/** Contract GET /contacts/{id}/score, computed from what is there now. */
export async function scoreContact(ctx: Context, id: string): Promise<ContactScore> {
  const contact = await getContact(ctx, id);
  const [engaged] = await ctx.rows(engagementOf, { ids: [contact.id], now: ctx.now(), most: null });
  const factors = factorsOf(engaged!);
  return { contactId: contact.id, score: total(factors), maxScore: 100, factors, updatedAt: contact.scoredAt ?? contact.createdAt };
}

/** The scores of contacts as they are now, with the moment, as their rows keep them. */
export async function scoresOf(ctx: Context, ids: readonly string[]) {
  const now = ctx.now();
  const all = await engagementsOf(ctx, [...new Set(ids)].sort(), now);
  return all.map((engaged) => ({ id: engaged.id, score: { leadScore: total(factorsOf(engaged)), scoredAt: now } }));
}

/** Keeps the stored scores and the times of the last activity of contacts with whom something happened. */
const rescoreContact = batched<void>(async (ctx, ids) => {
  for (const { id, score } of await scoresOf(ctx, ids)) ctx.touch('Contact', id, { ...score, lastActivityAt: score.scoredAt });
  return ids.map(() => undefined);
});

/** What the row of a contact keeps once they wrote to us. */
export interface WriterScore {
  leadScore: number;
  scoredAt: Date;
  lastActivityAt: Date;
}

/** The scores of contacts that count one inbound message of each, which is about to be kept. */
export const scoreOfWriter = batched<WriterScore>(async (ctx, ids) => {
  const now = ctx.now();
  const engaged = await engagementsOf(ctx, ids, now);
  const scores = new Map(engaged.map((one) => [one.id, total(factorsOf({ ...one, inbound: one.inbound + 1, recent: true }))]));
  return ids.map((id) => ({ leadScore: scores.get(id)!, scoredAt: now, lastActivityAt: now }));
});

/** Something happened with a contact: together with what happens to others at the same moment. */
export async function onActivity(ctx: Context, { contactId }: Pick<DomainEvent, 'contactId'>): Promise<void> {
  if (contactId) await rescoreContact(ctx, contactId);
}

/** The score of a contact whose deal was opened again, handed to another contact, or deleted: the points go with it. */
export async function onDealChange(ctx: Context, event: DomainEvent): Promise<void> {
  const { name, contactId, changes } = event;
  const from = changes?.contactId?.from as string | null | undefined;
  const isOpened = changes?.status?.to === 'open';
  if (name === 'deal.deleted' || changes?.deletedAt || changes?.contactId || isOpened) await onActivity(ctx, { contactId });
  if (from) await onActivity(ctx, { contactId: from });
}

/** The score of a contact whose call or appointment stands otherwise than before, is another contact's now, or is deleted. */
export async function onMeetingChange(ctx: Context, { name, contactId, changes }: DomainEvent): Promise<void> {
  if (name === 'appointment.deleted' || changes?.status || changes?.contactId) await onActivity(ctx, { contactId });
  const from = changes?.contactId?.from as string | null | undefined;
  if (from) await onActivity(ctx, { contactId: from });
}

/** Keeps the time of the last activity where something happened that moves no score. */
export async function touchContact(ctx: Context, { contactId }: Pick<DomainEvent, 'contactId'>): Promise<void> {
  if (contactId) ctx.touch('Contact', contactId, { lastActivityAt: ctx.now() });
}
