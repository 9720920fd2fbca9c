import type { Context } from '../../kernel/context/context.js';
import { uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql, tablesWith } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

// Tags follow a contact in their own way, below; the head of a conversation follows its messages by itself; the runs through
// sequences and of automations are told of as they follow.
const besides = ['contact_tags', 'conversations', 'enrollments', 'automation_runs'];

/** Every table whose rows follow their contact in a merge: whatever names one. */
const children = tablesWith('contactId').filter((table) => !besides.includes(table));

const merge = { from: uuid, to: uuid };

const repoints = children.map((table) =>
  statement({
    name: `repoint ${table}`,
    takes: merge,
    changes: true,
    text: ({ account, from, to }) =>
      sql`update ${rawSql(table)} set contact_id = ${to} where account_id = ${account} and contact_id = ${from}`,
  }),
);

const repointTags = statement({
  name: 'repointTags',
  takes: merge,
  changes: true,
  text: ({ account, from, to }) => sql`
    with moved as (delete from contact_tags where account_id = ${account} and contact_id = ${from} returning *)
    insert into contact_tags (account_id, contact_id, tag_id, created_at)
    select account_id, ${to}, tag_id, created_at from moved on conflict do nothing`,
});

/** Hands everything that hangs on one contact to another. */
export async function repointChildren(ctx: Context, from: string, to: string): Promise<void> {
  for (const repoint of repoints) await ctx.rows(repoint, { from, to });
  await ctx.rows(repointTags, { from, to });
}
