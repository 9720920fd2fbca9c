import type { AccountInfo, Context } from '../../kernel/context/context.js';
import { integer } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { beginOfWeek } from '../../kernel/tables/dateRanges.js';
import { saidByKeys } from '../../kernel/tables/rowCondition.js';
import type { SmartView, SmartViewInfo } from './contact.model.js';

type View = keyof typeof SmartView;

/** Whether the last message of a conversation is inbound, by an alias of its row. */
export function isUnanswered(alias: string): Sql {
  const [inbound, outbound] = [rawSql(`${alias}.last_inbound_at`), rawSql(`${alias}.last_outbound_at`)];
  return sql`(${inbound} is not null and (${outbound} is null or ${inbound} > ${outbound}))`;
}

/**
 * Who waits for us, and from when on. A row for each reason: the last message is inbound and unanswered, and nobody has closed the
 * conversation since, or an open task is overdue.
 */
const waiting = (account: string, now: Date): Sql => sql`
  select v.contact_id, v.last_inbound_at as since from conversations v where v.account_id = ${account}::uuid and v.closed_at is null
  and ${isUnanswered('v')}
  union all
  select k.contact_id, k.due_date from tasks k where k.account_id = ${account}::uuid and k.contact_id is not null
  and k.status <> 'done' and k.due_date < ${now}::timestamptz`;

/** Whether a contact is among those whose keys a select tells. */
const isAmong = (keys: Sql): Sql => saidByKeys(sql`t.id in (select k.key from (${keys}) k)`, { keys });

/** Whether a contact has a live deal, alias `d`, that meets a condition. */
export const hasDeal = ({ id }: Pick<AccountInfo, 'id'>, condition: Sql): Sql =>
  isAmong(sql`select d.contact_id as key from deals d where d.account_id = ${id}::uuid and d.deleted_at is null and ${condition}`);

/** The ready-made views as conditions over the alias `t`. */
const conditions: Record<View, (ctx: Context) => Sql> = {
  needs_follow_up: (ctx) => isAmong(sql`select w.contact_id as key from (${waiting(ctx.caller.account.id, ctx.now())}) w`),
  hot_leads: () => sql`t.lead_score >= 70`,
  new_this_week: (ctx) => sql`t.created_at >= ${beginOfWeek(ctx)}`,
  recently_won: (ctx) =>
    hasDeal(ctx.caller.account, sql`d.status = 'won' and d.closed_at >= ${ctx.now()}::timestamptz - interval '30 days'`),
  untagged: () => sql`t.tag_ids = '{}'`,
  missing_email: () => sql`t.email_lower is null`,
  missing_phone: () => sql`t.phone is null`,
};

const words: Record<View, [name: string, description: string]> = {
  needs_follow_up: [
    'Needs follow-up',
    'The last message is inbound and unanswered, and nobody has closed the conversation since, or an open task is overdue',
  ],
  hot_leads: ['Hot leads', 'Lead score of 70 or more'],
  new_this_week: ['New this week', 'Made since Monday'],
  recently_won: ['Recently won', 'A deal won within 30 days'],
  untagged: ['Untagged', 'Carries no tag'],
  missing_email: ['Missing e-mail', 'Has no e-mail address'],
  missing_phone: ['Missing phone', 'Has no phone number'],
};

/** A view as a condition over the alias `t`. */
export const smartView = (view: View, ctx: Context): Sql => conditions[view](ctx);

/** The contacts of the view needs_follow_up with these columns over the alias `t`, those first that have waited longest. */
export function longestWaiting(ctx: Context, columns: Sql, most: number): Sql {
  const { id } = ctx.caller.account;
  return sql`select ${columns} from (
      select contact_id, min(since) as since from (${waiting(id, ctx.now())}) w group by 1 order by 2, 1) w
    join contacts t on t.account_id = ${id}::uuid and t.id = w.contact_id and t.deleted_at is null
    order by w.since, w.contact_id limit ${most}::int`;
}

const countIn = (account: string, condition: Sql) => sql`select count(*)::int as count from contacts t
  where t.account_id = ${account}::uuid and t.deleted_at is null and ${condition}`;

/** Contract GET /contacts/smart-views: the definitions, each with how many contacts it shows now. */
export async function smartViews(ctx: Context): Promise<SmartViewInfo[]> {
  const views = Object.entries(words) as [View, [string, string]][];
  return Promise.all(
    views.map(async ([key, [name, description]]) => {
      const counted = () => ctx.select({ count: integer }, countIn(ctx.caller.account.id, smartView(key, ctx)));
      const [row] = await ctx.longRead(counted);
      return { key, name, description, count: row!.count };
    }),
  );
}
