import { mayUse, readableTypes } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { since, until } from '../../kernel/tables/dateRanges.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { withTotal } from '../../kernel/tables/rowCondition.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { soonDecided } from '../../kernel/tables/sqlCosts.js';
import { Activity, ActivityConnection, ActivityList } from './activity.model.js';

/** What a change says of a record is for those who may read such records; a key's scopes hold here as for events. */
export function readable(ctx: Context): Sql | undefined {
  const { schema, events } = ctx.app.registry;
  const types = readableTypes(schema(), ctx.caller.scopes);
  const hidden = [...events.values()].filter(({ access }) => !mayUse(ctx.caller, access)).map(({ of }) => of.type.toLowerCase());
  const isHidden = new Set(hidden);
  if (types) {
    const shown = types.filter((type) => !isHidden.has(type));
    return withTotal(sql`(t.entity_type is null or t.entity_type = any(${shown}))`, { table: 'activities', of: ['', ...shown] });
  }
  if (isHidden.size === 0) return undefined;
  const others = { table: 'activities', of: [...isHidden], isOthers: true };
  return withTotal(sql`(t.entity_type is null or t.entity_type <> all(${others.of}))`, others);
}

export const activityTable = table({
  row: modelRow('Activity', Activity),
  untold: true,
  list: ActivityList,
  page: ActivityConnection,
  renamed: { timestamp: 'created_at' },
  visible: readable,
  sorts: { timestamp: byTime('created_at') },
  byDefault: ['timestamp', 'desc'],
  conditions: {
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
    dealId: (id) => sql`t.deal_id = ${id}::uuid`,
    type: (type) => sql`t.type = ${type}`,
    fromDate: (moment, ctx) => since('t.created_at', moment, ctx),
    toDate: (moment, ctx) => until('t.created_at', moment, ctx),
    search: (text) =>
      soonDecided(sql`(${contains('t.title', text)} or ${contains('t.description', text)} or ${contains('t.user_name', text)})`),
    entityId: (id) => sql`t.entity_id = ${id}::uuid`,
    userId: (id) => sql`t.user_id = ${id}::uuid`,
  },
});
