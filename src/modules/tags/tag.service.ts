import { check, found, invalidField, taken } from '../../kernel/base/errors.js';
import { type Batch, type Context, validId } from '../../kernel/context/context.js';
import { isTaken } from '../../kernel/database/errors.js';
import { listOf, text, uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/facts.js';
import { listRows } from '../../kernel/lists/list.js';
import { textOrder } from '../../kernel/lists/sortKeys.js';
import { deleted } from '../../kernel/model/connection.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateTagInput, MergeTagsInput, TagList, UpdateTagInput } from './tag.model.js';
import { type TagRow, tagOrder, tagRow, tagTable } from './tag.table.js';

const { columns } = tagTable;

export const listTags = (ctx: Context, args: TagList) => listRows<TagRow>(ctx, tagTable, args);

export const getTag = async (ctx: Context, id: string) => found(await ctx.db.tag.findUnique({ where: ctx.at(id, 'Tag') }), 'Tag');

const nameTaken = () => invalidField('name', 'taken', 'is taken by another tag');

/** A tag's name is taken without regard to case: 400 naming `name`. */
async function checkName(ctx: Context, name: string, except?: string) {
  const [taken] = await findByNames(ctx, [name]);
  check(!taken || taken.id === except, nameTaken);
}

export async function createTag(ctx: Context, input: CreateTagInput) {
  checkTrial(ctx);
  if (input.id) ctx.requireFree(input.id);
  // Asking first would let two writers of one name at once both be told that it is free.
  const { count } = await ctx.db.tag.createMany({ data: [input], skipDuplicates: true });
  const [made] = await findByNames(ctx, [input.name]);
  check(count === 1, () => (made && made.id !== input.id ? nameTaken() : taken('id')));
  await ctx.emit({ name: 'tag.created', record: found(made, 'Tag') });
  return made!;
}

export async function updateTag(ctx: Context, id: string, input: UpdateTagInput) {
  const where = ctx.at(id, 'Tag');
  const before = found(await ctx.db.tag.findUnique({ where }), 'Tag');
  const changes = changesBetween(before, { ...before, ...input }, Object.keys(input));
  if (Object.keys(changes).length === 0) return before;
  if (input.name) await checkName(ctx, input.name, where.key.id);
  const saved = await ctx.db.tag.update({ where, data: input }).catch((error: unknown) => {
    // Of two who take a name at once, the check above lets both pass.
    throw isTaken(error) ? nameTaken() : error;
  });
  await ctx.emit({ name: 'tag.updated', record: saved, changes });
  return saved;
}

export async function deleteTag(ctx: Context, id: string) {
  const tag = await getTag(ctx, id);
  await ctx.db.contactTag.deleteMany({ where: { tagId: tag.id } });
  await ctx.db.tag.delete({ where: ctx.at(id) });
  await ctx.emit({ name: 'tag.deleted', record: tag });
  return deleted(tag.id);
}

const moveTag = statement({
  name: 'moveTag',
  takes: { source: uuid, target: uuid },
  changes: true,
  text: ({ account, source, target }) => sql`
    insert into contact_tags (account_id, contact_id, tag_id, created_at)
    select account_id, contact_id, ${target}, created_at from contact_tags where account_id = ${account} and tag_id = ${source}
    on conflict do nothing`,
});

const lockTags = statement({
  name: 'lockTags',
  takes: { ids: listOf(uuid) },
  row: { id: uuid },
  locks: true,
  // In one order, so that two merges of the same tags wait for each other, and the second finds one of them gone.
  text: ({ account, ids }) => sql`select id from tags where account_id = ${account} and id = any(${ids}) order by id for update`,
});

/** Contract POST /tags/merge: every contact of the source carries the target afterwards. */
export async function mergeTags(ctx: Context, { sourceId, targetId }: MergeTagsInput) {
  check(sourceId !== targetId, () => invalidField('sourceId', 'conflicting', 'must differ from targetId'));
  await ctx.rows(lockTags, { ids: [validId(sourceId, 'Tag'), validId(targetId, 'Tag')] });
  const target = await getTag(ctx, targetId);
  await getTag(ctx, sourceId);
  await ctx.rows(moveTag, { source: sourceId, target: targetId });
  await deleteTag(ctx, sourceId);
  return target;
}

const byNames = statement({
  name: 'tagsByName',
  takes: { names: listOf(text) },
  row: tagRow.shape,
  text: ({ account, names }) =>
    sql`select ${columns} from tags t where t.account_id = ${account} and ${rawSql(textOrder('t.name'))} = any(${names}) order by ${rawSql(tagOrder('t'))}`,
});

/** The tags of these names, whatever their case. */
const findByNames = (ctx: Context, names: readonly string[]) => ctx.rows(byNames, { names: names.map((name) => name.toLowerCase()) });

/** The key under which the tags of these names are loaded, in whichever spelling: of several the first counts. */
export const namesKey = (names: readonly string[]) => JSON.stringify(names);

/** The tags of each list of names, whatever their case, as lists of tags are sorted; what is missing is made, or 402 after the trial. */
export const tagsByNames: Batch<TagRow[]> = async (ctx, keys) => {
  const lists = keys.map((key) => JSON.parse(key) as string[]);
  const names = lists.flat();
  const inLowerCase = (tags: TagRow[]) => new Map(tags.map((tag) => [tag.name.toLowerCase(), tag]));
  const known = inLowerCase(await findByNames(ctx, names));
  const missing = new Map([...names].reverse().map((name) => [name.toLowerCase(), { name }]));
  for (const name of known.keys()) missing.delete(name);
  // Sorted, so that two writers of the same new names wait for each other in one order.
  const data = [...missing.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (data.length > 0) {
    checkTrial(ctx);
    const own = await ctx.db.tag.createManyAndReturn({ data, skipDuplicates: true });
    for (const record of own) await ctx.emit({ name: 'tag.created', record });
  }
  const made = data.length > 0 ? inLowerCase(await findByNames(ctx, names)) : known;
  return lists.map((list) => {
    const wanted = new Set(list.map((name) => name.toLowerCase()));
    return [...made].flatMap(([name, tag]) => (wanted.has(name) ? [tag] : []));
  });
};
