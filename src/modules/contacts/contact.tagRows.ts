import type { Context } from '../../kernel/context/context.js';
import { instant, listOf, records, text, uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { batched, loader } from '../../kernel/operations/loader.js';
import { namesKey, tagsByNames } from '../tags/tag.service.js';
import { type TagRow, tagOrder, tagRow } from '../tags/tag.table.js';

/** A contact, and the tags it carries where they are known. */
interface Tagged {
  id: string;
  tags?: TagRow[];
}

/** A contact's tags by name, for many contacts in one statement. */
export const tagsOfContactLoader = loader<TagRow[]>(async (ctx, ids) => {
  const found = new Map((await ctx.rows(tagsOf, { ids })).map(({ id, tags }) => [id, tags]));
  return ids.map((id) => found.get(id) ?? []);
});

const tagsOf = statement({
  name: 'tagsOfContacts',
  takes: { ids: listOf(uuid) },
  row: { id: uuid, tags: records(tagRow.shape) },
  shared: true,
  text: ({ account, ids }) => sql`
    select c.contact_id as id, json_agg(g order by ${rawSql(tagOrder('g'))}) as tags
    from contact_tags c cross join lateral (
      select ${tagRow.columns('t')} from tags t where t.account_id = c.account_id and t.id = c.tag_id) g
    where c.account_id = ${account} and c.contact_id = any(${ids}) group by c.contact_id`,
});

export const withTags = async <C extends Tagged>(ctx: Context, contact: C): Promise<C & { tags: TagRow[] }> => ({
  ...contact,
  tags: await tagsOfContactLoader(ctx).load(contact.id),
});

/** The tags of these names, found or made. */
export const tagsNamed = (ctx: Context, names: string[]): Promise<TagRow[]> => tagsByNames(ctx, namesKey(names));

/** Puts tags on a contact that is being made. */
export function carry(ctx: Context, contactId: string, tags: TagRow[]): TagRow[] {
  for (const { id: tagId } of tags) ctx.insert('ContactTag', { contactId, tagId });
  return tags;
}

/** Replaces the contact's tags by those of the names, found or made. */
export async function setTags(ctx: Context, contact: Tagged, names: string[]): Promise<TagRow[]> {
  const tags = names.length > 0 ? await tagsNamed(ctx, names) : [];
  const kept = tags.map((tag) => tag.id);
  const gone = (contact.tags ?? []).filter((tag) => !kept.includes(tag.id));
  await Promise.all([
    ...gone.map((tag) => takeTagOff(ctx, pair(contact.id, tag.id))),
    ...kept.map((id) => putTagOn(ctx, pair(contact.id, id))),
  ]);
  tagsOfContactLoader(ctx).clear(contact.id);
  return tags;
}

/** A contact and a tag as one key. */
export const pair = (contactId: string, tagId: string) => `${contactId}/${tagId}`;

const columnsOf = (pairs: readonly string[]) => {
  const split = pairs.map((key) => key.split('/') as [string, string]);
  return { contacts: split.map(([contact]) => contact), tags: split.map(([, tag]) => tag) };
};

interface Pair {
  key: string;
}

const pairs = { contacts: listOf(uuid), tags: listOf(uuid) };

const putTags = statement({
  name: 'putTagsOn',
  takes: { ...pairs, now: instant },
  row: { key: text },
  changes: true,
  text: ({ account, contacts, tags, now }) => sql`
    insert into contact_tags (account_id, contact_id, tag_id, created_at)
    select ${account}, contact, tag, ${now} from unnest(${contacts}, ${tags}) p(contact, tag) order by 2, 3
    on conflict do nothing returning contact_id || '/' || tag_id as key`,
});

const takeTags = statement({
  name: 'takeTagsOff',
  takes: pairs,
  row: { key: text },
  changes: true,
  text: ({ account, contacts, tags }) => sql`
    delete from contact_tags ct using unnest(${contacts}, ${tags}) p(contact, tag)
    where ct.account_id = ${account} and ct.contact_id = p.contact and ct.tag_id = p.tag
    returning ct.contact_id || '/' || ct.tag_id as key`,
});

const among = (keys: readonly string[], rows: Pair[]) => {
  const found = new Set(rows.map((row) => row.key));
  return keys.map((key) => found.has(key));
};

/** Puts tags on contacts, many in one statement; answers of each pair whether it was not there yet. */
export const putTagOn = batched<boolean>(async (ctx, keys) => among(keys, await ctx.rows(putTags, { ...columnsOf(keys), now: ctx.now() })));

/** Takes tags off contacts, many in one statement; answers of each pair whether it was there. */
export const takeTagOff = batched<boolean>(async (ctx, keys) => among(keys, await ctx.rows(takeTags, columnsOf(keys))));
