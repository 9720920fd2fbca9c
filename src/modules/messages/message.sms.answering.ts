import type { Context } from '../../kernel/context/context.js';
import { text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { batched } from '../../kernel/operations/loader.js';

// Where one contact has the number, their thread is not looked into.
const answering = statement({
  name: 'contactAnswering',
  takes: { fromNumber: text, toNumber: text },
  row: { id: uuid },
  shared: true,
  counts: true,
  text: ({ account, fromNumber, toNumber }) => sql`
    with here as materialized (
      select c.id, count(*) over () as n from contacts c
      where c.account_id = ${account} and c.phone = ${fromNumber} and c.deleted_at is null)
    select h.id from here h cross join lateral (
      select max(coalesce(m.sent_at, m.created_at)) as at from messages m
      where m.account_id = ${account} and m.contact_id = h.id and m.channel = 'sms' and m.direction = 'outbound'
        and m.from_number = ${toNumber} and m.to_number = ${fromNumber} and m.status in ('sending', 'sent', 'delivered')) l
    where h.n > 1 and l.at is not null order by l.at desc, h.id limit 1`,
});

interface Numbers {
  fromNumber: string;
  toNumber: string;
}

const answeringAt = batched((ctx, keys) => {
  const one = async (key: string) => (await ctx.rows(answering, JSON.parse(key) as Numbers))[0]?.id;
  return Promise.all(keys.map(one));
});

/**
 * Of several contacts with the number that a text comes from, the one to whom the number that it goes to last wrote; undefined for none. In
 * one statement with who is at an address, where that is asked for at the same moment.
 */
export const contactAnswering = (ctx: Context, { fromNumber, toNumber }: Numbers): Promise<string | undefined> =>
  answeringAt(ctx, JSON.stringify({ fromNumber, toNumber }));
