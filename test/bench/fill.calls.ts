import type pg from 'pg';

/** The n-th contact, for what hangs on contacts. */
const contact = `(select id, email, phone, row_number() over (order by id) - 1 as nth from contacts where account_id = $1::uuid) c`;

/** With whom they were is spread over all contacts. */
const calls = `
insert into calls (account_id, id, contact_id, direction, status, duration, from_number, to_number, user_id, source, started_at, ended_at, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'call' || i), c.id, pg_temp.pick('{inbound,outbound}', i, 110),
  pg_temp.pick('{completed,completed,completed,missed,voicemail,no_answer}', i, 111), pg_temp.hash(i, 112) % 1200, c.phone, '+12025550100',
  case when pg_temp.chance(i, 113, 80) then pg_temp.pick($4::text[], i, 114)::uuid end, 'call_flow', made, made + make_interval(secs => pg_temp.hash(i, 112) % 1200),
  made, made
from (select i, pg_temp.hash(i, 115) % $3::int as customer, date_trunc('hour', now()) - make_interval(mins => ($2::int - i) * 20) as made
  from generate_series(0, $2::int - 1) i) n
join ${contact} on c.nth = n.customer order by i`;

const calendars = `
insert into calendars (account_id, id, name, is_default, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'calendar' || i), 'Room ' || i, i = 1, made, made
from (select i, date_trunc('hour', now()) - make_interval(days => 700, mins => -i) as made from generate_series(1, cardinality($2::text[])) i) n`;

/** Each person has a calendar, with an appointment every 36 hours; half of them are still to come. */
const appointments = `
insert into appointments (account_id, id, calendar_id, title, start_time, end_time, busy_until, contact_id, status, assigned_to, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'appointment' || i), k.id, pg_temp.pick('{Demo,Visit,Review,Handover}', i, 120), begins, ends, ends, c.id,
  case when begins > now() then 'scheduled' else pg_temp.pick('{completed,completed,completed,cancelled}', i, 121) end, ($4::text[])[person]::uuid, made, made
from (select *, begins + interval '30 minutes' as ends from (
  select i, 1 + i % cardinality($4::text[]) as person, pg_temp.hash(i, 122) % $3::int as customer,
    date_trunc('day', now()) + interval '9 hours' + make_interval(hours => (i / cardinality($4::text[]) - $2::int / 2 / cardinality($4::text[])) * 36) as begins,
    date_trunc('hour', now()) - make_interval(mins => ($2::int - i) * 15) as made
  from generate_series(0, $2::int - 1) i) n) n
join (select id, row_number() over (order by id) as nth from calendars where account_id = $1::uuid) k on k.nth = n.person
join ${contact} on c.nth = n.customer order by i`;

/** A flow with a menu that leads to another menu, and to two who are rung together; it answers the number of the account. */
const flow = `
with f as (
  insert into call_flows (account_id, id, name, phone_number, draft_graph, published_graph, published_version, published_at, created_at, updated_at)
  select $1::uuid, gen_random_uuid(), 'Front desk', n.number, $2::jsonb, $2::jsonb, 1, now(), now(), now() from phone_numbers n where n.account_id = $1::uuid
  returning account_id, id, phone_number, published_graph),
v as (
  insert into call_flow_versions (account_id, id, call_flow_id, version, phone_number, graph, user_ids, created_at)
  select account_id, gen_random_uuid(), id, 1, phone_number, published_graph, $3::uuid[], now() from f returning call_flow_id)
insert into live_calls (account_id, id, provider_id, call_flow_id, call_flow_version, from_number, to_number, started_at, created_at, updated_at)
select f.account_id, pg_temp.id7(now(), 'live' || i), 'CA' || md5(i::text), f.id, 1, '+1415' || 5550000 + i, f.phone_number, now(), now(), now()
from f, generate_series(1, $4::int) i`;

const phones = `
update memberships m set phone = '+1415555' || 1000 + array_position($2::uuid[], m.user_id) where m.account_id = $1::uuid and m.user_id = any($2::uuid[])`;

/** How many calls go on at one moment. */
const live = 2000;

const graphOf = ([one, other]: string[]) => ({
  entryId: 'entry',
  nodes: [
    { id: 'entry', kind: 'entry', next: 'menu' },
    {
      id: 'menu',
      kind: 'menu',
      text: 'Press one for sales, two for more',
      options: [1, 2].map((digit) => ({ digit, next: digit === 1 ? 'team' : 'more' })),
      next: 'end',
    },
    { id: 'more', kind: 'menu', text: 'Press one for support', options: [{ digit: 1, next: 'team' }], next: 'end' },
    { id: 'team', kind: 'group', mode: 'round_robin', members: [{ userId: one }, { userId: other }], ringSeconds: 20, next: 'end' },
    { id: 'end', kind: 'hangup', message: 'Good bye' },
  ],
});

interface Account {
  accountId: string;
  members: string[];
  contacts: number;
  calls: number;
  appointments: number;
}

/** Calls that are over and some that go on, and when contacts are met: each person has a calendar. */
export async function fillCalls(client: pg.Client, { accountId, members, contacts, ...wanted }: Account): Promise<void> {
  await client.query(calls, [accountId, wanted.calls, contacts, members]);
  await client.query(calendars, [accountId, members]);
  await client.query(appointments, [accountId, wanted.appointments, contacts, members]);
  await client.query(phones, [accountId, members]);
  await client.query(flow, [accountId, JSON.stringify(graphOf(members)), members.slice(0, 2), live]);
}
