import { mayRead } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { integer, type Kind, nullable, record, records, type Shape } from '../../kernel/database/kinds.js';
import { accountSql, joinSql, keptTotal, rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { isToday } from '../../kernel/tables/dateRanges.js';
import { shapeOf } from '../../kernel/tables/modelRow.js';
import { latestActivities } from '../activities/activity.service.js';
import { activityTable } from '../activities/activity.table.js';
import { taggedContacts } from '../contacts/contact.table.js';
import { longestWaiting } from '../contacts/contact.views.js';
import { wholeDeals } from '../deals/deal.columns.js';
import { figuresByStatus, longestStale } from '../deals/deal.figures.js';
import { defaultPipeline } from '../pipelines/pipeline.service.js';
import { pipelineRow } from '../pipelines/pipeline.table.js';
import { taskTabs } from '../tasks/task.table.js';
import { type Dashboard, most, StageFigures, StatusFigures } from './dashboard.model.js';

type Selection = ReadonlySet<string>;

const tasks = (ctx: Context, condition: Sql) =>
  sql`select count(*)::int from tasks t where t.account_id = ${ctx.caller.account.id}::uuid and ${condition}`;

// One count a side, for the index of each: what came in is from when it was kept, what went out from when it was sent.
const messagesToday = (ctx: Context) => {
  const own = sql`select count(*)::int from messages t where t.account_id = ${ctx.caller.account.id}::uuid`;
  return sql`select (${own} and t.direction = 'inbound' and ${isToday('t.created_at', ctx)})
    + (${own} and t.direction = 'outbound' and ${isToday('t.sent_at', ctx)})`;
};

// Nobody gets to read what a deleted contact wrote.
const unreadMessages = (account: string) => sql`
  select coalesce(sum(u.n), 0)::int from (
    select m.contact_id, count(*) as n from messages m
    where m.account_id = ${account}::uuid and m.direction = 'inbound' and m.read_at is null group by 1) u
  join contacts c on c.account_id = ${account}::uuid and c.id = u.contact_id and c.deleted_at is null`;

const asList = (rows: Sql) => sql`select coalesce(json_agg(r), '[]') from (${rows}) r`;
const asRow = (row: Sql) => sql`select row_to_json(r) from (${row}) r`;

interface Section {
  /** Who sees it. */
  flag: Flag;
  /** What it is where it is not seen. */
  empty: unknown;
  /** What it is in the statement's answer. */
  kind: Kind<unknown>;
  /** A select of one value: how it is found in the statement of all sections. */
  find(ctx: Context, account: string, selection: Selection): Sql;
}

const flags = {
  canViewContacts: 'contacts',
  canViewDeals: 'deals',
  canViewTasks: 'tasks',
  canViewMessages: 'messages',
  canViewActivities: 'activities',
};
type Flag = keyof typeof flags;

const none = { count: 0, totalValue: '0' };
const noDeals = { open: none, won: none, lost: none };

const count = { empty: 0, kind: integer };
const listed = (shape: Shape) => ({ empty: [], kind: records(shape) });

const summary = record({ pipeline: record(pipelineRow.shape), stages: records(shapeOf(StageFigures)) });
const figures = record(shapeOf(StatusFigures));
const byStatus = record({ open: figures, won: figures, lost: figures });

const sections: Record<Exclude<keyof Dashboard, Flag>, Section> = {
  contactCount: { flag: 'canViewContacts', ...count, find: (_ctx, account) => keptTotal(accountSql(account), 'contacts') },
  tasksDueToday: { flag: 'canViewTasks', ...count, find: (ctx) => tasks(ctx, taskTabs.today(ctx)) },
  overdueTasks: { flag: 'canViewTasks', ...count, find: (ctx) => tasks(ctx, taskTabs.overdue(ctx)) },
  messagesToday: { flag: 'canViewMessages', ...count, find: messagesToday },
  unreadMessages: { flag: 'canViewMessages', ...count, find: (_ctx, account) => unreadMessages(account) },
  pipelineSummary: {
    flag: 'canViewDeals',
    empty: null,
    kind: nullable(summary),
    find: (_ctx, account) => asRow(defaultPipeline(account)),
  },
  dealsByStatus: { flag: 'canViewDeals', empty: noDeals, kind: byStatus, find: (_ctx, account) => figuresByStatus(account) },
  recentActivities: {
    flag: 'canViewActivities',
    ...listed(activityTable.shape),
    find: (ctx) => asList(latestActivities(ctx, most)),
  },
  needsFollowUp: {
    flag: 'canViewContacts',
    ...listed(taggedContacts.shape),
    find: (ctx) => asList(longestWaiting(ctx, taggedContacts.columns, most)),
  },
  staleDeals: { flag: 'canViewDeals', ...listed(wholeDeals.shape), find: (ctx) => asList(longestStale(ctx, wholeDeals.columns, most)) },
};

/**
 * Contract GET /dashboard: all sections that are asked for and that the caller may see, in one statement and so of one moment.
 * What is not asked for or not seen costs nothing.
 */
export async function getDashboard(ctx: Context, selection: Selection): Promise<Dashboard> {
  const seen = Object.fromEntries(Object.entries(flags).map(([flag, scope]) => [flag, mayRead(ctx.caller, scope)])) as Record<
    Flag,
    boolean
  >;
  const wanted = Object.entries(sections).filter(([name, { flag }]) => seen[flag] && selection.has(name));
  const empty = Object.fromEntries(Object.entries(sections).map(([name, section]) => [name, section.empty])) as Omit<Dashboard, Flag>;
  return { ...empty, ...seen, ...(wanted.length > 0 && (await found(ctx, selection, wanted))) };
}

async function found(ctx: Context, selection: Selection, wanted: [string, Section][]): Promise<Partial<Dashboard>> {
  const { id } = ctx.caller.account;
  const row: Shape = Object.fromEntries(wanted.map(([name, { kind }]) => [name, kind]));
  const columns = wanted.map(([name, section]) => sql`(${section.find(ctx, id, selection)}) as ${rawSql(`"${name}"`)}`);
  const [all] = await ctx.select(row, sql`select ${joinSql(columns, ', ')}`);
  return all!;
}
