import type { Batch, Context } from '../../kernel/context/context.js';
import { sql, statement } from '../../kernel/database/sql.js';
import type { Fact } from '../../kernel/events/facts.js';
import type { ContactScore, ScoreFactor } from './contact.model.js';
import { getContact } from './contact.service.js';

interface Engagement {
  id: string;
  inbound: number;
  deals_open: number;
  deals_won: number;
  calls: number;
  appointments: number;
  submissions: number;
  recent: boolean;
}

const engagementOf = statement<Engagement, [readonly string[], Date]>((account, ids, now) => {
  const own = sql`account_id = ${account}::uuid and contact_id = i.id`;
  return sql`select i.id,
    (select count(*)::int from messages where ${own} and direction = 'inbound') as inbound,
    (select count(*)::int from deals where ${own} and deleted_at is null and status = 'open') as deals_open,
    (select count(*)::int from deals where ${own} and deleted_at is null and status = 'won') as deals_won,
    (select count(*)::int from calls where ${own} and status = 'completed') as calls,
    (select count(*)::int from appointments where ${own} and deleted_at is null and status <> 'cancelled') as appointments,
    (select count(*)::int from submissions where ${own}) as submissions,
    exists (select 1 from messages where ${own} and direction = 'inbound'
      and created_at > ${now}::timestamptz - interval '14 days') as recent
    from unnest(${ids}::uuid[]) i(id)`;
});

/** Points for what a person did, capped factor by factor so that they sum to 100; a new contact has none. */
function factorsOf(e: Engagement): ScoreFactor[] {
  const factor = (key: string, label: string, points: number, detail: string) => ({ key, label, points, detail });
  return [
    factor('replies', 'Wrote to us', Math.min(25, e.inbound * 5), `${e.inbound} inbound messages`),
    factor('recent_reply', 'Wrote lately', e.recent ? 10 : 0, 'an inbound message within 14 days'),
    factor('open_deals', 'Has open deals', Math.min(20, e.deals_open * 10), `${e.deals_open} open deals`),
    factor('won_deals', 'Has bought', Math.min(20, e.deals_won * 20), `${e.deals_won} won deals`),
    factor('calls', 'Spoke with us', Math.min(10, e.calls * 5), `${e.calls} completed calls`),
    factor('appointments', 'Met with us', Math.min(10, e.appointments * 5), `${e.appointments} appointments`),
    factor('forms', 'Filled in a form', Math.min(5, e.submissions * 5), `${e.submissions} submissions`),
  ];
}

const total = (factors: ScoreFactor[]) => factors.reduce((sum, factor) => sum + factor.points, 0);

/** Contract GET /contacts/{id}/score, computed from what is there now. */
export async function scoreContact(ctx: Context, id: string): Promise<ContactScore> {
  const contact = await getContact(ctx, id);
  const [engagement] = await ctx.query(engagementOf, [contact.id], ctx.now());
  const factors = factorsOf(engagement!);
  return { contactId: contact.id, score: total(factors), maxScore: 100, factors, updatedAt: contact.scoredAt ?? contact.createdAt };
}

/** Keeps the stored scores and the times of the last activity of contacts with whom something happened. */
export const rescore: Batch<void> = async (ctx, ids) => {
  const now = ctx.now();
  for (const { id, ...engagement } of await ctx.query(engagementOf, [...new Set(ids)].sort(), now)) {
    const leadScore = total(factorsOf({ id, ...engagement }));
    ctx.update('Contact', { id }, { leadScore, scoredAt: now, lastActivityAt: now });
  }
  return ids.map(() => undefined);
};

/** Something happened with a contact: together with what happens to others at the same moment. */
export async function onActivity(ctx: Context, { contactId }: Pick<Fact, 'contactId'>): Promise<void> {
  if (contactId) await ctx.load.activityOfContact.fresh(contactId);
}

/** The score of a contact whose deal was opened again, handed to another contact, or deleted: the points go with it. */
export async function onDealChange(ctx: Context, fact: Fact): Promise<void> {
  const { name, contactId, changes } = fact;
  const from = changes?.contactId?.from as string | null | undefined;
  const isOpened = changes?.status?.to === 'open';
  if (name === 'deal.deleted' || changes?.deletedAt || changes?.contactId || isOpened) await onActivity(ctx, { contactId });
  if (from) await onActivity(ctx, { contactId: from });
}

/** Keeps the time of the last activity where something happened that moves no score. */
export async function touchContact(ctx: Context, { contactId }: Pick<Fact, 'contactId'>): Promise<void> {
  if (contactId) ctx.update('Contact', { id: contactId }, { lastActivityAt: ctx.now() });
}
