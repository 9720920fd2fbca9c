import { shortened } from '../../kernel/base/unicode.js';
import type { Context } from '../../kernel/context/context.js';
import { text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { isE164 } from '../../kernel/model/checks.js';
import { contactMatching } from '../contacts/contact.match.js';
import { createContact, requireContact } from '../contacts/contact.service.js';
import { contactAnswering } from './message.sms.answering.js';

/** What the contacts that are made of texts came from. */
const source = 'sms';

const withoutNumber = statement({
  name: 'writerWithoutNumber',
  takes: { called: text, source: text },
  row: { id: uuid },
  text: ({ account, called, source: from }) => sql`
    select c.id from contacts c where c.account_id = ${account} and c.deleted_at is null
      and lower(c.first_name collate "und-x-icu") = lower(${called} collate "und-x-icu")
      and c.source = ${from} and c.phone is null and c.email is null and c.last_name is null
    order by c.created_at, c.id limit 1`,
});

/** More characters than a sender has that is no number. */
const mostCharacters = 100;

/** The contact of a sender that is called by a short code or a name: it has no number that anybody could write to. */
async function senderCalled(ctx: Context, sender: string): Promise<string> {
  const called = shortened(sender, mostCharacters);
  // Two of its first texts at once make one contact.
  await ctx.lockName('writers without a number');
  const [known] = await ctx.rows(withoutNumber, { called, source });
  if (known) requireContact(ctx, known.id);
  return known?.id ?? (await createContact(ctx, { firstName: called, source }, { beyondPlan: true })).id;
}

/**
 * The contact that a text comes from, whatever the plan: of those with its number the one who answers us, else the oldest, else a new
 * one. A short code or a name is no number: its contact is called by it.
 */
export async function writerOf(ctx: Context, text: { fromNumber: string; toNumber: string }): Promise<string> {
  const phone = text.fromNumber;
  if (!isE164(phone)) return senderCalled(ctx, phone);
  // In one statement.
  const [oldest, answering] = await Promise.all([contactMatching(ctx, { phone }), contactAnswering(ctx, text)]);
  if (answering) requireContact(ctx, answering);
  return answering ?? oldest ?? (await createContact(ctx, { phone, source }, { beyondPlan: true })).id;
}
