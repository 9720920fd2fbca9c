import type { Context } from '../../kernel/context/context.js';
import { text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/facts.js';
import type { Contact } from './contact.model.js';
import { contactToRestore, emitContact } from './contact.service.js';

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
 * Keeps what people said of being written to, who may have been deleted meanwhile: whoever restores them must know it. Of a contact
 * that is deleted nothing is told; it is told whole when it comes back.
 */
export async function optOut(
  ctx: Context,
  ids: readonly string[],
  given: Partial<Pick<Contact, 'optedOutSms' | 'optedOutEmail'>>,
): Promise<void> {
  for (const before of await ctx.toChange(contactToRestore, [...new Set(ids)])) {
    const changes = changesBetween(before, given, Object.keys(given));
    if (Object.keys(changes).length === 0) continue;
    const contact = { ...ctx.update('Contact', before, given), tags: before.tags };
    if (!before.deletedAt) await emitContact(ctx, 'updated', contact, changes);
  }
}
