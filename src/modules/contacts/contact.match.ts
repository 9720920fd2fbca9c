import type { Batch } from '../../kernel/context/context.js';
import { sql, statement } from '../../kernel/database/sql.js';

// One upsert of an address at a time: two of them must not both find nobody. In one order, so that none waits for ever.
const oneAtATime = statement<never, [addresses: string[]]>(
  (account, addresses) => sql`
    select pg_advisory_xact_lock(hashtextextended(${account} || address, 0))::text from unnest(${addresses}::text[]) address`,
);

const atAddresses = statement<{ key: string; id: string }, [emails: string[], phones: string[]]>(
  (account, emails, phones) => sql`
    select distinct on (key) key, id from (
      select 'email/' || email_lower as key, id, created_at from contacts
      where account_id = ${account}::uuid and deleted_at is null and email_lower = any(${emails})
      union all
      select 'phone/' || phone, id, created_at from contacts
      where account_id = ${account}::uuid and deleted_at is null and phone = any(${phones})) found
    order by key, created_at, id`,
);

/**
 * The contact at each address, `email/ada@example.com` or `phone/+15551234567`: the oldest of several, null for none. No other
 * upsert of these addresses goes on until this unit of work ends.
 */
export const contactsAtAddresses: Batch<string | null> = async (ctx, keys) => {
  const addresses = (kind: string) => keys.filter((key) => key.startsWith(kind)).map((key) => key.slice(kind.length));
  const [emails, phones] = [addresses('email/'), addresses('phone/')];
  await ctx.query(oneAtATime, [...new Set([...emails, ...phones])].sort());
  const found = new Map((await ctx.query(atAddresses, emails, phones)).map(({ key, id }) => [key, id]));
  return keys.map((key) => found.get(key) ?? null);
};
