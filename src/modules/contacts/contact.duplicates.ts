import type { Context } from '../../kernel/context/context.js';
import { integer, listOf, text, uuid, word } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type DuplicateGroup, mostOfGroup } from './contact.model.js';

const mostGroups = 200;

const groups = statement({
  name: 'duplicateContacts',
  row: { matchOn: word<DuplicateGroup['matchOn']>(), value: text, count: integer, ids: listOf(uuid) },
  text: ({ account }) => sql`
    with live as (
      select id, email_lower, phone, lower(trim(concat_ws(' ', first_name, last_name)) collate "und-x-icu") as name,
        lower(company collate "und-x-icu") as company
      from contacts where account_id = ${account} and deleted_at is null),
    keyed as (
      select 'email' as kind, email_lower collate "C" as value, id from live where email_lower is not null
      union all select 'phone', phone collate "C", id from live where phone is not null
      union all select 'name_company', (name || ' @ ' || company) collate "C", id from live where name <> '' and company is not null)
    select kind as "matchOn", value, count(*)::int as count, (array_agg(id order by id))[1:${mostOfGroup}::int] as ids from keyed
    group by kind, value having count(*) > 1 order by count(*) desc, kind, value limit ${mostGroups}::int`,
});

/** Contract GET /contacts/duplicates: contacts that share an address, a number, or name and company; at most 200 groups. */
export async function duplicateContacts(ctx: Context): Promise<DuplicateGroup[]> {
  const found = await ctx.longRead(() => ctx.rows(groups));
  return Promise.all(
    found.map(async ({ ids, ...group }) => {
      const contacts = await Promise.all(ids.map((id) => ctx.load.contact.load(id)));
      return { ...group, contacts: contacts.filter((contact) => contact !== null) };
    }),
  );
}
