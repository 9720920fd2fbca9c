import { invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { bigint, flag, integer, listOf, records, text, uuid, word } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { Page, pageSize } from '../../kernel/model/connection.js';
import { lowered } from '../../kernel/tables/searchPatterns.js';
import { type DuplicateGroup, DuplicateKey, type DuplicateList, mostOfGroup } from './contact.model.js';
import { contactLoader } from './contact.service.js';

/** Where a group stands in the list: the largest first. */
interface Place {
  count: number;
  matchOn: DuplicateGroup['matchOn'];
  value: string;
}

/**
 * Addresses and numbers are counted in the order of their indexes. What is read of names and companies is kept, so that the contacts of
 * the groups on the page are found in it, all of them by one look: `is true` keeps the planner, which takes the groups for few, from
 * looking through it once for each of them.
 */
const groups = statement({
  name: 'duplicateContacts',
  takes: { size: integer, offset: bigint, isLater: flag, count: integer, matchOn: text, value: text },
  row: {
    total: integer,
    groups: records({ matchOn: word<DuplicateGroup['matchOn']>(), value: text, count: integer, ids: listOf(uuid) }),
  },
  text: ({ account, size, offset, isLater, count, matchOn, value }) => sql`
    with named as materialized (
      select id, ${lowered('k')} as value
      from (select id, trim(concat_ws(' ', first_name, last_name)) || ' @ ' || company as k from contacts
        where account_id = ${account} and deleted_at is null and company is not null offset 0) l where left(k, 3) <> ' @ '),
    groups as materialized (
      select 'email' as kind, email_lower collate "C" as value, count(*)::int as n from contacts
      where account_id = ${account} and deleted_at is null and email_lower is not null group by email_lower having count(*) > 1
      union all select 'phone', phone collate "C", count(*)::int from contacts
      where account_id = ${account} and deleted_at is null and phone is not null group by phone having count(*) > 1
      union all select 'name_company', value, count(*)::int from named group by value having count(*) > 1),
    page as materialized (
      select * from groups where not ${isLater} or n < ${count} or (n = ${count} and (kind collate "C", value) > (${matchOn}, ${value}))
      order by n desc, kind collate "C", value limit ${size} offset ${offset}::bigint),
    found as materialized (
      select kind, value, array_agg(id order by id) as ids from (
        select p.kind, p.value, c.id from page p cross join lateral (
          select id from contacts where account_id = ${account} and deleted_at is null and email_lower = p.value
          order by id limit ${mostOfGroup}::int) c where p.kind = 'email'
        union all select p.kind, p.value, c.id from page p cross join lateral (
          select id from contacts where account_id = ${account} and deleted_at is null and phone = p.value collate "default"
          order by id limit ${mostOfGroup}::int) c where p.kind = 'phone'
        union all select 'name_company', n.value, n.id from (
          select value, id, row_number() over (partition by value order by id) as nth from named
          where (value in (select value from page where kind = 'name_company')) is true) n where n.nth <= ${mostOfGroup}::int) c
      group by kind, value)
    select (select count(*)::int from groups) as total, (
      select coalesce(json_agg(g order by g.count desc, g."matchOn" collate "C", g.value), '[]') from (
        select p.kind as "matchOn", p.value, p.n as count, (select f.ids from found f where f.kind = p.kind and f.value = p.value) as ids
        from page p) g) as groups`,
});

/**
 * Contract GET /contacts/duplicates: contacts that share an address, a number, or name and company. Throws 400 naming the argument at
 * fault.
 */
export async function duplicateContacts(ctx: Context, args: DuplicateList): Promise<Page<DuplicateGroup>> {
  const size = pageSize(args);
  const offset = ((args.page ?? 1) - 1) * size;
  if (offset > 1e9) throw invalidField('page', 'out_of_range', 'is too far');
  const after = args.after ? placeOf(args.after) : undefined;
  const { count, matchOn, value } = after ?? { count: 0, matchOn: '', value: '' };
  const asked = { size: size + 1, offset: String(offset), isLater: after !== undefined, count, matchOn, value };
  const [found] = await ctx.longRead(() => ctx.rows(groups, asked));
  const shown = found!.groups.slice(0, size);
  const nodes = await Promise.all(
    shown.map(async ({ ids, ...group }) => {
      const contacts = await Promise.all(ids.map((id) => contactLoader(ctx).load(id)));
      return { ...group, contacts: contacts.filter((contact) => contact !== null) };
    }),
  );
  const more = { next: found!.groups.length > size, previous: offset > 0 || after !== undefined };
  return new Page<DuplicateGroup>(nodes, cursorOf, more, found!.total);
}

const listName = 'duplicates';

const cursorOf = ({ count, matchOn, value }: Place): string =>
  Buffer.from(JSON.stringify([listName, count, matchOn, value])).toString('base64url');

/** The place that a cursor names. Throws 400 for one that is none of this list. */
function placeOf(cursor: string): Place {
  try {
    const [list, count, matchOn, value] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [unknown, number, string, string];
    const isCount = Number.isInteger(count) && count > 0 && count < 2 ** 31;
    const isValue = typeof value === 'string' && !value.includes('\0');
    if (list === listName && isCount && Object.hasOwn(DuplicateKey, matchOn) && isValue)
      return { count, matchOn: matchOn as Place['matchOn'], value };
  } catch {
    // falls through to the one answer for every cursor that is not ours
  }
  throw invalidField('after', 'invalid_format', 'is not a cursor of this list');
}
