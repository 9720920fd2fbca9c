import { tokenPattern } from './message.token.js';

/** Bytes that the head of a mail may have. */
const mostBytes = 64 * 1024;

/** The head of a mail, looked at before the mail is read. */
export interface Head {
  /** The values of each of its fields, by names in small letters. */
  fields: ReadonlyMap<string, string[]>;
  /** Whether a mail server reports of a mail by it. */
  isReport: boolean;
}

/** The head of a mail; undefined where it is too large. */
export function headOf(body: Buffer): Head | undefined {
  const text = body.toString('latin1', 0, mostBytes).replaceAll('\r', '');
  const end = text.startsWith('\n') ? 0 : text.indexOf('\n\n');
  if (end < 0 && body.length > mostBytes) return undefined;
  const fields = new Map<string, string[]>();
  const unfolded = (end < 0 ? text : text.slice(0, end)).replace(/\n[ \t]+/g, ' ');
  for (const line of unfolded.split('\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    const others = fields.get(name);
    if (others) others.push(value);
    else fields.set(name, [value]);
  }
  return { fields, isReport: /^multipart\/report/i.test(fields.get('content-type')?.[0] ?? '') };
}

const ours = new RegExp(`(?<![0-9a-z])(${tokenPattern})@`, 'gi');
/** Words that may be ones that we signed: in texts, each once. */
export const wordsIn = (texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(ours)].map(([, word]) => word!.toLowerCase()))),
];

const wordsOf = ({ fields }: Head, names: readonly string[]) => wordsIn(names.flatMap((name) => fields.get(name) ?? []));

/** Words that may be ones that we signed, in the fields of a head that name whom the mail goes to. */
export const wordsOfReaders = (head: Head): string[] => wordsOf(head, ['to', 'cc', 'delivered-to']);

/** Words that may be ones that we signed, in the fields of a head that name the mails that it answers. */
export const wordsOfAnswered = (head: Head): string[] => wordsOf(head, ['in-reply-to', 'references']);
