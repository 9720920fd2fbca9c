import type { Context } from '../../kernel/context/context.js';
import { instant, integer, listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { DomainEvent } from '../../kernel/events/changes.js';
import { batched } from '../../kernel/operations/loader.js';
import { relinks } from '../../kernel/operations/relink.js';
import { mergedInto } from '../contacts/contact.followMerge.js';
import type { ContactRow } from '../contacts/contact.service.js';
import { cancelOfContact } from './message.cancel.js';
import { emitMessage } from './message.service.js';
import { bytesOfMessage, messageTable } from './message.table.js';

const followContact = relinks(
  {
    of: messageTable,
    tell: (ctx, message, changes) => emitMessage(ctx, 'updated', message, changes),
    bytes: bytesOfMessage,
  },
  'contactId',
);

const readdressing = statement({
  name: 'readdressQueuedTexts',
  takes: { contacts: listOf(uuid), before: listOf(text), after: listOf(text), leastAttempts: listOf(integer), now: instant },
  row: { ...messageTable.shape, was: nullable(text) },
  changes: true,
  text: ({ account, contacts, before, after, leastAttempts, now }) => sql`
    update messages t set to_number = nullif(n.after, ''), updated_at = ${now}
    from unnest(${contacts}, ${before}, ${after}, ${leastAttempts}) n(contact, before, after, least_attempts)
    where t.account_id = ${account} and t.contact_id = n.contact and t.channel = 'sms' and t.direction = 'outbound'
      and t.status = 'queued' and t.to_number is not distinct from nullif(n.before, '') and t.attempt >= n.least_attempts
    returning ${messageTable.columns}, nullif(n.before, '') as was`,
});

/**
 * Contacts whose number was changed at one moment, as `contact/before/after/leastAttempts`, the numbers empty where there is
 * none: one statement. Only texts that were attempted at least so many times are changed.
 */
const readdressed = batched<void>(async (ctx, keys) => {
  const [contacts, before, after, leastAttempts] = [0, 1, 2, 3].map((nth) => keys.map((key) => key.split('/')[nth]!));
  const given = { contacts: contacts!, before: before!, after: after!, leastAttempts: leastAttempts!.map(Number) };
  const messages = await ctx.rows(readdressing, { ...given, now: ctx.now() });
  for (const { was, ...message } of messages) await emitMessage(ctx, 'updated', message, { toNumber: { from: was, to: message.toNumber } });
  return keys.map(() => undefined);
});

const phoneOf = statement({
  name: 'phoneOfWhoIsKept',
  takes: { id: uuid },
  row: { phone: text },
  planned: true,
  text: ({ account, id }) => sql`select c.phone from contacts c where c.account_id = ${account} and c.id = ${id} and c.phone is not null`,
});

/**
 * Contract DELETE /contacts/{id}: what waits to be sent is cancelled. Merged: the messages are those of the contact that is kept, and
 * what waits goes to the number of that one, where it has one of its own.
 */
export async function onContactDeleted(ctx: Context, event: DomainEvent): Promise<void> {
  const [contact, kept] = [event.record as ContactRow, mergedInto(event)];
  if (!kept) return cancelOfContact(ctx, contact.id, 'contact_deleted');
  const [own] = await ctx.rows(phoneOf, { id: kept });
  // While they are the other one's: a text of the kept contact that names this number was meant for it. One that was not tried yet is
  // about to be sent by its request.
  if (own && own.phone !== contact.phone) await readdressed(ctx, `${contact.id}/${contact.phone ?? ''}/${own.phone}/1`);
  await followContact(ctx, contact.id, kept);
}

const withoutNumber = statement({
  name: 'queuedTextsWithoutNumber',
  takes: { contact: uuid },
  row: { id: uuid },
  shared: true,
  beside: true,
  text: ({ account, contact }) => sql`
    select t.id from messages t where t.account_id = ${account} and t.contact_id = ${contact} and t.channel = 'sms'
      and t.direction = 'outbound' and t.status = 'queued' and t.to_number is null limit 1`,
});

/**
 * A text that waits for its first way out goes to the number that its contact has by then, as a mail does to the address; also where the
 * contact had none in between.
 */
export async function onContactUpdated(ctx: Context, { record, changes }: DomainEvent): Promise<void> {
  if (!changes?.phone) return;
  const { from, to } = changes.phone;
  // Somebody gets a first number far more often than one again.
  if (!from && (await ctx.rows(withoutNumber, { contact: record.id })).length === 0) return;
  await readdressed(ctx, `${record.id}/${from ?? ''}/${to ?? ''}/0`);
}
