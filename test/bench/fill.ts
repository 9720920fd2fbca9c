import type pg from 'pg';
import { type FilledAccount, fillAccount } from './fill.accounts.js';
import { fillCalls } from './fill.calls.js';
import { fillDeals } from './fill.deals.js';
import { fillTalk } from './fill.talk.js';
import { fillWork } from './fill.work.js';
import { companyHeads, companyTails, firstNames, jobTitles, lastNames, places, sources, streets, tagNames } from './words.js';

export interface Size {
  contacts: number;
  companies: number;
  deals: number;
  messages: number;
  calls: number;
  appointments: number;
}

export const size: Size = {
  ...{ contacts: 100_000, companies: 5_000, deals: 20_000, messages: 100_000 },
  ...{ calls: 10_000, appointments: 10_000 },
};
const tagsPerContact = 2;

/** What a client needs to know of the filled account, and the keys of the empty ones beside it. */
export interface Filled extends FilledAccount {
  otherKeys: string[];
}

/** Everything is a function of the row's number, so that two fills hold the same people. */
const helpers = `
create function pg_temp.hash(i int, salt int) returns int immutable language sql as
  $$ select ((hashint8extended(i::bigint, salt) >> 33) & 2147483647)::int $$;
create function pg_temp.pick(list text[], i int, salt int) returns text immutable language sql as
  $$ select list[1 + pg_temp.hash(i, salt) % cardinality(list)] $$;
create function pg_temp.chance(i int, salt int, percent int) returns boolean immutable language sql as
  $$ select pg_temp.hash(i, salt) % 100 < percent $$;
create function pg_temp.id7(made timestamptz, seed text) returns uuid immutable language sql as
  $$ select (lpad(to_hex((extract(epoch from made) * 1000)::bigint), 12, '0') || '7' || substr(md5(seed), 1, 3)
    || '8' || substr(md5(seed), 4, 15))::uuid $$`;

const colleagues = [
  ['Robin', 'Castellanos'],
  ['Sam', 'Whitfield'],
  ['Noor', 'Haddad'],
  ['Jules', 'Moreau'],
  ['Kim', 'Sandoval'],
] as const;

/** They have calendars and calls, as the colleagues do, but no contacts and deals. */
const receptionists = [
  ['Ada', 'Lindqvist'],
  ['Ben', 'Okafor'],
  ['Cleo', 'Marchetti'],
  ['Dina', 'Farouk'],
  ['Eli', 'Novak'],
] as const;

/** How many empty accounts there are besides. */
const otherAccounts = 100;

async function fillOthers(client: pg.Client): Promise<string[]> {
  const keys: string[] = [];
  for (let i = 0; i < otherAccounts; i++) keys.push((await fillAccount(client, `Other${i}`, [['Alex', 'Rowe']])).key);
  return keys;
}

const companies = `
insert into companies (account_id, id, name, domain, industry, size, annual_revenue, owner_id, website, phone, city, state, country,
  created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'company' || i), name, domain, tail, case when not pg_temp.chance(i, 1, 15) then
    pg_temp.pick('{1-10,11-50,51-200,201-500,501-1000,1001+}', i, 2) end,
  case when pg_temp.chance(i, 3, 60) then (10 + pg_temp.hash(i, 4) % 5000) * 10000 end,
  case when pg_temp.chance(i, 5, 40) then pg_temp.pick($5::text[], i, 6)::uuid end, 'https://www.' || domain,
  case when pg_temp.chance(i, 7, 70) then '+1' || 200 + pg_temp.hash(i, 8) % 700 || '555' || lpad((i % 10000)::text, 4, '0') end,
  place[1], place[2], place[4], made, made
from (
  select i, head, tail, head || ' ' || tail as name, lower(head || '-' || tail) || '.example' as domain,
    string_to_array(pg_temp.pick($4::text[], i, 9), '|') as place,
    date_trunc('hour', now()) - make_interval(mins => ($6::int - i) * 200) as made
  from (select i, ($2::text[])[1 + i % cardinality($2::text[])] as head,
      ($3::text[])[1 + i / cardinality($2::text[]) % cardinality($3::text[])] as tail from generate_series(0, $6::int - 1) i) n
) c`;

const tags = `
insert into tags (account_id, id, name, color, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'tag' || name), name, '#' || substr(md5(name), 1, 6), made, made
from (select name, date_trunc('hour', now()) - make_interval(days => 800 - i::int) as made
  from unnest($2::text[]) with ordinality t (name, i)) t
returning id`;

const contacts = `
insert into contacts (account_id, id, first_name, last_name, email, phone, company, company_id, job_title, source, address_line1, city,
  state, zip, country, timezone, master_status, language, do_not_contact, assigned_to, tag_ids, custom_fields, attribution, lead_score,
  last_activity_at, last_contacted_at, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'contact' || i), first, last,
  case when not pg_temp.chance(i, 12, 8) then lower(first_ascii || '.' || last_ascii) || i % 1000 || '@' || coalesce(o.domain, 'mail.example') end,
  case when not pg_temp.chance(i, 13, 25) then '+1' || 200 + pg_temp.hash(i, 14) % 700 || '555' || lpad((i % 10000)::text, 4, '0') end,
  o.name, o.id, case when not pg_temp.chance(i, 15, 30) then pg_temp.pick($7::text[], i, 16) end,
  case when not pg_temp.chance(i, 17, 20) then pg_temp.pick($8::text[], i, 18) end,
  case when has_address then 1 + pg_temp.hash(i, 19) % 400 || ' ' || pg_temp.pick($9::text[], i, 20) || ' Street' end,
  place[1], place[2], case when has_address then place[3] || lpad((pg_temp.hash(i, 21) % 100)::text, 2, '0') end, place[4], place[5],
  pg_temp.pick('{lead,lead,lead,prospect,customer}', i, 22), case when pg_temp.chance(i, 23, 50) then 'en' end, pg_temp.chance(i, 24, 2),
  case when pg_temp.chance(i, 25, 60) then pg_temp.pick($10::text[], i, 26)::uuid end,
  array[($11::uuid[])[1 + least(a, b)], ($11::uuid[])[1 + greatest(a, b)]],
  case when pg_temp.chance(i, 27, 30) then jsonb_build_object('seats', 1 + pg_temp.hash(i, 28) % 200,
    'plan', pg_temp.pick('{basic,team,business}', i, 29)) else '{}' end,
  case when pg_temp.chance(i, 30, 15) then jsonb_build_object('utm_source', pg_temp.pick('{google,newsletter,linkedin}', i, 31),
    'utm_medium', 'cpc', 'landingUrl', 'https://www.bench.example/start', 'clickIds', jsonb_build_object('gclid', md5(i::text))) end,
  pg_temp.hash(i, 32) % 101, touched, case when pg_temp.chance(i, 33, 50) then touched end, made, coalesce(touched, made)
from (
  select *, case when pg_temp.chance(i, 34, 70) then least(made + make_interval(mins => pg_temp.hash(i, 35) % 40000), date_trunc('hour', now())) end as touched
  from (
    select i, pg_temp.pick($3::text[], i, 1) as first, case when not pg_temp.chance(i, 2, 5) then pg_temp.pick($4::text[], i, 3) end as last,
      pg_temp.pick($5::text[], i, 1) as first_ascii, pg_temp.pick($6::text[], i, 3) as last_ascii,
      string_to_array(pg_temp.pick($12::text[], i, 4), '|') as place, pg_temp.chance(i, 5, 55) as has_address,
      case when pg_temp.chance(i, 6, 60) then 1 + pg_temp.hash(i, 7) % $13::int end as employer,
      pg_temp.hash(i, 8) % 50 as a, (pg_temp.hash(i, 8) + 1 + pg_temp.hash(i, 9) % 49) % 50 as b,
      date_trunc('hour', now()) - make_interval(mins => ($2::int - i) * 10, secs => pg_temp.hash(i, 10) % 600) as made
    from generate_series(0, $2::int - 1) i
  ) n
) c left join (select *, row_number() over (order by id) as nth from companies where account_id = $1::uuid) o on o.nth = c.employer
order by i`;

const contactTags = `
insert into contact_tags (account_id, contact_id, tag_id, created_at)
select account_id, id, unnest(tag_ids), created_at from contacts where account_id = $1::uuid`;

const tagCounts = `
insert into counts (account_id, kind, slot, n)
select account_id, 'tag:' || tag_id, 0, count(*) from contacts, unnest(tag_ids) tag_id where account_id = $1::uuid group by 1, 2`;

const ascii = (names: string[]) => names.map((name) => name.normalize('NFD').replace(/[^A-Za-z]/g, ''));

/**
 * Fills a migrated, empty database with one account. The counters are kept by their triggers; the tags that a contact's
 * row repeats are written with the row, so that the trigger need not write every row a second time.
 */
export async function fill(client: pg.Client, wanted: Size = size): Promise<Filled> {
  await client.query(helpers);
  await client.query('begin');
  const { accountId, key, members: people } = await fillAccount(client, 'Bench', [...colleagues, ...receptionists]);
  const members = people.slice(0, colleagues.length);
  const placeTexts = places.map((place) => place.join('|'));
  await client.query(companies, [accountId, companyHeads, companyTails, placeTexts, members, wanted.companies]);
  const { rows } = await client.query<{ id: string }>(tags, [accountId, tagNames]);
  const names = [firstNames, lastNames, ascii(firstNames), ascii(lastNames)];
  const tagIds = rows.map((row) => row.id);
  const lists = [...names, jobTitles, sources, streets, members, tagIds, placeTexts];
  await client.query(contacts, [accountId, wanted.contacts, ...lists, wanted.companies]);
  await client.query('alter table contact_tags disable trigger keep_tag_ids_insert');
  await client.query(contactTags, [accountId]);
  await client.query('alter table contact_tags enable trigger keep_tag_ids_insert');
  await client.query(tagCounts, [accountId]);
  await fillDeals(client, { accountId, members, ...wanted });
  await fillWork(client, { accountId, members, ...wanted });
  await fillTalk(client, { accountId, members, ...wanted });
  await fillCalls(client, { accountId, members: people, ...wanted });
  const otherKeys = await fillOthers(client);
  await client.query('commit');
  await client.query('vacuum (analyze)');
  await checkFill(client, accountId, wanted);
  return { accountId, key, otherKeys };
}

/** What was promised is there, and the counters agree with it. */
async function checkFill(client: pg.Client, accountId: string, wanted: Size): Promise<void> {
  const { rows } = await client.query(
    `select (select count(*) from contacts where account_id = $1)::int as contacts, (select count(*) from companies where account_id = $1)::int
     as companies, (select count(*) from tags where account_id = $1)::int as tags, (select count(*) from messages where account_id = $1)::int as messages, (select count(*) from contact_tags where account_id = $1)::int
     as links, (select count(*) from calls where account_id = $1)::int as calls,
     (select count(*) from appointments where account_id = $1)::int as appointments, (select sum(n) from counts where account_id = $1 and kind = 'contacts')::int as counted`,
    [accountId],
  );
  const expected = { ...wanted, tags: tagNames.length, links: wanted.contacts * tagsPerContact, counted: wanted.contacts };
  for (const [name, n] of Object.entries(rows[0] as Record<string, number>)) {
    if (n !== expected[name as keyof typeof expected]) throw new Error(`The fill has ${n} ${name}`);
  }
}
