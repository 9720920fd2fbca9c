import type { Batch, Context } from '../../kernel/context/context.js';
import { grouped } from '../../kernel/context/loaders.js';
import { sql, statement } from '../../kernel/database/sql.js';
import type { Tag } from '../tags/tag.model.js';

/** A contact, and the tags it carries where they are known. */
interface Tagged {
  id: string;
  tags?: Tag[];
}

const byName = (tags: Tag[]) => tags.sort((a, b) => (a.name < b.name ? -1 : 1));

/** A contact's tags by name, for many contacts in one statement. */
export const tagsOfContacts: Batch<Tag[]> = async (ctx, ids) => {
  const rows = await ctx.db.contactTag.findMany({
    where: { contactId: { in: [...ids] } },
    include: { tag: true },
    orderBy: [{ tag: { name: 'asc' } }, { tagId: 'asc' }],
  });
  return grouped(
    ids,
    rows,
    (row) => row.contactId,
    (row) => row.tag as Tag,
  );
};

export const withTags = async <C extends Tagged>(ctx: Context, contact: C): Promise<C & { tags: Tag[] }> => ({
  ...contact,
  tags: await ctx.load.tagsOfContact.load(contact.id),
});

/** The tags of these names, found or made; of several spellings of one name the first counts. */
export async function tagsNamed(ctx: Context, names: string[]): Promise<Tag[]> {
  const wanted = new Map([...names].reverse().map((name) => [name.toLowerCase(), name]));
  return Promise.all([...wanted.values()].map((name) => ctx.load.tagNamed.fresh(name)));
}

/** Puts tags on a contact that is being made. */
export function carry(ctx: Context, contactId: string, tags: Tag[]): Tag[] {
  for (const { id: tagId } of tags) ctx.insert('ContactTag', { contactId, tagId });
  return byName(tags);
}

/** Replaces the contact's tags by those of the names, found or made. */
export async function setTags(ctx: Context, contact: Tagged, names: string[]): Promise<Tag[]> {
  const tags = names.length > 0 ? await tagsNamed(ctx, names) : [];
  const kept = tags.map((tag) => tag.id);
  const gone = (contact.tags ?? []).filter((tag) => !kept.includes(tag.id));
  await Promise.all([
    ...gone.map((tag) => ctx.load.tagOff.fresh(pair(contact.id, tag.id))),
    ...kept.map((id) => ctx.load.tagOn.fresh(pair(contact.id, id))),
  ]);
  ctx.load.tagsOfContact.clear(contact.id);
  return byName(tags);
}

/** A contact and a tag as one key of a loader. */
export const pair = (contactId: string, tagId: string) => `${contactId}/${tagId}`;

const columnsOf = (pairs: readonly string[]) => {
  const split = pairs.map((key) => key.split('/') as [string, string]);
  return [split.map(([contact]) => contact), split.map(([, tag]) => tag)] as const;
};

interface Pair {
  key: string;
}

const putOn = statement<Pair, [readonly string[], readonly string[], Date]>(
  (account, contacts, tags, now) => sql`
    insert into contact_tags (account_id, contact_id, tag_id, created_at)
    select ${account}::uuid, contact, tag, ${now} from unnest(${contacts}::uuid[], ${tags}::uuid[]) p(contact, tag) order by 2, 3
    on conflict do nothing returning contact_id || '/' || tag_id as key`,
);

const takeOff = statement<Pair, [readonly string[], readonly string[]]>(
  (account, contacts, tags) => sql`
    delete from contact_tags ct using unnest(${contacts}::uuid[], ${tags}::uuid[]) p(contact, tag)
    where ct.account_id = ${account}::uuid and ct.contact_id = p.contact and ct.tag_id = p.tag
    returning ct.contact_id || '/' || ct.tag_id as key`,
);

const among = (pairs: readonly string[], rows: Pair[]) => {
  const found = new Set(rows.map((row) => row.key));
  return pairs.map((key) => found.has(key));
};

/** Puts tags on contacts, many in one statement; answers of each pair whether it was not there yet. */
export const putTagsOn: Batch<boolean> = async (ctx, pairs) => among(pairs, await ctx.query(putOn, ...columnsOf(pairs), ctx.now()));

/** Takes tags off contacts, many in one statement; answers of each pair whether it was there. */
export const takeTagsOff: Batch<boolean> = async (ctx, pairs) => among(pairs, await ctx.query(takeOff, ...columnsOf(pairs)));
