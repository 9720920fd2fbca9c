import type { Context } from '../../kernel/context/context.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { keepOptOuts } from './contact.addressFacts.js';
import { type CreateContactInput, mostTags } from './contact.model.js';
import { type ContactRow, contactForChange, emitContact, named } from './contact.service.js';
import { pair, putTagOn, tagsNamed, tagsOfContactLoader, withTags } from './contact.tagRows.js';

/**
 * Adds what a contact lacked, and tags by their names, found or made; nothing that it has changes, its opt-outs least of all. For
 * what a stranger says, who may say anything of anybody. More tags than a contact can carry are left out.
 */
export async function fillContact(ctx: Context, id: string, { tags = [], ...said }: CreateContactInput): Promise<string> {
  ctx.lockRows();
  const before = await contactForChange(ctx, id);
  const known = before as Record<string, unknown>;
  const lacked = Object.entries(said).filter(([name, value]) => value !== null && value !== undefined && known[name] === null);
  const given = Object.fromEntries(lacked) as Partial<Omit<ContactRow, 'tags'>>;
  const carried = await tagged(ctx, before, tags ?? []);
  const changes = changesBetween(named(before), named({ ...before, ...given, tags: carried }), [...Object.keys(given), 'tags']);
  if (isNothing(changes)) return id;
  const saved = { ...ctx.update('Contact', before, given), tags: carried };
  keepOptOuts(ctx, before, saved);
  await emitContact(ctx, 'updated', saved, changes);
  return id;
}

async function tagged(ctx: Context, before: ContactRow, names: string[]) {
  const carried = before.tags ?? [];
  const isNew = (name: string) => !carried.some((tag) => tag.name.toLowerCase() === name.toLowerCase());
  const wanted = names.filter(isNew).slice(0, Math.max(0, mostTags - carried.length));
  if (wanted.length === 0) return carried;
  const tags = await tagsNamed(ctx, wanted);
  await Promise.all(tags.map((tag) => putTagOn(ctx, pair(before.id, tag.id))));
  tagsOfContactLoader(ctx).clear(before.id);
  return (await withTags(ctx, before)).tags;
}
