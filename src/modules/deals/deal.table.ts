import { dayMs } from '../../kernel/base/durations.js';
import { invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { flag, instant, nullable, type RowOf } from '../../kernel/database/kinds.js';
import { allOf, rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { since, todayOf, until } from '../../kernel/tables/dateRanges.js';
import { fieldsWithin } from '../../kernel/tables/filterFields.js';
import { filterSql } from '../../kernel/tables/filterSql.js';
import { type Board, byBoard, byNumber, byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import type { ParameterConditions } from '../../kernel/tables/parameterConditions.js';
import { inAnyWay, opposite } from '../../kernel/tables/rowCondition.js';
import { holdsTerm, words } from '../../kernel/tables/searchPatterns.js';
import { soonDecided } from '../../kernel/tables/sqlCosts.js';
import { liveStages } from '../pipelines/pipeline.table.js';
import { savedFilter } from '../smartLists/smartList.service.js';
import { isAppointmentMissed, missedBefore } from './deal.clock.js';
import { Deal, DealConnection, type DealFilter, DealList, DealProduct, type DealSort } from './deal.model.js';

/** Whether what goes by an alias bears a name, whatever its case. */
const isCalled = (alias: string, name: string) =>
  sql`lower(${rawSql(alias)}.name collate "und-x-icu") = ${name.toLowerCase()} and ${rawSql(alias)}.deleted_at is null`;

/** The ids of those that bear a name, found once and not for each deal. */
const idsCalled = (ctx: Context, table: 'pipelines' | 'stages', name: string) =>
  sql`array(select n.id from ${rawSql(table)} n where n.account_id = ${ctx.caller.account.id}::uuid and ${isCalled('n', name)})`;

/** The stages in the order of the board, pipeline by pipeline: those that the filter leaves, so that no others are looked into. */
function columnsOfBoard(filter: DealFilter | null | undefined): Board['columns'] {
  const { pipelineId, pipelineName, stageId, stageName } = filter ?? {};
  return (account) => {
    const of = (alias: string, id?: string | null, name?: string | null) => [
      ...(id ? [sql`${rawSql(alias)}.id = ${id}::uuid`] : []),
      ...(name ? [isCalled(alias, name)] : []),
    ];
    const wanted = [...of('p', pipelineId, pipelineName), ...of('s', stageId, stageName)];
    return sql`select s.id, row_number() over (order by p.sort_order, p.id, s.sort_order, s.id) as rank
      from ${liveStages} where s.account_id = ${account}::uuid and ${allOf(wanted)}`;
  };
}

/** A deal's column of the board, and its place in it. */
export const boardOf = (columns: Board['columns']): Board => ({ columns, column: 't.stage_id', place: 't.position' });

/** A board, a pipeline or a stage is shown column by column. */
const isBoard = ({ view, pipelineId, pipelineName, stageId, stageName }: DealFilter) =>
  view === 'board' || (view !== 'list' && Boolean(pipelineId || pipelineName || stageId || stageName));

/** How many days a deal may lie untouched: 14, or as many as are told. */
function staleDays(given: string): number | undefined {
  if (given === 'false') return undefined;
  const days = given === 'true' ? 14 : Number(given);
  if (!Number.isInteger(days) || days < 1 || days > 3650)
    throw invalidField('stale', 'invalid_format', 'must be true, false or a number of days');
  return days;
}

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * dayMs);

/** Open, and nothing to come, behind its day, or with a missed appointment. */
function needsAction(ctx: Context): Sql {
  const now = ctx.now();
  const { id } = ctx.caller.account;
  // What the deal itself tells comes first. The account is named, so that no other's tasks are read where they are read beforehand.
  return soonDecided(sql`(t.status = 'open' and (
    t.expected_close_date < ${todayOf(ctx)}::date
    or t.appointment_at < ${missedBefore(now)}::timestamptz
    or not exists (select 1 from tasks k where k.account_id = ${id}::uuid and k.deal_id = t.id and k.status <> 'done' and k.due_date >= ${now}::timestamptz)) is true)`);
}

const untouched = (moment: Date) =>
  sql`t.status = 'open' and t.updated_at < ${moment}::timestamptz and coalesce(t.last_activity_at, t.updated_at) < ${moment}::timestamptz`;

/** By the title, or the name of the contact or the company. */
function bearsOrLeadsTo(term: string, { caller }: Context): Sql {
  const account = sql`${caller.account.id}::uuid`;
  const contacts = sql`select c.id from contacts c where c.account_id = ${account} and c.deleted_at is null
    and ${holdsTerm(sql`c.search_text`, term)} and ${holdsTerm(words("concat_ws(' ', c.first_name, c.last_name)"), term)}`;
  const companies = sql`select f.id from companies f where f.account_id = ${account} and f.deleted_at is null
    and ${holdsTerm(words('f.name'), term)}`;
  return inAnyWay('deals', sql`t.account_id = ${account} and t.deleted_at is null`, [
    holdsTerm(words('t.title'), term),
    sql`t.contact_id = any(array(${contacts}))`,
    sql`t.company_id = any(array(${companies}))`,
  ]);
}

const conditions: ParameterConditions<DealFilter> = {
  ...{ view: null, viewId: null },
  search: bearsOrLeadsTo,
  pipelineId: (id) => sql`t.pipeline_id = ${id}::uuid`,
  pipelineName: (name, ctx) => sql`t.pipeline_id = any(${idsCalled(ctx, 'pipelines', name)})`,
  stageId: (id) => sql`t.stage_id = ${id}::uuid`,
  stageName: (name, ctx) => sql`t.stage_id = any(${idsCalled(ctx, 'stages', name)})`,
  status: (status) => sql`t.status = ${status}`,
  assignedTo: (id) => sql`t.assigned_to = ${id}::uuid`,
  contactId: (id) => sql`t.contact_id = ${id}::uuid`,
  companyId: (id) => sql`t.company_id = ${id}::uuid`,
  createdAfter: (moment, ctx) => since('t.created_at', moment, ctx),
  createdBefore: (moment, ctx) => until('t.created_at', moment, ctx),
  minValue: (value) => sql`t.value >= ${value}::numeric`,
  maxValue: (value) => sql`t.value <= ${value}::numeric`,
  needsAction: (needs, ctx) => (needs ? needsAction(ctx) : opposite(needsAction(ctx))),
  stale: (given, ctx) => {
    const days = staleDays(given);
    return days ? untouched(daysBefore(ctx.now(), days)) : sql`true`;
  },
  filters: (tree, ctx) => filterSql(ctx, dealTable, tree),
  tagIds: (ids) => sql`exists (select 1 from contact_tags ct
    join contacts c on c.account_id = ct.account_id and c.id = ct.contact_id and c.deleted_at is null
    where ct.account_id = t.account_id and ct.contact_id = t.contact_id and ct.tag_id = any(${ids}::uuid[]))`,
};

/** A deal as it is kept, without its lines. */
export const dealRow = modelRow('Deal', Deal, { valueFromProducts: flag, deletedAt: nullable(instant) });
export type DealRow = RowOf<typeof dealRow.shape> & { products?: DealProduct[] };

/** All deals that a list finds, in numbers. They are added up in the order of the index that tells them: by pipeline, then by stage. */
const dealSummary = (where: Sql, { caller }: Context) => sql`
  with parts as (
    select t.stage_id, count(*) as n, sum(t.value) as total, min(t.currency) filter (where t.value is not null) as first,
      max(t.currency) filter (where t.value is not null) as last from deals t where ${where} group by t.pipeline_id, t.stage_id),
  found as (
    select stage_id, sum(n) as n, coalesce(sum(total), 0) as total, case when min(first) = max(last) then min(first) end as currency
    from parts group by 1)
  select json_build_object('count', coalesce(sum(f.n), 0)::int, 'totalValue', coalesce(sum(f.total), 0)::text,
    'byStage', coalesce(json_agg(json_build_object('stageId', s.id, 'name', s.name, 'count', f.n, 'totalValue', f.total::text, 'currency', f.currency)
      order by p.sort_order, p.id, s.sort_order, s.id), '[]'))
  from found f join stages s on s.account_id = ${caller.account.id}::uuid and s.id = f.stage_id
  join pipelines p on p.account_id = s.account_id and p.id = s.pipeline_id`;

export const dealLineTable = table({
  row: modelRow('DealProduct', DealProduct),
  sorts: { sortOrder: byNumber('sort_order', 'numeric') },
  byDefault: ['sortOrder', 'asc'],
});

/** The lines of a deal as conditions know them. */
const ofLines = fieldsWithin(
  'products',
  DealProduct,
  'i',
  (condition) => sql`exists (
  select 1 from deal_products i where i.account_id = t.account_id and i.deal_id = t.id and ${condition})`,
);

export const dealTable = table({
  row: dealRow,
  withoutEvents: ['lastActivityAt'],
  toldBy: { closedAt: 'status', stageEnteredAt: 'stageId', appointmentMissed: 'appointmentAt' },
  list: DealList,
  page: DealConnection,
  computed: {
    appointmentMissed: {
      sql: (ctx) => sql`(t.status = 'open' and t.appointment_at < ${missedBefore(ctx.now())}::timestamptz) is true`,
      of: (deal: DealRow, ctx) => isAppointmentMissed(deal, ctx.now()),
    },
  },
  figures: { summary: dealSummary },
  sorts: {
    createdAt: byTime('created_at'),
    updatedAt: byTime('updated_at'),
    title: byText('title', false),
    value: byNumber('value', 'numeric', true),
    expectedCloseDate: { by: 't.expected_close_date', type: 'date', nullable: true },
    probability: byNumber('probability', 'numeric', true),
  },
  byDefault: ['createdAt', 'desc'],
  several: { products: ofLines['products.name']!, ...ofLines },
  conditions,
  isSortedByFilter: true,
  asked: async (ctx, { filter }, own) => {
    const saved = await savedFilter<keyof typeof DealSort>(ctx, 'deal', filter?.viewId);
    const asked = { ...saved, conditions: [...own, ...saved.conditions] };
    if (saved.sort || !filter || !isBoard(filter)) return asked;
    return { ...asked, sort: 'board', order: 'asc', board: byBoard(boardOf(columnsOfBoard(filter))) };
  },
});
