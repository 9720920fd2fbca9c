import type pg from 'pg';

/** What hangs on contacts and deals: each refers to the n-th of them. */
const tasks = `
insert into tasks (account_id, id, title, due_date, priority, status, assigned_to, contact_id, deal_id, completed_at, created_by, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'task' || i), pg_temp.pick('{Call,Visit,Offer,Contract,Reminder}', i, 70) || ' ' || i,
  case when pg_temp.chance(i, 71, 80) then made + make_interval(days => pg_temp.hash(i, 72) % 90) end,
  pg_temp.pick('{low,medium,high,urgent}', i, 73), status, case when pg_temp.chance(i, 74, 70) then pg_temp.pick($3::text[], i, 75)::uuid end,
  d.contact_id, d.id, case when status = 'done' then made end, pg_temp.pick($3::text[], i, 76)::uuid, made, made
from (select i, pg_temp.pick('{todo,todo,in_progress,done,done,done}', i, 77) as status,
    date_trunc('hour', now()) - make_interval(mins => ($2::int - i) * 30) as made from generate_series(0, $2::int - 1) i) n
join (select id, contact_id, row_number() over (order by id) - 1 as nth from deals where account_id = $1::uuid) d on d.nth = n.i`;

const notes = `
insert into notes (account_id, id, body, contact_id, deal_id, is_pinned, created_by, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'note' || i), repeat('Spoke with them about the offer. ', 1 + pg_temp.hash(i, 80) % 6), d.contact_id, d.id,
  pg_temp.chance(i, 81, 3), pg_temp.pick($3::text[], i, 82)::uuid, made, made
from (select i, date_trunc('hour', now()) - make_interval(mins => ($2::int - i) * 30) as made from generate_series(0, $2::int - 1) i) n
join (select id, contact_id, row_number() over (order by id) - 1 as nth from deals where account_id = $1::uuid) d on d.nth = n.i`;

// None is left that a sweep finds overdue: it would work beside the first minute of a bench.
const invoices = `
insert into invoices (account_id, id, invoice_number, status, contact_id, company_id, deal_id, subtotal, total, amount_paid, due_date, sent_at,
  paid_at, created_by, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'invoice' || i), 'INV-' || lpad((i + 1)::text, 8, '0'), status, d.contact_id, d.company_id, d.id, d.value, d.value,
  case when status = 'paid' then d.value else 0 end, (made + interval '30 days')::date, case when status <> 'draft' then made end,
  case when status = 'paid' then made end, pg_temp.pick($3::text[], i, 90)::uuid, made, made
from (select i, made, case when picked = 'sent' and made < now() - interval '30 days' then 'overdue' else picked end as status
    from (select i, pg_temp.pick('{draft,sent,paid,paid,paid,overdue}', i, 91) as picked,
      date_trunc('hour', now()) - make_interval(mins => ($2::int - i) * 60) as made from generate_series(0, $2::int - 1) i) p) n
join (select id, contact_id, company_id, value, row_number() over (order by id) - 1 as nth from deals where account_id = $1::uuid) d on d.nth = n.i`;

const activities = `
insert into activities (account_id, id, type, title, contact_id, entity_type, entity_id, action, user_id, user_name, created_at)
select $1::uuid, pg_temp.id7(created_at, 'activity' || id), 'contact.created', 'Contact created', id, 'contact', id, 'created', $2::uuid, 'Robin Castellanos',
  created_at from contacts where account_id = $1::uuid`;

interface Account {
  accountId: string;
  members: string[];
  deals: number;
}

/** A task and a note for each deal, an invoice for every second, and what the log says of each contact. */
export async function fillWork(client: pg.Client, { accountId, members, deals }: Account): Promise<void> {
  await client.query(tasks, [accountId, deals, members]);
  await client.query(notes, [accountId, deals, members]);
  await client.query(invoices, [accountId, Math.floor(deals / 2), members]);
  await client.query(activities, [accountId, members[0]]);
}
