import type pg from 'pg';

const pipelineCount = 2;

const pipelines = `
insert into pipelines (account_id, id, name, is_default, sort_order, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'pipeline' || i), (array['Sales', 'Renewals'])[1 + i % 2], i = 0, i, made, made
from (select i, date_trunc('hour', now()) - make_interval(days => 700) as made from generate_series(0, $2::int - 1) i) n`;

const stages = `
insert into stages (account_id, id, pipeline_id, name, color, sort_order, is_won, is_lost, probability, created_at, updated_at)
select p.account_id, pg_temp.id7(p.created_at, 'stage' || p.name || i), p.id, s.name, '#' || substr(md5(s.name), 1, 6), i - 1, s.name = 'Won', s.name = 'Lost',
  case s.name when 'Won' then 1 when 'Lost' then 0 else i * 0.2 end, p.created_at, p.created_at
from pipelines p, unnest('{New,Qualified,Proposal,Negotiation,Won,Lost}'::text[]) with ordinality s (name, i) where p.account_id = $1::uuid`;

/** Nine in ten are with a contact, as many with the contact's company, three quarters are somebody's; a fifth is won, a fifth lost. */
const deals = `
insert into deals (account_id, id, title, pipeline_id, stage_id, contact_id, company_id, value, currency, status, source, probability,
  expected_close_date, assigned_to, custom_fields, position, stage_entered_at, closed_at, last_activity_at, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'deal' || i), coalesce(c.company, 'Walk-in') || ' ' || pg_temp.pick('{licences,support,rollout,upgrade}', i, 50), s.pipeline_id,
  s.id, c.id, c.company_id, (5 + pg_temp.hash(i, 51) % 5000) * 10, 'USD',
  case when s.is_won then 'won' when s.is_lost then 'lost' else 'open' end, case when pg_temp.chance(i, 52, 50) then 'referral' end, s.probability,
  (made + make_interval(days => pg_temp.hash(i, 53) % 120))::date,
  case when pg_temp.chance(i, 54, 75) then pg_temp.pick($3::text[], i, 55)::uuid end,
  case when pg_temp.chance(i, 56, 20) then jsonb_build_object('region', pg_temp.pick('{north,south}', i, 57)) else '{}' end,
  extract(epoch from made) * 1000, made, case when s.is_won or s.is_lost then made end, made, made, made
from (select i, date_trunc('hour', now()) - make_interval(mins => ($2::int - i) * 30) as made,
    case when pg_temp.chance(i, 58, 90) then 1 + pg_temp.hash(i, 59) % $4::int end as customer,
    case when pg_temp.chance(i, 60, 60) then 1 + pg_temp.hash(i, 61) % 4 else 5 + pg_temp.hash(i, 61) % 2 end as place,
    pg_temp.hash(i, 62) % 2 as pipeline from generate_series(0, $2::int - 1) i) n
join (select s.*, row_number() over (partition by s.pipeline_id order by s.sort_order) as nth, p.sort_order as pipeline
  from stages s join pipelines p on p.account_id = s.account_id and p.id = s.pipeline_id) s on s.nth = n.place and s.pipeline = n.pipeline
left join (select id, company, company_id, row_number() over (order by id) as nth from contacts where account_id = $1::uuid) c on c.nth = n.customer
order by i`;

interface Account {
  accountId: string;
  members: string[];
  contacts: number;
  deals: number;
}

/** Two pipelines of six stages, and deals in them, over the contacts and companies that are there. */
export async function fillDeals(client: pg.Client, { accountId, members, contacts, deals: n }: Account): Promise<void> {
  await client.query(pipelines, [accountId, pipelineCount]);
  await client.query(stages, [accountId]);
  await client.query(deals, [accountId, n, members, contacts]);
}
