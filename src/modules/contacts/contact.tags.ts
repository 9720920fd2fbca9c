import { check, detailOf, found, invalid, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import type { AddTagsInput, Tag } from '../tags/tag.model.js';
import { getTag } from '../tags/tag.service.js';
import { mostTags } from './contact.model.js';
import { type ContactRow, contactForChange, emitContact, named } from './contact.service.js';
import { pair, putTagOn, tagsOfContactLoader, takeTagOff, withTags } from './contact.tagRows.js';

type TaggedRow = ContactRow & { tags: Tag[] };

/** Contract POST /contacts/{id}/tags: existing tags only, none is made; putting one on twice changes nothing. */
export const addTags = async (ctx: Context, id: string, input: AddTagsInput): Promise<Tag[]> => (await tagContact(ctx, id, input)).tags;

/** Puts existing tags on a contact and answers the contact. Putting one on twice changes nothing. */
export async function tagContact(ctx: Context, id: string, { tagIds, tagId }: AddTagsInput): Promise<TaggedRow> {
  const wanted = [...new Set([...(tagIds ?? []), ...(tagId ? [tagId] : [])])];
  check(wanted.length > 0, () => invalidField('tagIds', 'too_few', 'must name at least one tag'));
  const placeOf = (tag: string) => (tagIds?.includes(tag) ? `tagIds.${tagIds.indexOf(tag)}` : 'tagId');
  ctx.lockRows();
  const before = await contactForChange(ctx, id);
  const known = await ctx.db.tag.findMany({ where: { id: { in: wanted } }, select: { id: true } });
  const missing = wanted.filter((tag) => !known.some((one) => one.id === tag));
  const fault = { code: 'not_found', message: 'names a tag that does not exist in this workspace' } as const;
  check(missing.length === 0, () => invalid(missing.map((tag) => detailOf(placeOf(tag), fault))));
  return putOn(ctx, before, wanted, tagIds?.length ? 'tagIds' : 'tagId');
}

/** Puts tags that are known to exist on a contact; `field` is blamed where they are too many for it. */
export async function putOn(ctx: Context, before: ContactRow, tagIds: string[], field: string): Promise<TaggedRow> {
  await Promise.all(tagIds.map((tagId) => putTagOn(ctx, pair(before.id, tagId))));
  const after = await afterRetagging(ctx, before);
  const most = Math.max(mostTags, before.tags?.length ?? 0);
  check(after.tags.length <= most, () => invalidField(field, 'too_many', `would give the contact more than ${mostTags} tags`));
  return after;
}

/** Contract DELETE /contacts/{id}/tags/{tagId}: 404 when the contact does not carry the tag. */
export const removeTag = async (ctx: Context, id: string, tagId: string): Promise<Tag[]> => (await untagContact(ctx, id, tagId)).tags;

/** Takes a tag off a contact and answers the contact. Throws 404 where the contact does not carry the tag. */
export async function untagContact(ctx: Context, id: string, tagId: string): Promise<TaggedRow> {
  ctx.lockRows();
  const before = await contactForChange(ctx, id);
  const tag = await getTag(ctx, tagId);
  found((await takeOff(ctx, before, tag.id)) || null, 'Tag');
  return afterRetagging(ctx, before);
}

/** Takes a tag off a contact, and answers whether it carried it. */
export const takeOff = (ctx: Context, before: ContactRow, tagId: string): Promise<boolean> => takeTagOff(ctx, pair(before.id, tagId));

/** Tells of the tags that a contact now carries, where they are others than before; answers the contact. */
export async function afterRetagging(ctx: Context, before: ContactRow): Promise<TaggedRow> {
  tagsOfContactLoader(ctx).clear(before.id);
  const after = await withTags(ctx, before);
  const changes = changesBetween(named(before), named(after), ['tags']);
  if (isNothing(changes)) return after;
  const saved = ctx.update('Contact', after, {});
  await emitContact(ctx, 'updated', saved, changes);
  return saved;
}
