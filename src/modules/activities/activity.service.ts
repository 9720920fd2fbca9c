import { type Context, validId } from '../../kernel/context/context.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { listRows } from '../../kernel/lists/list.js';
import { checkReferences } from '../../kernel/operations/references.js';
import { touchContact } from '../contacts/contact.score.js';
import { touchDeal } from '../deals/deal.reactions.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { Activity, ActivityList, CreateActivityInput } from './activity.model.js';
import { activityTable, readable } from './activity.table.js';

/** The newest entries that the caller may read, as a select. */
export const latestActivities = (ctx: Context, most: number): Sql => sql`
  select ${activityTable.columns} from activities t where t.account_id = ${ctx.caller.account.id}::uuid and ${readable(ctx) ?? sql`true`}
  order by t.created_at desc, t.id desc limit ${most}::int`;

/** Contract GET /activities: entries written by hand and the changes of all records in one list, newest first. */
export const listActivities = (ctx: Context, args: ActivityList) => listRows<Activity>(ctx, activityTable, args);

/** One entry that the caller may read, or null. */
export async function findActivity(ctx: Context, id: string): Promise<Activity | null> {
  const { columns, shape } = activityTable;
  const own = sql`t.account_id = ${ctx.caller.account.id}::uuid and t.id = ${validId(id, 'Activity')}::uuid`;
  const [entry] = await ctx.select(shape, sql`select ${columns} from activities t where ${own} and ${readable(ctx) ?? sql`true`}`);
  return (entry as Activity | undefined) ?? null;
}

/** What only a change of a record leaves. */
const byHand = { entityType: null, entityId: null, action: null, changes: null, names: null };

/** Contract POST /activities: an entry written by hand, in the caller's name. */
export async function createActivity(ctx: Context, input: CreateActivityInput): Promise<Activity> {
  const { id, type, title, description = null, contactId = null, dealId = null, metadata = null } = input;
  await checkReferences(ctx, { contactId: 'contact', dealId: 'deal' }, { contactId, dealId });
  checkTrial(ctx);
  const { userId, userName } = ctx.caller;
  const row = ctx.insert('Activity', { id, type, title, description, contactId, dealId, metadata, ...byHand, userId, userName });
  await touchContact(ctx, { contactId });
  await touchDeal(ctx, { dealId });
  const entry = { ...row, timestamp: row.createdAt };
  await ctx.emit({ name: 'activity.created', record: entry, contactId, dealId, logged: false });
  return entry;
}
