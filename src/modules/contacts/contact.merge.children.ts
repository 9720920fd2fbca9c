import type { Context } from '../../kernel/context/context.js';
import { integer, listOf, nullable, uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changeAll, lockedUpTo } from '../../kernel/operations/changeAll.js';

// What tells nothing of its contact. Other records follow with their modules, and tell so (`followsContact`).
const children = ['activities', 'import_rows'];

/** Hands the rows of a table over, a portion a statement: an activity a day for years is very many. */
function repointing(table: string): (ctx: Context, from: string, to: string) => Promise<void> {
  const rows = rawSql(table);
  const hanging = statement({
    name: `hanging ${table}`,
    takes: { from: uuid, most: nullable(integer) },
    row: { id: uuid },
    locks: true,
    text: ({ account, from, most }) => sql`
      select t.id from ${rows} t where t.account_id = ${account} and t.contact_id = ${from} ${lockedUpTo(most)}`,
  });
  const repoint = statement({
    name: `repoint ${table}`,
    takes: { ids: listOf(uuid), to: uuid },
    changes: true,
    text: ({ account, ids, to }) => sql`update ${rows} set contact_id = ${to} where account_id = ${account} and id = any(${ids})`,
  });
  return (ctx, from, to) =>
    changeAll(ctx, {
      find: (most) => ctx.rows(hanging, { from, most }),
      change: (ids) => ctx.rows(repoint, { ids, to }),
      tell: async () => {},
    });
}

const repoints = children.map(repointing);

const repointTags = statement({
  name: 'repointTags',
  takes: { from: uuid, to: uuid },
  changes: true,
  text: ({ account, from, to }) => sql`
    with moved as (delete from contact_tags where account_id = ${account} and contact_id = ${from} returning *)
    insert into contact_tags (account_id, contact_id, tag_id, created_at)
    select account_id, ${to}, tag_id, created_at from moved on conflict do nothing`,
});

/** Hands everything that hangs on one contact to another. */
export async function repointChildren(ctx: Context, from: string, to: string): Promise<void> {
  for (const repoint of repoints) await repoint(ctx, from, to);
  await ctx.rows(repointTags, { from, to });
}
