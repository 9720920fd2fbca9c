import type { Context } from '../../kernel/context/context.js';
import { listOf, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

/** A record as an event told it. */
interface EventRecord {
  type: string | null;
  data: Readonly<Record<string, unknown>>;
}

const idOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** The contact that a record is about: itself, or the one that it names. */
export function contactOf({ type, data }: EventRecord): string | null {
  return idOf(type === 'Contact' ? data.id : (data.contactId ?? (data.contact as { id?: unknown } | null)?.id));
}

/** The deal or the invoice whose contact a record is about that names none itself: a payment, the task of a deal. */
const leadOf = (told: EventRecord): string | null =>
  contactOf(told) === null ? (idOf(told.data.invoiceId) ?? idOf(told.data.dealId)) : null;

/** The deals and invoices that lead from records to contacts. */
export const leadsOf = (records: readonly EventRecord[]): string[] => [...new Set(records.flatMap((told) => leadOf(told) ?? []))];

/** Deals and invoices with the contacts that they are of, as a select of `id` and `contact`: an invoice without one is its deal's. */
export const ledTo = (account: Sql, leads: Sql): Sql => sql`
  select l.id, c.id as contact from (
    select d.id, d.contact_id from deals d where d.account_id = ${account} and d.id = any(${leads})
    union all
    select i.id, coalesce(i.contact_id, d.contact_id) from invoices i
      left join deals d on d.account_id = i.account_id and d.id = i.deal_id
    where i.account_id = ${account} and i.id = any(${leads})) l
  join contacts c on c.account_id = ${account} and c.id = l.contact_id and c.deleted_at is null`;

/** A deal or an invoice, and whose it is. */
export interface Led {
  id: string;
  contact: string;
}

const led = statement({
  name: 'contactsOfDealsAndInvoices',
  takes: { leads: listOf(uuid) },
  row: { id: uuid, contact: uuid },
  text: ({ account, leads }) => ledTo(account, leads),
});

/** Whom a record is about, by what deals and invoices lead to. */
export function aboutWhom(found: readonly Led[]): (told: EventRecord) => string | null {
  const contacts = new Map(found.map(({ id, contact }) => [id, contact]));
  return (told) => contactOf(told) ?? contacts.get(leadOf(told) ?? '') ?? null;
}

/** Whom each of some records is about. Deals and invoices are read only where a record names no contact itself. */
export async function contactsOf(ctx: Context, records: readonly EventRecord[]): Promise<(told: EventRecord) => string | null> {
  const leads = leadsOf(records);
  return aboutWhom(leads.length > 0 ? await ctx.rows(led, { leads }) : []);
}
