import type { Context } from '../../kernel/context/context.js';
import type { Fact } from '../../kernel/events/facts.js';
import { relinks } from '../../kernel/operations/relink.js';
import { mergedInto } from '../contacts/contact.merged.js';
import { cancelOfContact } from './message.cancel.js';
import { emitMessage } from './message.service.js';
import { messageTable } from './message.table.js';

const followContact = relinks(
  {
    ...{ table: 'messages', row: messageTable.shape, columns: messageTable.columns },
    tell: (ctx, message, changes) => emitMessage(ctx, 'updated', message, changes),
  },
  'contactId',
);

/** Contract DELETE /contacts/{id}: what waits to be sent is cancelled. Merged: the messages are those of the contact that is kept. */
export async function onContactDeleted(ctx: Context, fact: Fact): Promise<void> {
  const kept = mergedInto(fact);
  if (kept) await followContact(ctx, fact.record.id, kept);
  else await cancelOfContact(ctx, fact.record.id, 'contact_deleted');
}
