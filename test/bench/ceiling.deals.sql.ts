import { column, totalOf } from './ceiling.sql.js';

/** The record of a deal, field by field, as the contract shows it. */
export const dealFields = [
  ...['id', 'title', 'pipelineId', 'stageId', 'contactId', 'companyId', 'value', 'currency', 'status', 'priority', 'source', 'lostReason'],
  ...['probability', 'expectedCloseDate', 'assignedTo', 'customFields', 'position'],
];
export const dealTimes = ['appointmentAt', 'stageEnteredAt', 'closedAt', 'lastActivityAt', 'createdAt', 'updatedAt'];
export const lineFields = ['id', 'name', 'description', 'quantity', 'unitPrice', 'discount', 'tax', 'sortOrder'];

/** What each of the page's deals carries along. */
export const carried = {
  stage: ['id', 'name', 'color', 'sortOrder', 'isWon', 'isLost', 'probability'],
  contact: ['id', 'firstName', 'lastName', 'email', 'phone', 'company'],
  company: ['id', 'name', 'domain'],
  assignedUser: ['id', 'name', 'email'],
};

const object = (alias: string, fields: string[]) => `json_build_object(${fields.map((f) => `'${f}', ${alias}.${column(f)}`).join(', ')})`;

export const record = [
  ...dealFields.map((name) => `t.${column(name)} as "${name}"`),
  ...dealTimes.map((name) => `to_char(t.${column(name)}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "${name}"`),
  `coalesce(t.status = 'open' and t.appointment_at < now() - interval '1 hour', false) as "appointmentMissed"`,
].join(', ');

/** The lines of the record. */
export const products = `coalesce((select json_agg(${object('i', lineFields)} order by i.sort_order, i.id) from deal_products i
  where i.account_id = $1 and i.deal_id = t.id), '[]') as products`;

export const listDeals = (isKept: boolean) => `
with p as materialized (
  select t.id, t.created_at from deals t where t.account_id = $1 and t.deleted_at is null order by t.created_at desc, t.id desc limit $2 offset $3),
lines as (
  select i.deal_id, json_agg(${object('i', lineFields)} order by i.sort_order, i.id) as products
  from p join deal_products i on i.account_id = $1 and i.deal_id = p.id group by i.deal_id)
select coalesce((select json_agg(r)::text from (
    select ${record}, coalesce(lines.products, '[]') as products,
      case when s.id is not null then ${object('s', carried.stage)} end as stage,
      case when c.id is not null then ${object('c', carried.contact)} end as contact,
      case when o.id is not null then ${object('o', carried.company)} end as company,
      case when u.id is not null then json_build_object('id', u.id, 'name', m.name, 'email', u.email) end as "assignedUser"
    from p join deals t on t.account_id = $1 and t.id = p.id
    left join lines on lines.deal_id = p.id
    left join stages s on s.account_id = $1 and s.id = t.stage_id and s.deleted_at is null
    left join contacts c on c.account_id = $1 and c.id = t.contact_id and c.deleted_at is null
    left join companies o on o.account_id = $1 and o.id = t.company_id and o.deleted_at is null
    left join memberships m on m.account_id = $1 and m.user_id = t.assigned_to left join users u on u.id = m.user_id
    order by p.created_at desc, p.id desc) r), '[]') as json,
  (${totalOf('deals', isKept)})::text as total,
  (select json_build_array('createdAt', 'desc', created_at::text, id)::text from p order by created_at, id limit 1) as last`;

/** $1 account, $2 stage, $3 company, $4 user: the stage as a new deal needs it, and whether the others are there. */
export const placeOf = `
select s.pipeline_id, s.probability, exists (select 1 from companies where account_id = $1 and id = $3 and deleted_at is null)
  and exists (select 1 from memberships where account_id = $1 and user_id = $4 and status <> 'removed') as known
from stages s join pipelines p on p.account_id = $1 and p.id = s.pipeline_id and p.deleted_at is null
where s.account_id = $1 and s.id = $2 and s.deleted_at is null`;

/** $1 account, $2 deal, $3 log entry, $4 event, $5 now, $6 caller, $7 title, $8 pipeline, $9 stage, $10 company, $11 value, $12 probability, $13 user, $14 place, $15 request id, $16 caller's name, $17 key, $18 its name. */
export const createDeal = `
with t as (
  insert into deals (account_id, id, title, pipeline_id, stage_id, company_id, value, probability, assigned_to, position, stage_entered_at, created_at, updated_at)
  values ($1, $2, $7, $8, $9, $10, $11, $12, $13, $14, $5, $5, $5) returning *),
r as (select row_to_json(r) as json from (select ${record}, '[]'::json as products from t) r),
a as (
  insert into activities (account_id, id, type, title, deal_id, entity_type, entity_id, action, user_id, user_name, created_at)
  values ($1, $3, 'deal.created', 'Deal created', $2, 'deal', $2, 'created', $6, $16, $5)),
o as (
  insert into outbox_events (account_id, id, name, entity_type, entity_id, data, actor_id, actor_name, request_id, created_at)
  select $1, $4, 'deal.created', 'deal', $2, json, $17, $18, $15, $5 from r)
select json::text from r`;

export const cardFields = ['id', 'title', 'value', 'status', 'expectedCloseDate'];
export const cardContact = ['id', 'firstName', 'lastName', 'email'];

const stageTotal = (isKept: boolean) =>
  isKept
    ? `select sum(n) from counts where account_id = $1 and kind = 'bench-stage:' || s.id`
    : 'select count(*) from deals d where d.account_id = $1 and d.stage_id = s.id and d.deleted_at is null';

/** $1 account, $2 pipeline: its stages, each with its total and the first 50 of its deals with their contacts. */
export const board = (isKept: boolean) => `
select json_build_object('id', p.id, 'name', p.name, 'stages', (
  select json_agg(json_build_object('id', s.id, 'name', s.name, 'total', (${stageTotal(isKept)}), 'deals', (
    select coalesce(json_agg(r), '[]') from (
      select ${cardFields.map((name) => `t.${column(name)} as "${name}"`).join(', ')},
        case when c.id is not null then ${object('c', cardContact)} end as contact
      from deals t left join contacts c on c.account_id = $1 and c.id = t.contact_id and c.deleted_at is null
      where t.account_id = $1 and t.stage_id = s.id and t.deleted_at is null order by t.position, t.id limit 50) r)) order by s.sort_order, s.id)
  from stages s where s.account_id = $1 and s.pipeline_id = p.id and s.deleted_at is null))::text as json
from pipelines p where p.account_id = $1 and p.id = $2 and p.deleted_at is null`;
