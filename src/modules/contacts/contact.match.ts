import { AppError } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { canReadUnlocked } from '../../kernel/context/rows.js';
import { Overtaken } from '../../kernel/database/errors.js';
import { listOf, text, uuid } from '../../kernel/database/kinds.js';
import { allOf, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { batched } from '../../kernel/operations/loader.js';

// One upsert of an address at a time: two of them must not both find nobody.
const atAddresses = statement({
  name: 'contactsAtAddresses',
  takes: { emails: listOf(text), phones: listOf(text) },
  row: { key: text, id: uuid },
  locks: true,
  text: ({ account, emails, phones }) => sql`select key, id from contacts_at(${account}, ${emails}, ${phones})`,
});

const seenAtAddresses = statement({
  name: 'contactsSeenAtAddresses',
  takes: { emails: listOf(text), phones: listOf(text) },
  row: { key: text, id: uuid },
  shared: true,
  text: ({ account, emails, phones }) => sql`select key, id from contacts_seen_at(${account}, ${emails}, ${phones})`,
});

// Who moved away while this one waited is not there any more: PostgreSQL looks at the row again that it waited for.
const holdAtAddresses = statement({
  name: 'holdContactsAtAddresses',
  takes: { keys: listOf(text), ids: listOf(uuid) },
  row: { id: uuid },
  locks: true,
  text: ({ account, keys, ids }) => sql`
    select c.id from contacts c join unnest(${keys}, ${ids}) seen(key, id)
      on c.id = seen.id and seen.key in ('email/' || c.email_lower, 'phone/' || c.phone)
    where c.account_id = ${account} and c.deleted_at is null order by c.id, seen.key for update of c`,
});

/** More addresses than those of one person are locked at once. */
const mostLookedAt = 2;

/**
 * The contact at each address, `email/ada@example.com` or `phone/+15551234567`: the oldest of several, null for none. What an optimistic
 * unit of work has seen holds when it writes, or it is undone; to others no other upsert of these addresses comes before they end.
 */
export const contactAtAddress = batched<string | null>(async (ctx, keys) => {
  const addresses = (kind: string) => keys.filter((key) => key.startsWith(kind)).map((key) => key.slice(kind.length));
  const [emails, phones] = [addresses('email/'), addresses('phone/')];
  const mayLook = canReadUnlocked(ctx, 'contacts') && keys.length <= mostLookedAt;
  const rows = mayLook ? await ctx.rows(seenAtAddresses, { emails, phones }) : await heldAt(ctx, { emails, phones });
  const found = new Map(rows.map(({ key, id }) => [key, id]));
  if (mayLook) requireSeen(ctx, keys, found);
  return keys.map((key) => found.get(key) ?? null);
});

/**
 * The contacts at addresses, to whom nobody else does anything before this unit of work ends. Who goes or moves away while it waits is
 * looked for again.
 */
async function heldAt(ctx: Context, addresses: { emails: string[]; phones: string[] }): Promise<{ key: string; id: string }[]> {
  const rows = await ctx.rows(atAddresses, addresses);
  if (rows.length === 0) return rows;
  const held = await ctx.rows(holdAtAddresses, { keys: rows.map(({ key }) => key), ids: rows.map(({ id }) => id) });
  return held.length === rows.length ? rows : heldAt(ctx, addresses);
}

/**
 * Has the next write find the contacts that were seen, alive and at their addresses; of the other addresses, at which nobody was, it
 * takes each and finds nobody there yet.
 */
function requireSeen(ctx: Context, keys: readonly string[], found: ReadonlyMap<string, string>): void {
  const { id: account } = ctx.caller.account;
  // In one order, so that two units wait for each other instead of for ever: e-mail addresses, phone numbers, contacts.
  const inOrder = [...keys].sort();
  for (const key of inOrder.filter((one) => !found.has(one)))
    ctx.requireRow(`address ${key}`, sql`select nobody_at(${account}::uuid, ${key})`, 'exclusive');
  for (const id of [...new Set(found.values())].sort()) {
    const at = inOrder.filter((key) => found.get(key) === id);
    const live = sql`account_id = ${account}::uuid and id = ${id}::uuid and deleted_at is null and ${allOf(at.map(isAt))}`;
    // As who changes it locks it: two that share a lock first would wait for each other for ever.
    ctx.requireRow(`contact ${id} at ${at}`, sql`select 1 from contacts where ${live} for update`);
  }
}

/** That a row of `contacts` is at an address. */
function isAt(key: string): Sql {
  const [kind, address] = [key.slice(0, key.indexOf('/')), key.slice(key.indexOf('/') + 1)];
  return kind === 'email' ? sql`email_lower = ${address}` : sql`phone = ${address}`;
}

/**
 * The contact of an e-mail address, else of a phone number; undefined for none. What is said of the two holds when this unit of work
 * writes.
 */
export async function contactMatching(
  ctx: Context,
  { email, phone }: { email?: string | null; phone?: string | null },
): Promise<string | undefined> {
  const at = (kind: string, address: string | null | undefined) => address && contactAtAddress(ctx, `${kind}/${address}`);
  const [byEmail, byPhone] = await Promise.all([at('email', email?.toLowerCase()), at('phone', phone)]);
  return byEmail || byPhone || undefined;
}

/**
 * What is done with a contact that was found by an address. Who was only seen may be gone by now: then the operation is tried again, and
 * finds who is there.
 */
export const withMatch = <T>(done: Promise<T>): Promise<T> =>
  done.catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'not_found' ? new Overtaken() : error;
  });
