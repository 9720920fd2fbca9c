import type { Context } from '../../kernel/context.js';
import { invalid } from '../../kernel/errors.js';
import { sql, statement } from '../../kernel/sql.js';
import type { InvoiceItemFields } from './invoice.model.js';

interface Links {
  contactId?: string | null;
  companyId?: string | null;
  dealId?: string | null;
}

const missing = statement<{ field: string }, [links: Links, products: string[]]>(
  (account, { contactId = null, companyId = null, dealId = null }, products) => sql`
    select v.field from (values ('contactId', ${contactId}::uuid), ('companyId', ${companyId}::uuid), ('dealId', ${dealId}::uuid)) v(field, id)
    where v.id is not null and v.id not in (
      select id from contacts where account_id = ${account}::uuid and id = ${contactId}::uuid and deleted_at is null
      union all select id from companies where account_id = ${account}::uuid and id = ${companyId}::uuid and deleted_at is null
      union all select id from deals where account_id = ${account}::uuid and id = ${dealId}::uuid and deleted_at is null)
    union all
    select p.id::text from unnest(${products}::uuid[]) p(id)
    where not exists (select 1 from products g where g.account_id = ${account}::uuid and g.id = p.id)`,
);

/** Throws 400 naming every id that no live record of the workspace has. A product may be archived. */
export async function checkReferences(ctx: Context, links: Links, items: readonly InvoiceItemFields[]): Promise<void> {
  const products = items.flatMap(({ productId }) => productId ?? []);
  if (products.length === 0 && !links.contactId && !links.companyId && !links.dealId) return;
  const names = new Set((await ctx.query(missing, links, products)).map(({ field }) => field));
  const lines = items.flatMap(({ productId }, i) => (productId && names.has(productId) ? [`items.${i}.productId`] : []));
  const fields = [...['contactId', 'companyId', 'dealId'].filter((name) => names.has(name)), ...lines];
  if (fields.length > 0) throw invalid(fields.map((field) => ({ field, message: 'names no record of this account' })));
}
