import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { Archived } from '../../kernel/model/removal.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { polymorphicRecord } from '../../kernel/tables/answerField.js';
import { Product, productEvents } from './product.model.js';
import { ProductResolver } from './product.resolver.js';
import { getProduct } from './product.service.js';
import { productTable } from './product.table.js';

const body = { active: 'isActive' };

export default defineModule({
  name: 'products',
  about: 'The products and services that are sold',
  events: [recordFeed(productEvents, { record: () => Product, find: getProduct, access: { scope: 'products' } })],
  tables: [productTable],
  resolvers: [ProductResolver],
  answers: polymorphicRecord(Archived, 'The record as it is now; null where it can no longer be read, as a webhook'),
  routes: [
    list('GET /products', 'products', { as: 'page', query: { active: 'filter.isActive' } }),
    make('POST /products', 'createProduct', { body, also: [402] }),
    read('GET /products/{id}', 'product'),
    edit('PATCH /products/{id}', 'updateProduct', { body }),
    drop('DELETE /products/{id}', 'archiveProduct'),
  ],
});
