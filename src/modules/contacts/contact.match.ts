import type { Batch, Context } from '../../kernel/context/context.js';
import { listOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

// One upsert of an address at a time: two of them must not both find nobody. In one order, so that none waits for ever.
const oneAtATime = statement({
  name: 'lockAddresses',
  takes: { addresses: listOf(text) },
  row: { locked: text },
  locks: true,
  text: ({ account, addresses }) => sql`
    select pg_advisory_xact_lock(hashtextextended(${account}::text || address, 0))::text as locked from unnest(${addresses}) address`,
});

/** Keeps other upserts of these addresses waiting until this unit of work ends. */
export const lockAddresses = (ctx: Context, addresses: readonly string[]) =>
  ctx.rows(oneAtATime, { addresses: [...new Set(addresses)].sort() });

const atAddresses = statement({
  name: 'contactsAtAddresses',
  takes: { emails: listOf(text), phones: listOf(text) },
  row: { key: text, id: uuid },
  text: ({ account, emails, phones }) => sql`
    select distinct on (key) key, id from (
      select 'email/' || email_lower as key, id, created_at from contacts
      where account_id = ${account} and deleted_at is null and email_lower = any(${emails})
      union all
      select 'phone/' || phone, id, created_at from contacts
      where account_id = ${account} and deleted_at is null and phone = any(${phones})) found
    order by key, created_at, id`,
});

/**
 * The contact at each address, `email/ada@example.com` or `phone/+15551234567`: the oldest of several, null for none. No other
 * upsert of these addresses goes on until this unit of work ends.
 */
export const contactsAtAddresses: Batch<string | null> = async (ctx, keys) => {
  const addresses = (kind: string) => keys.filter((key) => key.startsWith(kind)).map((key) => key.slice(kind.length));
  const [emails, phones] = [addresses('email/'), addresses('phone/')];
  await lockAddresses(ctx, [...emails, ...phones]);
  const found = new Map((await ctx.rows(atAddresses, { emails, phones })).map(({ key, id }) => [key, id]));
  return keys.map((key) => found.get(key) ?? null);
};
