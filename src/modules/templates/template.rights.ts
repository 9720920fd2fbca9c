import { mayRead } from '../../kernel/access/access.js';
import { AppError, type Detail, detailOf } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { mergeFieldsOf } from './template.mergeFields.js';

/**
 * What a conversation shows of its contact (contract "Conversation summary"), and the name of its company: names are read with any record.
 */
const shownAnyway = ['id', 'firstName', 'lastName', 'email', 'phone', 'assignedTo', 'company'].map((name) => `contact.${name}`);

const isBeyond = (path: string) => path.startsWith('contact.') && !shownAnyway.includes(path);

function faultOf(field: string, text: string): Detail[] {
  const beyond = mergeFieldsOf(text).filter(isBeyond);
  if (beyond.length === 0) return [];
  const message = `asks for ${beyond.slice(0, 5).join(', ')}, which takes the scope contacts`;
  return [detailOf(field, { code: 'not_allowed', message, options: shownAnyway })];
}

/**
 * Throws 403 naming each of these texts, by its field, whose merge fields ask for more of a contact than a conversation shows: of an API
 * key that may read messages, in which the values stand once they are filled in, and not contacts. The rights of people have no such bound.
 */
export function checkMayFill({ caller }: Context, texts: Readonly<Record<string, string | null | undefined>>): void {
  if (mayRead(caller, 'contacts') || !mayRead(caller, 'messages')) return;
  const details = Object.entries(texts).flatMap(([field, text]) => (text ? faultOf(field, text) : []));
  if (details.length === 0) return;
  throw new AppError('permission_denied', details.map(({ field, message }) => `${field} ${message}`).join('; '), { details });
}
