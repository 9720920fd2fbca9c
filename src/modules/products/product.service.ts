import { withPlainAmounts } from '../../kernel/base/money.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, type RowOf } from '../../kernel/database/kinds.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { getRow, listRows } from '../../kernel/lists/list.js';
import { archiving } from '../../kernel/operations/archive.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateProductInput, ProductList, UpdateProductInput } from './product.model.js';
import { productTable } from './product.table.js';

const { shape: row } = productTable;
export type ProductRow = RowOf<typeof row>;

/** Contract GET /products: the catalog, without what is archived unless inactive products are asked for. */
export const listProducts = (ctx: Context, args: ProductList) => listRows<ProductRow>(ctx, productTable, args);

/** One product, an archived one too: invoices go on naming it. */
export const getProduct = (ctx: Context, id: string) => getRow<ProductRow>(ctx, productTable, id);

const productRows = rowsToChange(productTable);

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
  const before = await ctx.forChange(productRows, id);
  const given = { ...defined(input), ...(input.isActive && { archivedAt: null }) };
  const changes = changesBetween(comparable(before), comparable({ ...before, ...given }), Object.keys(given));
  if (isNothing(changes)) return before;
  const saved = ctx.update('Product', before, given);
  await ctx.emit({ name: 'product.updated', record: saved, changes });
  return saved;
}

const comparable = (product: ProductRow) => withPlainAmounts(product, ['price']);

/** Contract DELETE /products/{id}: archived and so inactive; the row stays, and new invoices may still name it. */
export const archiveProduct = archiving({ type: 'Product', noun: 'product' }, productRows);
