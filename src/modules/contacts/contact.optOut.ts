import type { Context } from '../../kernel/context/context.js';
import { flag, listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { addressesOf, type FactKind, isKnownOf, keepFact } from './contact.addressFacts.js';
import type { Contact } from './contact.model.js';
import { type ContactRow, contactRowsWithDeleted, emitContact } from './contact.service.js';

/** Besides the ids of contacts: null, where it is known of an address that it has opted out. */
const orKnown = (account: Sql, kind: FactKind, address: Sql): Sql =>
  sql`union all select null::uuid from (select ${account} as account_id) c where ${isKnownOf(kind, address)}`;

const withPhone = statement({
  name: 'contactsWithPhone',
  takes: { phone: text },
  row: { id: nullable(uuid) },
  planned: true,
  text: ({ account, phone }) => sql`
    select id from contacts where account_id = ${account} and phone = ${phone} and deleted_at is null
    union all
    select id from contacts where account_id = ${account} and phone = ${phone} and deleted_at is not null and merged_into_id is null
    ${orKnown(account, 'opted_out_sms', phone)}`,
});

// Besides those with the number: of who was merged into somebody, up to whom that is now, and all who were merged into these.
const optedOutBy = statement({
  name: 'contactsOptedOutByPhone',
  takes: { phone: text },
  row: { id: nullable(uuid) },
  planned: true,
  text: ({ account, phone }) => sql`
    with recursive up as (
      select m.merged_into_id as id from contacts m where m.account_id = ${account} and m.phone = ${phone} and m.merged_into_id is not null
      union select m.merged_into_id from up join contacts m on m.account_id = ${account} and m.id = up.id where m.merged_into_id is not null
    ), below as (
      select c.id as head, c.id from up join contacts c on c.account_id = ${account} and c.id = up.id
      where c.merged_into_id is null and c.opted_out_sms
      union select b.head, m.id from below b join contacts m on m.account_id = ${account} and m.merged_into_id = b.id
    )
    select id from contacts where account_id = ${account} and phone = ${phone} and deleted_at is null
    union all
    select id from contacts where account_id = ${account} and phone = ${phone} and deleted_at is not null and merged_into_id is null
    union all
    select b.id from below b where b.id = b.head and not exists (
      select 1 from below n join contacts c on c.account_id = ${account} and c.id = n.id
      where n.head = b.head and c.phone <> ${phone} and ${isKnownOf('opted_out_sms', sql`c.phone`)})
    ${orKnown(account, 'opted_out_sms', phone)}`,
});

const withEmail = statement({
  name: 'contactsWithEmail',
  takes: { email: text },
  row: { id: nullable(uuid) },
  planned: true,
  text: ({ account, email }) => sql`
    select id from contacts where account_id = ${account} and email_lower = lower(${email} collate "und-x-icu") and deleted_at is null
    union all
    select id from contacts where account_id = ${account} and email_lower = lower(${email} collate "und-x-icu")
      and deleted_at is not null and merged_into_id is null
    ${orKnown(account, 'opted_out_email', sql`lower(${email} collate "und-x-icu")`)}`,
});

/** Whether some contact with a number, deleted ones among them, meets a condition over the alias `o`. */
const someoneAt = (number: Sql, condition: Sql): Sql =>
  sql`exists (select 1 from contacts o where o.account_id = c.account_id and o.phone = ${number} and o.merged_into_id is null and ${condition})`;

/**
 * What decides whether a contact, under the alias `c`, gets text messages at a number. An opt-out and a landline are the number's, whoever
 * has it or had it; where it is not the contact's own, nobody who has it may be one who must not be contacted.
 */
export const textRefusals = (number: Sql): Sql => sql`
  (coalesce(c.do_not_contact, false) or ${number} is distinct from c.phone
    and ${someoneAt(number, sql`o.do_not_contact and o.deleted_at is null`)}) as "doNotContact",
  (c.opted_out_sms or ${someoneAt(number, sql`o.opted_out_sms`)} or ${isKnownOf('opted_out_sms', number)}) as "optedOutSms",
  case when ${someoneAt(number, sql`o.landline = o.phone`)} or ${isKnownOf('landline', number)} then ${number} else c.landline end as landline`;

/** Whether a contact, under the alias `c`, gets no mail: an opt-out is the address's, whichever contact has it or had it. */
export const isMailRefused = sql`(c.opted_out_email or exists (select 1 from contacts o
  where o.account_id = c.account_id and o.email_lower = c.email_lower and o.merged_into_id is null and o.opted_out_email)
  or ${isKnownOf('opted_out_email', sql`c.email_lower`)})`;

const byText = statement({
  name: 'recipientOfText',
  takes: { id: uuid, number: nullable(text) },
  row: { phone: nullable(text), doNotContact: flag, optedOutSms: flag, landline: nullable(text) },
  shared: true,
  text: ({ account, id, number }) => sql`
    select n.phone, ${textRefusals(sql`n.phone`)} from contacts c cross join lateral (select coalesce(${number}, c.phone) as phone) n
    where c.account_id = ${account} and c.id = ${id}`,
});

/**
 * Where a text message to a contact goes, and what decides whether it may: the number is another one than the contact's where it is given.
 */
export const recipientOfText = async (ctx: Context, id: string, number: string | null) => (await ctx.rows(byText, { id, number }))[0];

const refusingMail = statement({
  name: 'contactsRefusingMail',
  takes: { ids: listOf(uuid) },
  row: { id: uuid },
  shared: true,
  text: ({ account, ids }) => sql`select c.id from contacts c where c.account_id = ${account} and c.id = any(${ids}) and ${isMailRefused}`,
});

/** Those of some contacts who get no mail: they have opted out, or another contact with their address has. */
export const contactsRefusingMail = async (ctx: Context, ids: readonly string[]): Promise<Set<string>> =>
  new Set((await ctx.rows(refusingMail, { ids: [...ids] })).map(({ id }) => id));

const mailRefusals = statement({
  name: 'mailRefusalsOfAddress',
  takes: { email: text },
  row: { doNotContact: flag, optedOut: flag },
  planned: true,
  text: ({ account, email }) => {
    const someone = (condition: Sql) => sql`exists (select 1 from contacts o
      where o.account_id = c.account_id and o.email_lower = c.email_lower and o.merged_into_id is null and ${condition})`;
    return sql`select ${someone(sql`o.do_not_contact and o.deleted_at is null`)} as "doNotContact",
      (${someone(sql`o.opted_out_email`)} or ${isKnownOf('opted_out_email', sql`c.email_lower`)}) as "optedOut"
    from (select ${account} as account_id, lower(${email} collate "und-x-icu") collate "C" as email_lower) c`;
  },
});

/** Why no mail may go to an address of no contact in particular: who has it has opted out or must not be contacted. */
export async function addressRefusal(ctx: Context, email: string): Promise<'do_not_contact' | 'recipient_opted_out' | undefined> {
  const [known] = await ctx.rows(mailRefusals, { email });
  if (known?.doNotContact) return 'do_not_contact';
  return known?.optedOut ? 'recipient_opted_out' : undefined;
}

/** Why no e-mail may be sent to a contact. */
export type EmailRefusal = 'do_not_contact' | 'recipient_opted_out' | 'no_email';

/**
 * Why no e-mail may be sent to a contact, the first reason of those that apply; undefined where one may be. Whether its address is
 * opted out is for the caller to find out: `isMailRefused`, `contactsRefusingMail`, or `findEmailRefusal`, which asks itself.
 */
export function emailRefusal(contact: Pick<Contact, 'email' | 'doNotContact' | 'optedOutEmail'>): EmailRefusal | undefined {
  if (contact.doNotContact) return 'do_not_contact';
  if (contact.optedOutEmail) return 'recipient_opted_out';
  return contact.email ? undefined : 'no_email';
}

/** The same, with the opt-out of the address looked up where nothing else is in the way: one statement. */
export async function findEmailRefusal(ctx: Context, contact: Contact): Promise<EmailRefusal | undefined> {
  return emailRefusal(contact) ?? ((await contactsRefusingMail(ctx, [contact.id])).size > 0 ? 'recipient_opted_out' : undefined);
}

/**
 * Contacts that are to be changed, deleted ones among them; in the place of one that was merged, maybe while this waited for it, the
 * one that it was merged into.
 */
async function survivorsOf(ctx: Context, ids: readonly string[]): Promise<ContactRow[]> {
  const found = new Map<string, ContactRow>();
  for (let next = [...new Set(ids)]; next.length > 0; ) {
    const rows = await ctx.toChange(contactRowsWithDeleted, next);
    for (const row of rows) found.set(row.id, row);
    next = [...new Set(rows.flatMap(({ mergedIntoId }) => mergedIntoId ?? []))].filter((id) => !found.has(id));
  }
  return [...found.values()].filter(({ mergedIntoId }) => !mergedIntoId);
}

/**
 * Keeps that a number is opted out of texts, or in again, as its owner writes or a carrier says: for the number, and for all contacts who
 * have it, deleted ones included. Opting in also counts for the contact that one of them was merged into, unless another number of theirs
 * has opted out.
 */
export async function optOutNumber(ctx: Context, phone: string, isOut: boolean): Promise<void> {
  const found = await ctx.rows(isOut ? withPhone : optedOutBy, { phone });
  await keepWord(ctx, { kind: 'opted_out_sms', address: phone, found }, { optedOutSms: isOut });
}

/**
 * Keeps that the reader of an address opts out of mail: for the address, for the contact that a mail was for, and for all others who have
 * the address, deleted ones included, because they are the same person.
 */
export async function optOutAddress(ctx: Context, contactId: string, email: string | null): Promise<void> {
  const found = email ? await ctx.rows(withEmail, { email }) : [];
  await keepWord(ctx, { kind: 'opted_out_email', address: email, found: [{ id: contactId }, ...found] }, { optedOutEmail: true });
}

interface Word {
  kind: FactKind;
  address: string | null;
  /** Contacts, and null where the address is known to have opted out. */
  found: { id: string | null }[];
}

/**
 * Keeps what was said of an address and of contacts; of the address not a second time, because links are opened more than once. A contact
 * that opts out by a former address does so for the one that it has by now as well; who opts in does it for the one address alone.
 */
async function keepWord(ctx: Context, { kind, address, found }: Word, given: OptOuts): Promise<void> {
  const ids = found.flatMap(({ id }) => id ?? []);
  const changed = await optOut(ctx, ids, given);
  const isOut = Object.values(given).includes(true);
  // Where a contact changes somebody may have said the contrary meanwhile.
  if (address && (changed.length > 0 || isOut !== ids.length < found.length)) keepFact(ctx, kind, address, isOut);
  if (!isOut) return;
  // Not that of a contact into which one of them is merged just now: a merge keeps none for it either.
  const others = addressesOf(
    changed.filter(({ id }) => ids.includes(id)),
    kind,
  );
  for (const other of others) if (other !== address?.toLowerCase()) keepFact(ctx, kind, other);
}

type OptOuts = Partial<Pick<Contact, 'optedOutSms' | 'optedOutEmail'>>;

/**
 * Keeps what people said of being written to, who may have been deleted meanwhile: whoever restores them must know it. Of a contact
 * that is deleted nothing is told; it is told whole when it comes back. Answers those that were changed, as they were.
 */
async function optOut(ctx: Context, ids: readonly string[], given: OptOuts): Promise<ContactRow[]> {
  const changed: ContactRow[] = [];
  for (const before of await survivorsOf(ctx, ids)) {
    const changes = changesBetween(before, given, Object.keys(given));
    if (isNothing(changes)) continue;
    changed.push(before);
    const contact = { ...ctx.update('Contact', before, given), tags: before.tags };
    if (!before.deletedAt) await emitContact(ctx, 'updated', contact, changes);
  }
  return changed;
}

/** Keeps that a number of a contact is a landline: what we know of the number, and no field of the contact. */
export async function markLandline(ctx: Context, id: string, landline: string): Promise<void> {
  keepFact(ctx, 'landline', landline);
  for (const contact of await survivorsOf(ctx, [id]))
    if (contact.id === id || contact.phone === landline) ctx.update('Contact', contact, { landline });
}
