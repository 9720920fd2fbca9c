import type pg from 'pg';

/** The messages of a long thread, and what share of all messages is in such ones. */
export const longThread = 500;
const [shortThread, inLong] = [10, 0.1];

/**
 * Text messages and e-mails, back and forth by the minute: a tenth in threads of 500, the others in threads of ten. Four in five of
 * those that came in were read. The heads of the conversations are kept by the triggers.
 */
const messages = `
insert into messages (account_id, id, contact_id, channel, direction, body, subject, from_number, to_number, from_email, to_email, provider,
  status, sent_at, read_at, user_id, created_at, updated_at)
select $1::uuid, pg_temp.id7(made, 'message' || i), c.id, channel, direction, repeat('We will look at your offer and call back. ', 1 + pg_temp.hash(i, 90) % 4),
  case when channel = 'email' then 'Your offer ' || i end,
  case when channel = 'sms' then case when is_in then c.phone else '+14155550100' end end,
  case when channel = 'sms' then case when is_in then '+14155550100' else c.phone end end,
  case when channel = 'email' and is_in then c.email end, case when channel = 'email' and not is_in then c.email end,
  case when not is_in then case channel when 'sms' then 'twilio' else 'smtp' end end,
  case when is_in then 'received' when pg_temp.chance(i, 91, 50) then 'delivered' else 'sent' end, case when not is_in then made end,
  case when is_in and pg_temp.chance(i, 92, 80) then made end, case when not is_in then pg_temp.pick($3::text[], i, 93)::uuid end, made, made
from (
  select i, date_trunc('hour', now()) - make_interval(mins => $2::int - i) as made, pg_temp.pick('{sms,sms,sms,email,email}', i, 94) as channel,
    direction, direction = 'inbound' as is_in,
    case when i % 10 = 0 then 1 + (i / 10) % $4::int else 1 + $4::int + pg_temp.hash(i, 95) % $5::int end as nth
  from (select i, pg_temp.pick('{inbound,outbound}', i, 96) as direction from generate_series(0, $2::int - 1) i) n
) m join (select id, email, phone, row_number() over (order by id) as nth from contacts where account_id = $1::uuid) c using (nth)`;

const form = `
with f as (
  insert into forms (account_id, id, name, fields, thank_you_message, settings, created_at, updated_at)
  values ($1::uuid, gen_random_uuid(), 'Contact us', $2::jsonb, 'We will be in touch.', '{}', now(), now()) returning id, account_id)
insert into public_forms (id, account_id) select id, account_id from f`;

const fields = [
  { key: 'name', label: 'Your name', type: 'text', required: true },
  { key: 'email', label: 'Your address', type: 'email', required: true },
  { key: 'question', label: 'Your question', type: 'textarea', required: false },
].map((field) => ({ ...field, options: null }));

interface Account {
  accountId: string;
  members: string[];
  messages: number;
}

/** The number that the simulator of text messages has for us first. */
const number = `
insert into phone_numbers (id, account_id, number, provider, updated_at) values (gen_random_uuid(), $1::uuid, '+14155550100', 'twilio', now())`;

/** Threads with the contacts that are there, a form that strangers fill in, and a number that text messages come from. */
export async function fillTalk(client: pg.Client, { accountId, members, messages: n }: Account): Promise<void> {
  const long = Math.max(1, Math.round((n * inLong) / longThread));
  const short = Math.max(1, Math.round((n * (1 - inLong)) / shortThread));
  await client.query(messages, [accountId, n, members, long, short]);
  await client.query(form, [accountId, JSON.stringify(fields)]);
  await client.query(number, [accountId]);
}
