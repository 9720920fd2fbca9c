import { sql } from '../../kernel/database/sql.js';
import { byNumber, byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { holdsTerm, lowered } from '../../kernel/tables/searchPatterns.js';
import { asksFor } from '../../kernel/tables/whereInput.js';
import { Product, ProductConnection, ProductList } from './product.model.js';

// As the index products_search spells it.
const searchText = sql`(' ' || ${lowered('t.name')} || ' ' || ${lowered("coalesce(t.sku, '')")})`;

/** The catalog. An archived product is listed only among the inactive ones; invoices go on naming it. */
export const productTable = table({
  row: modelRow('Product', Product),
  list: ProductList,
  page: ProductConnection,
  toldBy: { active: 'isActive' },
  computed: {
    active: {
      sql: sql`t.is_active`,
      of: (product: Product) => product.isActive,
      type: () => Boolean,
      description: 'The same as isActive',
      record: [],
    },
  },
  listed: sql`t.archived_at is null`,
  sorts: {
    createdAt: byTime('created_at'),
    updatedAt: byTime('updated_at'),
    name: byText('name', false),
    price: byNumber('price', 'numeric', true),
  },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    search: (text) => holdsTerm(searchText, text),
    isActive: (isActive) => sql`t.is_active = ${isActive}`,
  },
  asked: (_ctx, { filter, where }, conditions) => {
    const isOfInactive = filter?.isActive === false || ['isActive', 'active'].some((name) => asksFor(where, name, false));
    return { conditions, live: isOfInactive ? sql`true` : undefined };
  },
});
