import * as deals from './ceiling.deals.sql.js';
import * as contacts from './ceiling.sql.js';

interface Changed {
  table: 'contacts' | 'deals';
  /** The name of the event, and the title of the log entry. */
  name: string;
  title: string;
  /** The fields that are sent, each with its type in PostgreSQL; their values are the parameters from $11 on. */
  fields: [name: string, type: string][];
  /** What is set besides. */
  also?: string;
  /** The record over the alias `t`, the lists in it included. */
  record: string;
  /** What the log entry hangs on: the contact, then the deal. */
  links: string;
}

/**
 * The row with its new values, its log entry and its event, each with what differs, and the record as it is then. Where nothing
 * differs nothing is written, and the record is answered as it is.
 * $1 account, $2 record, $3 log entry, $4 event, $5 now, $6 caller, $7 caller's name, $8 request id, $9 key, $10 its name.
 */
function changeOf({ table, name, title, fields, also = '', record, links }: Changed): string {
  const columns = fields.map(([field, type], i) => ({ field, column: contacts.column(field), given: `$${i + 11}::${type}` }));
  const entity = name.split('.')[0];
  const differs = columns.map(({ column, given }) => `old.${column} is distinct from ${given}`).join(' or ');
  const pairs = columns.map(({ field, column, given }) => `('${field}', to_jsonb(old.${column}), to_jsonb(${given}))`).join(', ');
  return `
with old as materialized (select * from ${table} where account_id = $1 and id = $2 and deleted_at is null for update),
t as (
  update ${table} c set ${columns.map(({ column, given }) => `${column} = ${given}`).join(', ')}, updated_at = $5 ${also}
  from old where c.account_id = $1 and c.id = $2 and (${differs}) returning c.*),
r as (select row_to_json(r) as json from (select ${record} from t) r),
d as (
  select jsonb_object_agg(p.field, jsonb_build_object('from', p.old, 'to', p.new)) as changes
  from t, old, lateral (values ${pairs}) p (field, old, new) where p.old is distinct from p.new),
a as (
  insert into activities (account_id, id, type, title, contact_id, deal_id, entity_type, entity_id, action, changes, user_id, user_name, created_at)
  select $1, $3, '${name}', '${title}', ${links}, '${entity}', $2, 'updated', d.changes, $6, $7, $5 from t, d),
o as (
  insert into outbox_events (account_id, id, name, entity_type, entity_id, data, changes, actor_id, actor_name, request_id, created_at)
  select $1, $4, '${name}', '${entity}', $2, r.json, d.changes, $9, $10, $8, $5 from r, d)
select json::text from r
union all select row_to_json(s)::text from (select ${record} from old t where not exists (select 1 from r)) s`;
}

/** One statement for each set of fields. */
function remembered(make: (fields: readonly string[]) => string): (fields: readonly string[]) => string {
  const made = new Map<string, string>();
  return (fields) => {
    const key = fields.join();
    const known = made.get(key) ?? make(fields);
    made.set(key, known);
    return known;
  };
}

const typeOf = (field: string) => (field.endsWith('Id') || field === 'assignedTo' ? 'uuid' : 'text');

export const changeContact = remembered((fields) =>
  changeOf({
    ...{ table: 'contacts', name: 'contact.updated', title: 'Contact updated', links: 't.id, null::uuid' },
    fields: fields.map((field) => [field, typeOf(field)]),
    record: `${contacts.record}, ${contacts.tags}`,
  }),
);

export const changeDeal = remembered((fields) =>
  changeOf({
    ...{ table: 'deals', name: 'deal.updated', title: 'Deal updated', links: 't.contact_id, t.id' },
    fields: fields.map((field) => [field, field === 'value' ? 'numeric' : 'text']),
    also: fields.includes('value') ? ', value_from_products = false' : '',
    record: `${deals.record}, ${deals.products}`,
  }),
);

const written = contacts.writableTexts.map(contacts.column);
const places = written.map((name, i) => `$${i + 5}${name.endsWith('_id') || name === 'assigned_to' ? '::uuid' : ''}`);

/** $1 account, $2 contact, $3 now, $4 custom fields, then the texts. */
export const bareContact = `
insert into contacts (account_id, id, created_at, updated_at, custom_fields, ${written.join(', ')}) values ($1, $2, $3, $3, $4, ${places.join(', ')})`;

/** $1 account, $2 log entry, $3 contact, $4 now, $5 caller, $6 caller's name. */
export const bareEntry = `
insert into activities (account_id, id, type, title, contact_id, entity_type, entity_id, action, user_id, user_name, created_at)
values ($1, $2, 'contact.created', 'Contact created', $3, 'contact', $3, 'created', $5, $6, $4)`;

/** $1 account, $2 event, $3 contact, $4 what was sent, $5 now, $6 caller, $7 caller's name, $8 request id. */
export const bareEvent = `
insert into outbox_events (account_id, id, name, entity_type, entity_id, data, actor_id, actor_name, request_id, created_at)
values ($1, $2, 'contact.created', 'contact', $3, $4, $6, $7, $8, $5)`;
