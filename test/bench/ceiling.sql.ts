/** The record of a contact, field by field, as the contract shows it. */
export const plainFields = [
  ...['id', 'firstName', 'lastName', 'email', 'phone', 'company', 'companyId', 'jobTitle', 'source', 'addressLine1', 'addressLine2'],
  ...['city', 'state', 'zip', 'country', 'timezone', 'legacyStatus', 'masterStatus', 'externalBackend', 'language', 'doNotContact'],
  ...['doNotContactReason', 'assignedTo', 'customFields', 'optedOutSms', 'optedOutEmail', 'leadScore'],
];
export const timeFields = ['lastActivityAt', 'lastContactedAt', 'createdAt', 'updatedAt'];
const utmFields = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'];
export const attributionFields = [...utmFields, 'referrer', 'landingUrl', 'pageTitle', 'clickIds'];
/** What a caller may send; customFields besides. */
export const writableTexts = [
  ...['firstName', 'lastName', 'email', 'phone', 'company', 'companyId', 'jobTitle', 'source', 'addressLine1', 'addressLine2', 'city'],
  ...['state', 'zip', 'country', 'timezone', 'legacyStatus', 'language', 'doNotContactReason', 'assignedTo'],
];

export const column = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const attribution = attributionFields.map((name) => `'${name}', t.attribution->'${name}'`).join(', ');

/** The record's columns over the alias `t`, its tags aside, so that row_to_json prints what the contract shows. */
export const record = [
  ...plainFields.map((name) => `t.${column(name)} as "${name}"`),
  `case when t.attribution is not null then json_build_object(${attribution}) end as attribution`,
  ...timeFields.map((name) => `to_char(t.${column(name)}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "${name}"`),
].join(', ');

const tagJson = `json_agg(json_build_object('id', g.id, 'name', g.name) order by g.name, g.id)`;

/** The tags of the record. */
export const tags = `coalesce((select ${tagJson} from tags g where g.account_id = $1 and g.id = any(t.tag_ids)), '[]') as tags`;

/*
 * Of what was tried (json_build_object, row_to_json, text put together, rows turned into JSON by JavaScript; tags by a
 * subquery, a lateral join, one grouped join, the array that the search index has), these cost the least CPU on both sides.
 */

export const readOne = `
select row_to_json(r)::text as json from (
  select ${record}, ${tags} from contacts t where t.account_id = $1 and t.id = $2 and t.deleted_at is null) r`;

/** Rows, total, and the place of the last row, from the ids of `p`. */
const pageOf = (total: string) => `
tagged as (
  select ct.contact_id, ${tagJson} as tags from p join contact_tags ct on ct.account_id = $1 and ct.contact_id = p.id
  join tags g on g.account_id = $1 and g.id = ct.tag_id group by ct.contact_id)
select coalesce((select json_agg(r)::text from (
    select ${record}, coalesce(tagged.tags, '[]') as tags from p join contacts t on t.account_id = $1 and t.id = p.id
    left join tagged on tagged.contact_id = p.id order by p.created_at desc, p.id desc) r), '[]') as json,
  (${total})::text as total,
  (select json_build_array('createdAt', 'desc', created_at::text, id)::text from p order by created_at, id limit 1) as last`;

/** How many live records of a table the account has: counted, or as it is kept. */
export const totalOf = (table: string, isKept: boolean) =>
  isKept
    ? `select sum(n) from counts where account_id = $1 and kind = '${table}'`
    : `select count(*) from ${table} where account_id = $1 and deleted_at is null`;

export const list = (isKept: boolean) => `
with p as materialized (
  select t.id, t.created_at from contacts t where t.account_id = $1 and t.deleted_at is null
  order by t.created_at desc, t.id desc limit $2 offset $3),
${pageOf(totalOf('contacts', isKept))}`;

export const search = `
with m as materialized (
  select t.id, t.created_at from contacts t where t.account_id = $1 and t.deleted_at is null and t.search_text like $4
  and t.tag_ids && (select array_agg(id) from tags
    where account_id = $1 and lower(name collate "und-x-icu") = lower($5 collate "und-x-icu"))),
p as materialized (select * from m order by created_at desc, id desc limit $2 offset $3),
${pageOf('select count(*) from m')}`;

const written = writableTexts.map(column);
const given = written.map((name, i) => `$${i + 8}${name.endsWith('_id') || name === 'assigned_to' ? '::uuid' : ''}`);

/** $1 account, $2 contact, $3 log entry, $4 event, $5 now, $6 caller, $7 custom fields, then the texts, then request id, caller's name, key and its name. */
export const create = `
with t as (
  insert into contacts (account_id, id, created_at, updated_at, custom_fields, ${written.join(', ')})
  values ($1, $2, $5, $5, $7, ${given.join(', ')}) returning *),
r as (select row_to_json(r) as json from (select ${record}, '[]'::json as tags from t) r),
a as (
  insert into activities (account_id, id, type, title, contact_id, entity_type, entity_id, action, user_id, user_name, created_at)
  values ($1, $3, 'contact.created', 'Contact created', $2, 'contact', $2, 'created', $6, $${written.length + 9}, $5)),
o as (
  insert into outbox_events (account_id, id, name, entity_type, entity_id, data, actor_id, actor_name, request_id, created_at)
  select $1, $4, 'contact.created', 'contact', $2, json, $${written.length + 10}, $${written.length + 11}, $${written.length + 8}, $5 from r)
select json::text from r`;
