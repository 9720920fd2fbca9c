import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { contract } from '../../src/app.js';
import { EqualityFilters, QueryDependencies } from '../../src/graphql/live.dependencies.js';
import type { ListPlan } from '../../src/graphql/live.plan.js';
import type { App, Context } from '../../src/kernel/context/context.js';
import { columnName } from '../../src/kernel/database/sql.js';
import type { FeedEvent } from '../../src/kernel/events/feedStore.js';
import { registryOf } from '../../src/kernel/module/module.js';
import { messageTable } from '../../src/modules/messages/message.table.js';
import { enrollmentTable } from '../../src/modules/sequences/enrollment.table.js';
import { modules } from '../../src/modules.js';

const { schema } = contract();
const app = { registry: registryOf(modules, () => schema) } as App;
const anyList = { mayShow: () => true } as unknown as EqualityFilters;
const ofProduct = { type: 'Product', data: {} } as FeedEvent;

/** Whether an event of a product has a live query read again that was read from a table. */
function isReadAgain(table: string, column = 'id'): boolean {
  const dependencies = new QueryDependencies(app, [anyList]);
  dependencies.note(`select t.${column} from ${table} t where t.account_id = $1`);
  return dependencies.isBy(ofProduct);
}

describe('a live query is read again after an event of a product', () => {
  it('where it read products, and not where it read other records', () => {
    expect(['products', 'tags', 'notes'].map((table) => isReadAgain(table))).toEqual([true, false, false]);
    expect(isReadAgain('memberships')).toBe(false);
  });

  const untold = modules.flatMap(({ tables = [] }) =>
    tables.flatMap(({ name, options: { withoutEvents = [] } }) => withoutEvents.map((field) => [name, columnName(field)] as const)),
  );
  it.each(untold)('where it read of %s the column %s, which changes without a word of it', (table, column) => {
    expect(isReadAgain(table, column)).toBe(true);
  });

  it.each(['activities', 'conversations', 'imports', 'import_rows', 'custom_field_cleanups', 'webhook_deliveries'])(
    'where it read %s, of whose rows no event of theirs tells',
    (table) => expect(isReadAgain(table)).toBe(true),
  );
});

describe('a live list of messages of one status', () => {
  const list = (status: string) => {
    const plan = { table: messageTable, args: { filter: { status } }, leadsBack: false, computed: [] };
    return new EqualityFilters({ app } as Context, plan as unknown as ListPlan);
  };
  /** Whether it looks at what is told of a message: its status, and the one that it is said to have had. */
  const looksAt = (status: string, to: string, from?: string) =>
    list(status).mayShow('messages', { data: { status: to }, changes: from && { status: { from, to } } } as unknown as FeedEvent);

  it.each([
    ['queued', 'sent', 'sending'],
    ['queued', 'failed', 'sending'],
    ['queued', 'sending', undefined],
    ['sending', 'sent', 'sending'],
    ['sending', 'received', undefined],
    ['delivered', 'delivered', 'sent'],
    ['sent', 'delivered', 'sent'],
  ])('%s looks at one that is told as %s, from %s: it may have shown it', (status, to, from) => {
    expect(looksAt(status, to, from)).toBe(true);
  });

  it.each([
    ['queued', 'delivered', 'sent'],
    ['queued', 'received', undefined],
    ['received', 'sent', 'sending'],
    ['scheduled', 'failed', 'sending'],
  ])('%s passes over one that is told as %s, from %s', (status, to, from) => {
    expect(looksAt(status, to, from)).toBe(false);
  });
});

describe('a live list of the enrollments in one sequence', () => {
  it('looks at what is told of these, and passes over one in another', () => {
    const [own, other] = [v7(), v7()];
    const plan = { table: enrollmentTable, args: { filter: { sequenceId: own } }, leadsBack: false, computed: [] };
    const list = new EqualityFilters({ app } as Context, plan as unknown as ListPlan);
    const looksAt = (sequenceId: string) => list.mayShow('enrollments', { data: { sequenceId }, changes: null } as unknown as FeedEvent);
    expect([looksAt(own), looksAt(other)]).toEqual([true, false]);
  });
});
