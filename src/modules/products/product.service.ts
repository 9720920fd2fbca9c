import { found } from '../../kernel/base/errors.js';
import { plainAmount } from '../../kernel/base/money.js';
import { defined } from '../../kernel/base/objects.js';
import { type Batch, type Context, validId } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { emptyRow, listOf, type RowOf, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/facts.js';
import { listRows } from '../../kernel/lists/list.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateProductInput, ProductList, UpdateProductInput } from './product.model.js';
import { productTable } from './product.table.js';

const { shape: row, columns } = productTable;
export type ProductRow = RowOf<typeof row>;

/** Contract GET /products: the catalog, without what is archived unless inactive products are asked for. */
export const listProducts = (ctx: Context, args: ProductList) => listRows<ProductRow>(ctx, productTable, args);

const byId = statement({
  name: 'productById',
  takes: { id: uuid },
  row,
  planned: true,
  text: ({ account, id }) => sql`select ${columns} from products t where t.account_id = ${account} and t.id = ${id}`,
});

/** One product, an archived one too: invoices go on naming it. */
export async function getProduct(ctx: Context, id: string): Promise<ProductRow> {
  const [product] = await ctx.rows(byId, { id: validId(id, 'Product') });
  return found(product, 'Product');
}

const toChange = rowsToChange(productTable);

const byIds = statement({
  name: 'productsById',
  takes: { ids: listOf(uuid) },
  row,
  shared: true,
  text: ({ account, ids }) => sql`select ${columns} from products t where t.account_id = ${account} and t.id = any(${ids})`,
});

/** Products by id, for many keys in one statement, archived ones too. */
export const productsById: Batch<ProductRow | null> = async (ctx, ids) => inOrder(ids, await ctx.rows(byIds, { ids }), (row) => row.id);

const blank = { ...emptyRow(row), taxable: true, isActive: true };

/** Contract POST /products. */
export async function createProduct(ctx: Context, input: CreateProductInput) {
  checkTrial(ctx);
  const product = ctx.insert('Product', {
    ...blank,
    ...{ currency: ctx.caller.account.currency },
    ...defined(input),
  });
  await ctx.emit({ name: 'product.created', record: product });
  return product;
}

/** Contract PATCH /products/{id}: an archived product that becomes active is back in the catalog. */
export async function updateProduct(ctx: Context, id: string, input: UpdateProductInput) {
  const before = await ctx.forChange(toChange, id);
  const given = { ...defined(input), ...(input.isActive && { archivedAt: null }) };
  const changes = changesBetween(comparable(before), comparable({ ...before, ...given }), Object.keys(given));
  if (Object.keys(changes).length === 0) return before;
  const saved = ctx.update('Product', before, given);
  await ctx.emit({ name: 'product.updated', record: saved, changes });
  return saved;
}

const comparable = (product: ProductRow) => ({ ...product, price: plainAmount(product.price) });

/** Contract DELETE /products/{id}: archived and so inactive; the row stays, and new invoices may still name it. */
export async function archiveProduct(ctx: Context, id: string) {
  const product = await ctx.forChange(toChange, id);
  if (!product.archivedAt) {
    const archived = ctx.update('Product', product, { archivedAt: ctx.now(), isActive: false });
    const changes = changesBetween(product, archived, ['isActive', 'archivedAt']);
    await ctx.emit({ name: 'product.deleted', record: archived, changes, also: { 'product.archived': ['isActive', 'archivedAt'] } });
  }
  return { archivedId: product.id, archived: true };
}
