import type { Context } from '../../kernel/context/context.js';
import { instant, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { DomainEvent } from '../../kernel/events/changes.js';
import { mergedInto } from '../contacts/contact.followMerge.js';
import { emitInvoice, readInvoices } from './invoice.service.js';

const follow = statement({
  name: 'followMergedContact',
  takes: { from: uuid, to: uuid, now: instant },
  row: { id: uuid },
  changes: true,
  text: ({ account, from, to, now }) => sql`
    update invoices set contact_id = ${to}, updated_at = ${now} where account_id = ${account} and contact_id = ${from} returning id`,
});

/** Contract POST /contacts/merge: the invoices are to the contact that is kept. */
export async function onContactDeleted(ctx: Context, event: DomainEvent): Promise<void> {
  const [from, to] = [event.record.id, mergedInto(event)];
  if (!to) return;
  const ids = (await ctx.rows(follow, { from, to, now: ctx.now() })).map(({ id }) => id);
  const invoices = ids.length > 0 ? await readInvoices(ctx, ids) : [];
  await Promise.all(invoices.map((invoice) => emitInvoice(ctx, invoice, { ...invoice, contactId: from })));
}
