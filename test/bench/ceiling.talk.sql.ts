import { column, record as contactRecord, totalOf } from './ceiling.sql.js';

/** The record of a message, field by field, as the contract shows it. */
const messageFields = [
  ...[
    'id',
    'contactId',
    'channel',
    'direction',
    'body',
    'bodyHtml',
    'subject',
    'fromNumber',
    'toNumber',
    'fromEmail',
    'toEmail',
    'replyTo',
  ],
  ...[
    'cc',
    'bcc',
    'provider',
    'providerId',
    'metadata',
    'status',
    'transport',
    'error',
    'userId',
    'templateId',
    'enrollmentId',
    'stepOrder',
  ],
];
const messageTimes = [
  ...['scheduledAt', 'sentAt', 'deliveredAt', 'readAt', 'openedAt', 'clickedAt', 'repliedAt', 'bouncedAt', 'unsubscribedAt', 'createdAt'],
  'updatedAt',
];
const timeOf = (expression: string) => `to_char(${expression}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const record = [
  ...messageFields.map((name) => `t.${column(name)} as "${name}"`),
  ...messageTimes.map((name) => `${timeOf(`t.${column(name)}`)} as "${name}"`),
].join(', ');

const contactFields = ['id', 'firstName', 'lastName', 'email', 'phone', 'assignedTo'];
const object = (alias: string, fields: string[]) => `json_build_object(${fields.map((f) => `'${f}', ${alias}.${column(f)}`).join(', ')})`;

const isWaiting = 't.last_inbound_at is not null and (t.last_outbound_at is null or t.last_inbound_at > t.last_outbound_at)';
const state = `case when t.closed_at is not null then 'closed'
  when t.last_message_at is null or t.last_message_at < now() - interval '30 days' then 'idle' when ${isWaiting} then 'awaiting_reply' else 'replied' end`;
const sla = `case when ${state} <> 'awaiting_reply' then json_build_object('state', 'none', 'dueAt', null) else json_build_object('state',
  case when t.last_inbound_at <= now() - interval '24 hours' then 'breached' when t.last_inbound_at <= now() - interval '20 hours' then 'due_soon'
    else 'ok' end, 'dueAt', ${timeOf(`t.last_inbound_at + interval '24 hours'`)}) end`;

const summary = `t.contact_id as "contactId", ${state} as "conversationState", ${sla} as sla, t.unread_count as "unreadCount",
  t.message_count as "messageCount",
  case when l.id is not null then json_build_object('body', l.body, 'channel', l.channel, 'direction', l.direction, 'createdAt', ${timeOf('l.created_at')}) end as "lastMessage",
  ${object('c', contactFields)} as contact`;
const around = `join contacts c on c.account_id = $1 and c.id = t.contact_id
  left join messages l on l.account_id = $1 and l.id = t.last_message_id`;

const liveTotal = (isKept: boolean) =>
  isKept ? totalOf('conversations', true) : 'select count(*) from conversations where account_id = $1 and not hidden';

/** $1 account, $2 page size, $3 offset. */
export const listConversations = (isKept: boolean) => `
with p as materialized (
  select t.contact_id, t.last_message_at from conversations t where t.account_id = $1 and not t.hidden
  order by t.last_message_at desc nulls last, t.contact_id desc limit $2 offset $3)
select coalesce((select json_agg(r)::text from (
    select ${summary} from p join conversations t on t.account_id = $1 and t.contact_id = p.contact_id ${around}
    order by p.last_message_at desc nulls last, p.contact_id desc) r), '[]') as json,
  (${liveTotal(isKept)})::text as total,
  (select json_build_array('lastMessageAt', 'desc', last_message_at::text, contact_id)::text from p order by last_message_at, contact_id limit 1) as last`;

/** $1 account, $2 contact: the conversation with its latest thousand messages, in their order. */
export const thread = `
select row_to_json(r)::text as json from (
  select ${summary}, (select coalesce(json_agg(m), '[]') from (
    select ${record} from (
      select * from messages where account_id = $1 and contact_id = $2 order by created_at desc, id desc limit 1000) t
    order by t.created_at, t.id) m) as messages
  from conversations t ${around} where t.account_id = $1 and t.contact_id = $2 and not t.hidden) r`;

/** Events of one change: those of an array of ids and of one of names, with the record as it is. */
const events = (ids: string, names: string, rest: { changes?: string; entity?: string; kind?: string } = {}) => `
  insert into outbox_events (account_id, id, name, entity_type, entity_id, data, changes, change_id, names, actor_kind, actor_id, actor_name, request_id, created_at)
  select $1, e.id, e.name, '${rest.entity ?? 'message'}', $2, r.json, ${rest.changes ?? 'null::json'}, (${ids})[1],
    case when cardinality(${names}) > 1 then ${names} else '{}' end, '${rest.kind ?? 'api_key'}', $4, $5, $6, $3
  from r, unnest(${ids}, ${names}) e(id, name)`;

const entry = `insert into activities (account_id, id, type, title, description, contact_id, entity_type, entity_id, action, changes, user_id, user_name, created_at)`;

/** What a message that counts as said adds to the head of its conversation, from the row `t`. */
const head = `
  insert into conversations as v (account_id, contact_id, last_message_id, last_message_at, last_inbound_at, last_outbound_at, unread_count, message_count, created_at, updated_at)
  select account_id, contact_id, case when is_said(status) then id end, case when is_said(status) then coalesce(sent_at, created_at) end,
    case when is_said(status) and direction = 'inbound' then created_at end, case when is_said(status) and direction = 'outbound' then coalesce(sent_at, created_at) end,
    (direction = 'inbound')::int, 1, created_at, updated_at from t
  on conflict (account_id, contact_id) do update set last_message_id = coalesce(excluded.last_message_id, v.last_message_id),
    last_message_at = greatest(v.last_message_at, excluded.last_message_at), last_inbound_at = greatest(v.last_inbound_at, excluded.last_inbound_at),
    last_outbound_at = greatest(v.last_outbound_at, excluded.last_outbound_at), unread_count = v.unread_count + excluded.unread_count,
    message_count = v.message_count + 1, closed_at = case when excluded.last_message_at is null then v.closed_at end, updated_at = excluded.updated_at`;

const of = 'x.account_id = $1 and x.contact_id = c.id';

/** The points of a contact `c` who writes to us, with the message that is being kept. */
const score = `10 + 5 * least(5, 1 + (select count(*) from (select from messages x where ${of} and x.direction = 'inbound' limit 5) m))
  + least(20, 10 * (select count(*) from deals x where ${of} and x.deleted_at is null and x.status = 'open'))
  + least(20, 20 * (select count(*) from deals x where ${of} and x.deleted_at is null and x.status = 'won'))
  + least(10, 5 * (select count(*) from calls x where ${of} and x.status = 'completed'))
  + least(10, 5 * (select count(*) from appointments x where ${of} and x.deleted_at is null and x.status <> 'cancelled'))
  + least(5, 5 * (select count(*) from submissions x where ${of}))`;

/** What the contact of an inbound message `t` keeps of it. */
const writer = `
  update contacts c set lead_score = ${score}, scored_at = $3, last_activity_at = $3, updated_at = $3
  from t where c.account_id = $1 and c.id = t.contact_id and t.direction = 'inbound'`;

/**
 * $1 account, $2 message, $3 now, $4 key, $5 name of the key, $6 request id, $7 contact, $8 channel, $9 direction, $10 body, $11 status,
 * $12 log entry, $13 its type, $14 its title, $15 caller, $16 caller's name, $17 events, $18 their names; of what is sent besides: $19 and
 * $20 the numbers, $21 transport, $22 provider, $23 who wrote it.
 */
export const keepMessage = `
with t as (
  insert into messages (account_id, id, contact_id, channel, direction, body, status, from_number, to_number, transport, provider, user_id, attempt, created_at, updated_at)
  select $1, $2, c.id, $8, $9, $10, $11, $19, $20, $21, $22, $23::uuid, ($11 = 'sending')::int, $3, $3
  from contacts c where c.account_id = $1 and c.id = $7 and c.deleted_at is null returning *),
h as (${head}),
w as (${writer}),
r as (select row_to_json(r) as json from (select ${record} from t) r),
a as (${entry} select $1, $12, $13, $14, $10, $7, 'message', $2, 'created', null::jsonb, $15, $16, $3 from t),
o as (${events('$17::uuid[]', '$18::text[]')})
select json::text from r`;

/** $1 account, $2 contact: to whom, whether they may be written to, and the number of the account. */
export const recipient = `
select c.phone, coalesce(c.do_not_contact, false) or c.opted_out_sms or c.phone is not distinct from c.landline as refused,
  (select number from phone_numbers where account_id = $1 order by created_at, id limit 1) as number
from contacts c where c.account_id = $1 and c.id = $2 and c.deleted_at is null`;

const sent = `json_build_object('status', json_build_object('from', 'sending', 'to', 'sent'), 'sentAt', json_build_object('from', null, 'to', ${timeOf('$3::timestamptz')})`;

/** $1 account, $2 message, $3 now, $4 key, $5 name of the key, $6 request id, $7 the vendor's id, $8 log entry, $9 caller, $10 caller's name, $11 events. */
export const settleSms = `
with t as (
  update messages set status = 'sent', provider_id = $7, sent_at = $3, updated_at = $3
  where account_id = $1 and id = $2 and status = 'sending' returning *),
h as (
  update conversations v set last_message_id = t.id, last_message_at = greatest(v.last_message_at, t.sent_at),
    last_outbound_at = greatest(v.last_outbound_at, t.sent_at), closed_at = null, updated_at = t.updated_at
  from t where v.account_id = $1 and v.contact_id = t.contact_id),
k as (update contacts c set last_contacted_at = $3, last_activity_at = $3, updated_at = $3 from t where c.account_id = $1 and c.id = t.contact_id),
r as (select row_to_json(r) as json from (select ${record} from t) r),
a as (${entry} select $1, $8, 'message.sent', 'Message sent', t.body, t.contact_id, 'message', $2, 'updated',
  ${sent}, 'providerId', json_build_object('from', null, 'to', $7))::jsonb, $9, $10, $3 from t),
o as (${events('$11::uuid[]', `array['message.updated', 'message.sent']`, { changes: `${sent})` })})
select json::text from r`;

/** $1 form. */
export const openForm = `
select f.account_id, f.name, f.fields, f.redirect_url, f.thank_you_message from public_forms p
join forms f on f.account_id = p.account_id and f.id = p.id join accounts a on a.id = p.account_id
where p.id = $1 and f.is_active and f.archived_at is null and a.suspended_at is null`;

export const lockAddress = 'select pg_advisory_xact_lock(hashtextextended($1::text || $2, 0))';

const submission = `json_build_object('id', t.id, 'formId', t.form_id, 'contactId', t.contact_id, 'data', t.data, 'source', t.source, 'attribution', null,
  'consent', null, 'utm', t.utm, 'ip', t.ip, 'submittedAt', ${timeOf('t.submitted_at')})`;

/**
 * A new contact unless the address is known, and the submission. $1 account, $2 submission, $3 now, $4 form, $5 its name, $6 request id,
 * $7 contact, $8 first name, $9 last name, $10 address, $11 attribution, $12 data, $13 source, $14 utm, $15 ip, $16 log entries, $17 events,
 * the contact's first.
 */
export const submit = `
with known as (
  select id from contacts where account_id = $1 and email_lower = lower($10) and deleted_at is null order by created_at, id limit 1),
n as (
  insert into contacts (account_id, id, first_name, last_name, email, source, attribution, lead_score, scored_at, last_activity_at, created_at, updated_at)
  select $1, $7, $8, $9, $10, $13, $11::jsonb, 5, $3, $3, $3, $3 where not exists (select from known) returning *),
nr as (select row_to_json(r) as json from (select ${contactRecord}, '[]'::json as tags from n t) r),
t as (
  insert into submissions (account_id, id, form_id, contact_id, data, source, utm, ip, submitted_at)
  select $1, $2, $4, coalesce((select id from known), $7), $12::jsonb, $13, $14::jsonb, $15, $3 returning *),
r as (select ${submission} as json from t),
na as (${entry} select $1, ($16::uuid[])[1], 'contact.created', 'Contact created', concat_ws(' ', $8, $9), $7, 'contact', $7, 'created', null::jsonb, null::uuid, $5, $3 from n),
no as (
  insert into outbox_events (account_id, id, name, entity_type, entity_id, data, change_id, actor_kind, actor_id, actor_name, request_id, created_at)
  select $1, ($17::uuid[])[1], 'contact.created', 'contact', $7, nr.json, ($17::uuid[])[1], 'form', $4, $5, $6, $3 from nr),
a as (${entry} select $1, ($16::uuid[])[2], 'form.submitted', 'Form submitted', null, t.contact_id, 'submission', $2, 'created', null::jsonb, null::uuid, $5, $3 from t),
o as (${events('($17::uuid[])[2:3]', `array['submission.created', 'form.submitted']`, { entity: 'submission', kind: 'form' })})
select id, contact_id from t`;
