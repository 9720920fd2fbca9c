import { mayRead } from '../../kernel/access/access.js';
import { AppError, type Detail, detailOf } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { mergeFieldsOf, ofAnyRun, typeCalled } from './template.mergeFields.js';

/**
 * What a conversation shows of its contact (contract "Conversation summary"), and the name of its company: names are read with any record.
 */
const shownAnyway = ['id', 'firstName', 'lastName', 'email', 'phone', 'assignedTo', 'company'].map((name) => `contact.${name}`);

/** What says nothing of a record: where and by whom a text is sent, and what started the run that sends it. */
const ofNoRecord = new Set(['user', ...ofAnyRun.keys()]);

/**
 * Whether a caller who must not read contacts may have a path filled in. A workflow or an automation that mails the text knows more than
 * the contact: the record that it is about, by its type too, and its changes. Of which type `record` will be is not known yet.
 */
function mayFill({ app, caller }: Context, path: string): boolean {
  const [root] = path.split('.') as [string];
  if (root === 'contact') return shownAnyway.includes(path);
  const scope = app.registry.schema().getType(typeCalled(root))?.extensions.scope;
  return ofNoRecord.has(root) || (typeof scope === 'string' && mayRead(caller, scope));
}

function faultOf(ctx: Context, field: string, text: string): Detail[] {
  const beyond = mergeFieldsOf(text).filter((path) => !mayFill(ctx, path));
  if (beyond.length === 0) return [];
  const message = `asks for ${beyond.slice(0, 5).join(', ')}, which this key may not read`;
  return [detailOf(field, { code: 'not_allowed', message, options: shownAnyway })];
}

/**
 * Throws 403 naming each of these texts, by its field, whose merge fields ask for more of a contact than a conversation shows, or for a
 * record that the caller may not read: of an API key that may read messages, in which the values stand once they are filled in, and not
 * contacts. The rights of people have no such bound.
 */
export function checkMayFill(ctx: Context, texts: Readonly<Record<string, string | null | undefined>>): void {
  if (mayRead(ctx.caller, 'contacts') || !mayRead(ctx.caller, 'messages')) return;
  const details = Object.entries(texts).flatMap(([field, text]) => (text ? faultOf(ctx, field, text) : []));
  if (details.length === 0) return;
  throw new AppError('permission_denied', details.map(({ field, message }) => `${field} ${message}`).join('; '), { details });
}
