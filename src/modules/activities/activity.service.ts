import { readableTypes } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { allOf, type Sql, sql } from '../../kernel/database/sql.js';
import { since, until } from '../../kernel/lists/dateRanges.js';
import { type Conditions, conditionsOf } from '../../kernel/lists/filterSql.js';
import { byTime, type ListSpec, listRows } from '../../kernel/lists/list.js';
import { selectList, shapeOf } from '../../kernel/lists/modelRow.js';
import { relatedRows } from '../../kernel/lists/relatedRows.js';
import { contains } from '../../kernel/lists/searchPatterns.js';
import { checkReferences } from '../../kernel/operations/references.js';
import { touchContact } from '../contacts/contact.score.js';
import { touchDeal } from '../deals/deal.reactions.js';
import { checkTrial } from '../plans/plan.limits.js';
import { Activity, type ActivityFilter, type ActivityList, type ActivitySort, type CreateActivityInput } from './activity.model.js';

const row = shapeOf(Activity);
const { timestamp: _at, ...kept } = row;
const columns = sql`${selectList(kept, 't')}, t.created_at as "timestamp"`;

const listing: ListSpec<keyof typeof ActivitySort> = {
  table: 'activities',
  columns,
  row,
  live: sql`true`,
  sorts: { timestamp: byTime('created_at') },
  byDefault: ['timestamp', 'desc'],
};

const conditions: Conditions<ActivityFilter> = {
  contactId: (id) => sql`t.contact_id = ${id}::uuid`,
  dealId: (id) => sql`t.deal_id = ${id}::uuid`,
  type: (type) => sql`t.type = ${type}`,
  fromDate: (moment, ctx) => since('t.created_at', moment, ctx),
  toDate: (moment, ctx) => until('t.created_at', moment, ctx),
  search: (text) => sql`(${contains('t.title', text)} or ${contains('t.description', text)} or ${contains('t.user_name', text)})`,
  entityId: (id) => sql`t.entity_id = ${id}::uuid`,
  userId: (id) => sql`t.user_id = ${id}::uuid`,
};

/** What a change says of a record is for those who may read such records; a key's scopes hold here as for events. */
function readable(ctx: Context): Sql[] {
  const types = readableTypes(ctx.app.registry.schema(), ctx.caller.scopes);
  return types ? [sql`(t.entity_type is null or t.entity_type = any(${types}))`] : [];
}

/** The newest entries that the caller may read, as a select. */
export const latestActivities = (ctx: Context, most: number): Sql => sql`
  select ${columns} from activities t where t.account_id = ${ctx.caller.account.id}::uuid and ${allOf(readable(ctx))}
  order by t.created_at desc, t.id desc limit ${most}::int`;

/** Contract GET /activities: entries written by hand and the changes of all records in one list, newest first. */
export const listActivities = (ctx: Context, args: ActivityList) =>
  listRows<Activity, keyof typeof ActivitySort>(ctx, listing, args, [...conditionsOf(conditions, ctx, args.filter), ...readable(ctx)]);

const ofParent = (parent: string) =>
  relatedRows<Activity>({
    ...{ table: 'activities', columns, row, parent },
    live: (ctx) => readable(ctx)[0] ?? sql`true`,
  });

/** What happened with contacts, newest first. */
export const activitiesOfContacts = ofParent('contact_id');
/** What happened with deals, newest first. */
export const activitiesOfDeals = ofParent('deal_id');
/** The changes of companies, newest first. */
export const activitiesOfCompanies = ofParent('entity_id');

/** What only a change of a record leaves. */
const byHand = { entityType: null, entityId: null, action: null, changes: null };

/** Contract POST /activities: an entry written by hand, in the caller's name. */
export async function createActivity(ctx: Context, input: CreateActivityInput): Promise<Activity> {
  const { type, title, description = null, contactId = null, dealId = null, metadata = null } = input;
  await checkReferences(ctx, { contactId: 'contact', dealId: 'deal' }, { contactId, dealId });
  checkTrial(ctx);
  const { userId, userName } = ctx.caller;
  const row = ctx.insert('Activity', { type, title, description, contactId, dealId, metadata, ...byHand, userId, userName });
  await touchContact(ctx, { contactId });
  await touchDeal(ctx, { dealId });
  return { ...row, timestamp: row.createdAt };
}
