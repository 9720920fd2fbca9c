import { invalid } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { listOf, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { missingReferences, nobody, type ReferenceKinds } from '../../kernel/operations/references.js';
import type { InvoiceItemFields } from './invoice.model.js';

export const links: ReferenceKinds<'contactId' | 'companyId' | 'dealId'> = { contactId: 'contact', companyId: 'company', dealId: 'deal' };

type Links = Partial<Record<keyof typeof links, string | null>>;

const unknownProducts = statement({
  name: 'unknownProducts',
  takes: { products: listOf(uuid) },
  row: { id: uuid },
  shared: true,
  text: ({ account, products }) => sql`
    select p.id from unnest(${products}) p(id)
    where not exists (select 1 from products g where g.account_id = ${account} and g.id = p.id)`,
});

/** Throws 400 naming every id that no live record of the workspace has. A product may be archived. */
export async function checkLinks(ctx: Context, body: Links, items: readonly InvoiceItemFields[]): Promise<void> {
  const products = items.flatMap(({ productId }) => productId ?? []);
  const unknown = new Set(products.length > 0 ? (await ctx.rows(unknownProducts, { products })).map(({ id }) => id) : []);
  const lines = items.flatMap(({ productId }, i) => (productId && unknown.has(productId) ? [`items.${i}.productId`] : []));
  const fields = [...(await missingReferences(ctx, links, body)), ...lines];
  if (fields.length > 0) throw invalid(fields.map((field) => ({ field, ...nobody })));
}
