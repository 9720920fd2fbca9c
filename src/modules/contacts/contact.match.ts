import type { Batch, Context } from '../../kernel/context/context.js';
import { listOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

// One upsert of an address at a time: two of them must not both find nobody.
const atAddresses = statement({
  name: 'contactsAtAddresses',
  takes: { emails: listOf(text), phones: listOf(text) },
  row: { key: text, id: uuid },
  locks: true,
  text: ({ account, emails, phones }) => sql`select key, id from contacts_at(${account}, ${emails}, ${phones})`,
});

/**
 * The contact at each address, `email/ada@example.com` or `phone/+15551234567`: the oldest of several, null for none. No other
 * upsert of these addresses goes on until this unit of work ends.
 */
export const contactsAtAddresses: Batch<string | null> = async (ctx, keys) => {
  const addresses = (kind: string) => keys.filter((key) => key.startsWith(kind)).map((key) => key.slice(kind.length));
  const [emails, phones] = [addresses('email/'), addresses('phone/')];
  const found = new Map((await ctx.rows(atAddresses, { emails, phones })).map(({ key, id }) => [key, id]));
  return keys.map((key) => found.get(key) ?? null);
};

/** The contact of an e-mail address, else of a phone number; undefined for none. No other upsert of the two goes on meanwhile. */
export async function contactMatching(
  ctx: Context,
  { email, phone }: { email?: string | null; phone?: string | null },
): Promise<string | undefined> {
  const at = (kind: string, address: string | null | undefined) => address && ctx.load.contactAtAddress.fresh(`${kind}/${address}`);
  const [byEmail, byPhone] = await Promise.all([at('email', email?.toLowerCase()), at('phone', phone)]);
  return byEmail || byPhone || undefined;
}
