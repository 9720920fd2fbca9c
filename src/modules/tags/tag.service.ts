import { check, found, invalidField, notFound, taken } from '../../kernel/base/errors.js';
import { nilId } from '../../kernel/base/ids.js';
import type { Context } from '../../kernel/context/context.js';
import { isTaken } from '../../kernel/database/errors.js';
import { listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { getRow, listRows } from '../../kernel/lists/list.js';
import { deleted } from '../../kernel/model/removal.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { batched } from '../../kernel/operations/loader.js';
import { inPortions } from '../../kernel/operations/portions.js';
import { textOrder } from '../../kernel/tables/sortKeys.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateTagInput, MergeTagsInput, TagList, UpdateTagInput } from './tag.model.js';
import { type CountedTag, type TagRow, tagOrder, tagRow, tagTable, unused } from './tag.table.js';

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
  if (input.id) ctx.requireFree(input.id);
  // Asking first would let two writers of one name at once both be told that it is free.
  const { count } = await ctx.db.tag.createMany({ data: [input], skipDuplicates: true });
  const [made] = await findByNames(ctx, [input.name]);
  check(count === 1 || !made || made.id === input.id, nameTaken);
  // What was made by then is undone.
  checkTrial(ctx);
  check(count === 1, () => taken('id'));
  const tag = { ...found(made, 'Tag'), ...unused };
  await ctx.emit({ name: 'tag.created', record: tag });
  return tag;
}

export async function updateTag(ctx: Context, id: string, input: UpdateTagInput) {
  const where = ctx.at(id, 'Tag');
  await ctx.rows(lockTags, { ids: [where.key.id] });
  const before = await getRow<CountedTag>(ctx, tagTable, where.key.id, ['_count']);
  const changes = changesBetween(before, { ...before, ...input }, Object.keys(input));
  if (isNothing(changes)) return before;
  if (input.name) await checkName(ctx, input.name, where.key.id);
  const saved = await ctx.db.tag.update({ where, data: input }).catch((error: unknown) => {
    // Of two who take a name at once, the check above lets both pass.
    throw isTaken(error) ? nameTaken() : error;
  });
  const tag = { ...saved, _count: before._count };
  await ctx.emit({ name: 'tag.updated', record: tag, changes });
  return tag;
}

const lockTags = statement({
  name: 'lockTags',
  takes: { ids: listOf(uuid) },
  row: { id: uuid },
  locks: true,
  // In one order, so that two who want the same tags wait for each other, and the second finds one of them gone.
  text: ({ account, ids }) => sql`select id from tags where account_id = ${account} and id = any(${ids}) order by id for update`,
});

const holdTags = statement({
  name: 'holdTags',
  takes: { ids: listOf(uuid) },
  row: { id: uuid },
  locks: true,
  text: ({ account, ids }) => sql`select id from tags where account_id = ${account} and id = any(${ids}) order by id for key share`,
});

/** Contacts that one transaction takes a tag from: few enough that nobody waits for it. */
const portion = 200;

// The contacts first, as those lock who change one of them.
const nextTagged = (account: Sql, tag: Sql, after: Sql) => sql`
  select c.id from contact_tags ct join contacts c on c.account_id = ct.account_id and c.id = ct.contact_id
  where ct.account_id = ${account} and ct.tag_id = ${tag} and ct.contact_id > coalesce(${after}, ${nilId}::uuid)
  order by ct.contact_id limit ${portion}::int for no key update of c`;

const untag = statement({
  name: 'untagContacts',
  takes: { source: uuid, target: nullable(uuid), after: nullable(uuid) },
  row: { last: nullable(uuid) },
  changes: true,
  text: ({ account, source, target, after }) => sql`
    with chosen as (${nextTagged(account, source, after)}),
      gone as (delete from contact_tags ct using chosen where ct.account_id = ${account} and ct.tag_id = ${source} and ct.contact_id = chosen.id
        returning ct.contact_id, ct.created_at),
      kept as (insert into contact_tags (account_id, contact_id, tag_id, created_at)
        select ${account}, contact_id, ${target}, created_at from gone where ${target} is not null on conflict do nothing)
    select (select id from chosen order by id desc limit 1) as last`,
});

/** Takes a tag off every contact, who carry the other one instead where there is one; nothing is told of them. */
async function takeOffAll(ctx: Context, source: string, target: string | null = null): Promise<void> {
  const ids = target ? [source, target] : [source];
  await inPortions(ctx, portion, async (inside, after) => {
    const held = await inside.rows(holdTags, { ids });
    check(held.length === ids.length, () => notFound('Tag'));
    const [{ last }] = (await inside.rows(untag, { source, target, after })) as [{ last: string | null }];
    return last ?? undefined;
  });
}

/** Contract DELETE /tags/{id}: off every contact, however many carry it, and then gone. */
export async function deleteTag(ctx: Context, id: string) {
  const { id: source } = await getTag(ctx, id);
  await takeOffAll(ctx, source);
  return inFinalTransaction(ctx, async (inside) => {
    await removeTag(inside, source);
    return deleted('Tag', source);
  });
}

async function removeTag(ctx: Context, id: string, target: string | null = null): Promise<void> {
  await ctx.rows(lockTags, { ids: target ? [id, target] : [id] });
  const tag = await getTag(ctx, id);
  // Who was given it meanwhile.
  await takeOffAll(ctx, id, target);
  await ctx.db.tag.delete({ where: ctx.at(id) });
  await ctx.emit({ name: 'tag.deleted', record: { ...tag, ...unused } });
}

/** Contract POST /tags/merge: every contact of the source carries the target afterwards. */
export async function mergeTags(ctx: Context, { sourceId, targetId }: MergeTagsInput) {
  check(sourceId !== targetId, () => invalidField('sourceId', 'conflicting', 'must differ from targetId'));
  const target = await getTag(ctx, targetId);
  const source = await getTag(ctx, sourceId);
  await takeOffAll(ctx, source.id, target.id);
  return inFinalTransaction(ctx, async (inside) => {
    await removeTag(inside, source.id, target.id);
    return target;
  });
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

/** Has the next write find tags that were read before. Where one is gone by then, the operation is tried again, and makes it anew. */
function requireTags(ctx: Context, ids: string[]): void {
  if (ids.length === 0) return;
  const held = sql`select 1 from tags where account_id = ${ctx.caller.account.id}::uuid and id = any(${ids}::uuid[]) order by id for key share`;
  ctx.requireRow(`tags ${ids}`, sql`select 1 from (select count(*) as n from (${held}) h) c where c.n = ${ids.length}::int`);
}

/** The key under which the tags of these names are loaded, in whichever spelling: of several the first counts. */
export const namesKey = (names: readonly string[]) => JSON.stringify(names);

/** The tags of each list of names, whatever their case, as lists of tags are sorted; what is missing is made, or 402 after the trial. */
export const tagsByNames = batched<TagRow[]>(async (ctx, keys) => {
  const lists = keys.map((key) => JSON.parse(key) as string[]);
  const names = lists.flat();
  const inLowerCase = (tags: TagRow[]) => new Map(tags.map((tag) => [tag.name.toLowerCase(), tag]));
  const known = inLowerCase(await findByNames(ctx, names));
  requireTags(
    ctx,
    [...known.values()].map(({ id }) => id),
  );
  const missing = new Map([...names].reverse().map((name) => [name.toLowerCase(), { name }]));
  for (const name of known.keys()) missing.delete(name);
  // Sorted, so that two writers of the same new names wait for each other in one order: by what is unique, which is the name in any case.
  const data = [...missing].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, tag]) => tag);
  if (data.length > 0) {
    checkTrial(ctx);
    const own = await ctx.db.tag.createManyAndReturn({ data, skipDuplicates: true });
    for (const record of own) await ctx.emit({ name: 'tag.created', record: { ...record, ...unused } });
  }
  const made = data.length > 0 ? inLowerCase(await findByNames(ctx, names)) : known;
  return lists.map((list) => {
    const wanted = new Set(list.map((name) => name.toLowerCase()));
    return [...made].flatMap(([name, tag]) => (wanted.has(name) ? [tag] : []));
  });
});
