import type { Context } from '../../kernel/context/context.js';
import { instant, integer, listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { DomainEvent } from '../../kernel/events/changes.js';
import { changeAll, lockedUpTo } from '../../kernel/operations/changeAll.js';
import { mergedInto } from '../contacts/contact.followMerge.js';
import { becomeOverdue, emitInvoice, type InvoiceRow, readInvoices } from './invoice.service.js';

/** About how many bytes an invoice over the alias `t` has with its lines and payments: of both there may be hundreds. */
const bytes = sql`(coalesce(octet_length(t.notes), 0) + coalesce(octet_length(t.terms), 0)
  + (select coalesce(sum(octet_length(i.description) + 200), 0) from invoice_items i where i.account_id = t.account_id and i.invoice_id = t.id)
  + (select coalesce(sum(coalesce(octet_length(y.notes), 0) + 400), 0) from payments y where y.account_id = t.account_id and y.invoice_id = t.id)
  )::int`;

const ofContact = statement({
  name: 'invoicesOfMergedContact',
  takes: { from: uuid, most: nullable(integer) },
  row: { id: uuid, bytes: integer },
  locks: true,
  text: ({ account, from, most }) => sql`
    select t.id, ${bytes} as bytes from invoices t where t.account_id = ${account} and t.contact_id = ${from} ${lockedUpTo(most)}`,
});

const follow = statement({
  name: 'followMergedContact',
  takes: { ids: listOf(uuid), to: uuid, now: instant },
  row: { id: uuid, status: text },
  changes: true,
  text: ({ account, ids, to, now }) => sql`
    update invoices set contact_id = ${to}, updated_at = ${now} where account_id = ${account} and id = any(${ids}) returning id, status`,
});

interface Followed {
  invoice: InvoiceRow;
  /** The status that it is kept and was told with. */
  status: string;
}

/** Tells that an invoice is to another contact, and, where nobody has been told, that it is overdue. */
async function tellFollowed(ctx: Context, from: string, { invoice, status }: Followed): Promise<void> {
  const asTold = { ...invoice, status: status as InvoiceRow['status'] };
  await emitInvoice(ctx, asTold, { ...asTold, contactId: from });
  if (invoice.status !== status) await becomeOverdue(ctx, invoice);
}

/** Contract POST /contacts/merge: the invoices, however many, are to the contact that is kept. */
export async function onContactDeleted(ctx: Context, event: DomainEvent): Promise<void> {
  const [from, to] = [event.record.id, mergedInto(event)];
  if (!to) return;
  await changeAll(ctx, {
    find: (most) => ctx.rows(ofContact, { from, most }),
    change: async (ids) => {
      const kept = new Map((await ctx.rows(follow, { ids, to, now: ctx.now() })).map(({ id, status }) => [id, status]));
      return (await readInvoices(ctx, ids)).map((invoice) => ({ invoice, status: kept.get(invoice.id)! }));
    },
    tell: (followed) => tellFollowed(ctx, from, followed),
  });
}
