import { found } from '../../kernel/base/errors.js';
import { plainAmount } from '../../kernel/base/money.js';
import { defined } from '../../kernel/base/objects.js';
import { type Batch, type Context, validId } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { emptySql, type Sql, selectList, sql, statement } from '../../kernel/database/sql.js';
import { type Changes, changesBetween } from '../../kernel/events/facts.js';
import { byText, byTime, type ListSpec, listRows } from '../../kernel/lists/list.js';
import { wordPattern } from '../../kernel/lists/searchPatterns.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateProductInput, Product, ProductFilter, ProductList, ProductSort, UpdateProductInput } from './product.model.js';

const columns = selectList('Product', 't');

const listing: ListSpec<keyof typeof ProductSort> = {
  table: 'products',
  columns,
  live: sql`t.archived_at is null`,
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
};

// As the index products_search spells it.
const searchText = sql`(' ' || lower(t.name collate "und-x-icu") || ' ' || lower(coalesce(t.sku, '') collate "und-x-icu"))`;

/** Contract GET /products: the catalog, without what is archived unless inactive products are asked for. */
export function listProducts(ctx: Context, { filter, ...args }: ProductList) {
  const spec = filter?.isActive === false ? { ...listing, live: sql`true` } : listing;
  return listRows<Product, keyof typeof ProductSort>(ctx, spec, args, conditions(filter ?? {}));
}

const conditions = ({ search, isActive }: ProductFilter): Sql[] => [
  ...(search ? [sql`${searchText} like ${wordPattern(search)}`] : []),
  ...(typeof isActive === 'boolean' ? [sql`t.is_active = ${isActive}`] : []),
];

const byId = statement<Product, [id: string, lock: boolean]>(
  (account, id, lock) => sql`select ${columns} from products t
    where t.account_id = ${account}::uuid and t.id = ${id}::uuid ${lock ? sql`for update` : emptySql}`,
);

/** One product, an archived one too: invoices go on naming it. */
export async function getProduct(ctx: Context, id: string): Promise<Product> {
  const [product] = await ctx.read(byId, validId(id, 'Product'), false);
  return found(product, 'Product');
}

async function lockProduct(ctx: Context, id: string): Promise<Product> {
  const [product] = await ctx.query(byId, validId(id, 'Product'), true);
  return found(product, 'Product');
}

const byIds = statement<Product, [readonly string[]]>(
  (account, ids) => sql`select ${columns} from products t where t.account_id = ${account}::uuid and t.id = any(${ids}::uuid[])`,
);

/** Products by id, for many keys in one statement, archived ones too. */
export const productsById: Batch<Product | null> = async (ctx, ids) => inOrder(ids, await ctx.query(byIds, ids), (row) => row.id);

const blank = { description: null, price: null, sku: null, unit: null, taxable: true, isActive: true, metadata: null, archivedAt: null };

/** Contract POST /products. */
export async function createProduct(ctx: Context, input: CreateProductInput) {
  checkTrial(ctx);
  const product = ctx.insert('Product', {
    ...blank,
    ...{ currency: ctx.caller.account.currency },
    ...defined(input),
  }) as unknown as Product;
  await tell(ctx, 'product.created', product);
  return product;
}

/** Contract PATCH /products/{id}: an archived product that becomes active is back in the catalog. */
export async function updateProduct(ctx: Context, id: string, input: UpdateProductInput) {
  const before = await lockProduct(ctx, id);
  const given = { ...defined(input), ...(input.isActive && { archivedAt: null }) };
  const changes = changesBetween(comparable(before), comparable({ ...before, ...given }), Object.keys(given));
  if (Object.keys(changes).length === 0) return before;
  const saved = ctx.update('Product', before, given);
  await tell(ctx, 'product.updated', saved, changes);
  return saved;
}

/** The contract has no events of products: who changed what is in the log. */
const tell = (ctx: Context, name: string, record: Product, changes?: Changes) => ctx.log({ name, type: 'Product', record, changes });

const comparable = (product: Product) => ({ ...product, price: plainAmount(product.price) });

/** Contract DELETE /products/{id}: archived and so inactive; the row stays, and new invoices may still name it. */
export async function archiveProduct(ctx: Context, id: string) {
  const product = await lockProduct(ctx, id);
  if (!product.archivedAt) {
    ctx.update('Product', product, { archivedAt: ctx.now(), isActive: false });
    await tell(ctx, 'product.archived', product, { isActive: { from: product.isActive, to: false } });
  }
  return { archivedId: product.id, archived: true };
}
