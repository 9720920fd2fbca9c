import type { Context } from '../../kernel/context/context.js';
import { text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/facts.js';
import type { Contact } from './contact.model.js';
import { type ContactRow, contactToRestore, emitContact } from './contact.service.js';

const withPhone = statement({
  name: 'contactsWithPhone',
  takes: { phone: text },
  row: { id: uuid },
  planned: true,
  text: ({ account, phone }) => sql`
    select id from contacts where account_id = ${account} and phone = ${phone} and deleted_at is null
    union all
    select id from contacts where account_id = ${account} and phone = ${phone} and deleted_at is not null and merged_into_id is null`,
});

/** All contacts with a phone number, deleted ones among them. */
export const contactsWithPhone = async (ctx: Context, phone: string): Promise<string[]> =>
  (await ctx.rows(withPhone, { phone })).map(({ id }) => id);

const withEmail = statement({
  name: 'contactsWithEmail',
  takes: { email: text },
  row: { id: uuid },
  planned: true,
  text: ({ account, email }) => sql`
    select id from contacts where account_id = ${account} and email_lower = lower(${email} collate "und-x-icu") and deleted_at is null
    union all
    select id from contacts where account_id = ${account} and email_lower = lower(${email} collate "und-x-icu")
      and deleted_at is not null and merged_into_id is null`,
});

/** All contacts with an e-mail address, deleted ones among them. */
export const contactsWithEmail = async (ctx: Context, email: string): Promise<string[]> =>
  (await ctx.rows(withEmail, { email })).map(({ id }) => id);

/**
 * Contacts that are to be changed, deleted ones among them; in the place of one that was merged, maybe while this waited for it, the
 * one that it was merged into.
 */
async function survivorsOf(ctx: Context, ids: readonly string[]): Promise<ContactRow[]> {
  const found = new Map<string, ContactRow>();
  for (let next = [...new Set(ids)]; next.length > 0; ) {
    const rows = await ctx.toChange(contactToRestore, next);
    for (const row of rows) found.set(row.id, row);
    next = [...new Set(rows.flatMap(({ mergedIntoId }) => mergedIntoId ?? []))].filter((id) => !found.has(id));
  }
  return [...found.values()].filter(({ mergedIntoId }) => !mergedIntoId);
}

/**
 * Keeps what people said of being written to, who may have been deleted meanwhile: whoever restores them must know it. Of a contact
 * that is deleted nothing is told; it is told whole when it comes back.
 */
export async function optOut(
  ctx: Context,
  ids: readonly string[],
  given: Partial<Pick<Contact, 'optedOutSms' | 'optedOutEmail'>>,
): Promise<void> {
  for (const before of await survivorsOf(ctx, ids)) {
    const changes = changesBetween(before, given, Object.keys(given));
    if (Object.keys(changes).length === 0) continue;
    const contact = { ...ctx.update('Contact', before, given), tags: before.tags };
    if (!before.deletedAt) await emitContact(ctx, 'updated', contact, changes);
  }
}

/** Keeps that a number of a contact is a landline: what we know of the number, and no field of the contact. */
export async function markLandline(ctx: Context, id: string, landline: string): Promise<void> {
  for (const contact of await survivorsOf(ctx, [id]))
    if (contact.id === id || contact.phone === landline) ctx.update('Contact', contact, { landline });
}
