import { describe, expect, it } from '@jest/globals';
import { contract } from '../../src/app.js';
import { type EqualityFilters, QueryDependencies } from '../../src/graphql/live.dependencies.js';
import type { App } from '../../src/kernel/context/context.js';
import type { FeedEvent } from '../../src/kernel/events/feedStore.js';
import { registryOf } from '../../src/kernel/module/module.js';
import { modules } from '../../src/modules.js';

const { schema } = contract();
const app = { registry: registryOf(modules, () => schema) } as App;
const anyList = { mayShow: () => true } as unknown as EqualityFilters;
const ofProduct = { type: 'Product', data: {} } as FeedEvent;

/** Whether an event of a product has a live query read again that was read from a table. */
function isReadAgain(table: string): boolean {
  const dependencies = new QueryDependencies(app, [anyList]);
  dependencies.note(`select t.id from ${table} t where t.account_id = $1`);
  return dependencies.isBy(ofProduct);
}

describe('a live query is read again after an event of a product', () => {
  it('where it read products, and not where it read other records', () => {
    expect(['products', 'tags', 'notes'].map(isReadAgain)).toEqual([true, false, false]);
  });

  it.each(['activities', 'conversations', 'imports', 'import_rows', 'custom_field_cleanups', 'webhook_deliveries'])(
    'where it read %s, of whose rows no event of theirs tells',
    (table) => expect(isReadAgain(table)).toBe(true),
  );
});
