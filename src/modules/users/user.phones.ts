import type { Context } from '../../kernel/context/context.js';
import { listOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { DomainEvent } from '../../kernel/events/changes.js';
import { toE164 } from '../../kernel/model/checks.js';

const holdUnread = statement({
  name: 'phonesOfMembersAsGiven',
  row: { id: uuid, phone: text },
  locks: true,
  text: ({ account }) => sql`
    select m.user_id as id, m.phone from memberships m
    where m.account_id = ${account} and m.phone !~ '^[+][1-9][0-9]{6,14}$' order by m.user_id for no key update`,
});

const keepPhones = statement({
  name: 'keepPhonesOfMembers',
  takes: { ids: listOf(uuid), phones: listOf(text) },
  row: { id: uuid },
  changes: true,
  text: ({ account, ids, phones }) => sql`
    update memberships m set phone = g.phone from unnest(${ids}, ${phones}) g(id, phone)
    where m.account_id = ${account} and m.user_id = g.id returning m.user_id as id`,
});

/**
 * The country of numbers without one is another: phones that a version before kept as they were given stay the numbers that they were
 * until now. What is none stays as it is.
 */
export async function onWorkspaceUpdated(ctx: Context, { changes }: DomainEvent): Promise<void> {
  const country = changes?.defaultCountry?.from;
  if (typeof country !== 'string') return;
  const given = await ctx.rows(holdUnread);
  const read = given.flatMap(({ id, phone }) => {
    const number = toE164(phone, country);
    return number ? [{ id, number }] : [];
  });
  if (read.length > 0) await ctx.rows(keepPhones, { ids: read.map(({ id }) => id), phones: read.map(({ number }) => number) });
}
