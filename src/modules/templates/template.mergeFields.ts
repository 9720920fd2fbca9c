import { AppError, check, invalidField } from '../../kernel/base/errors.js';
import { escapeHtml } from '../../kernel/base/html.js';
import { shortened } from '../../kernel/base/unicode.js';
import type { Context } from '../../kernel/context/context.js';

/** A placeholder: a dotted path, or one name, in double braces. Whatever else stands in braces is text. */
const placeholder = /\{\{\s*([a-z]\w{0,99}(?:\.[\w-]{1,100}){0,3})\s*\}\}/gi;

/** The path of a placeholder: one name is a field of the contact, as `{{firstName}}`. */
const pathOf = (written: string): string => (written.includes('.') ? written : `contact.${written}`);

/** What placeholders may name: `contact.firstName` is the member `firstName` of `contact`. */
export type MergeValues = Readonly<Record<string, unknown>>;

/** What placeholders call a record of a type. */
export const calledBy = (type: string): string => type.charAt(0).toLowerCase() + type.slice(1);

/** The type of record that they call so, if there is one. */
export const typeCalled = (root: string): string => root.charAt(0).toUpperCase() + root.slice(1);

/** What the placeholders of any run may name that is of no record, and the members of each. */
export const ofAnyRun: ReadonlyMap<string, readonly string[]> = new Map([
  ['workspace', ['name']],
  ['event', ['id', 'name', 'createdAt']],
  ['workflow', ['id', 'name']],
  ['automation', ['id', 'name']],
]);

/** What the placeholders of a text to a contact may name; `userName`: who has it sent. */
export const valuesOf = (ctx: Context, contact: object, userName: string | null = ctx.caller.userName): MergeValues => ({
  contact,
  workspace: { name: ctx.caller.account.name },
  user: { name: userName },
});

/** The paths of the placeholders of some texts, each once, in the order in which they come. */
export function mergeFieldsOf(...texts: (string | null)[]): string[] {
  const paths = texts.flatMap((text) => [...(text ?? '').matchAll(placeholder)].map(([, written]) => pathOf(written!)));
  return [...new Set(paths)];
}

const whole = new RegExp(`^${placeholder.source}$`, 'i');

/** The path of a text that is one placeholder and nothing else. */
export function wholeMergeField(text: string): string | undefined {
  const written = whole.exec(text.trim())?.[1];
  return written && pathOf(written);
}

/**
 * Whether there is what a path names, be it empty: the first two of its names must be there. What is deeper, a custom field or an
 * answer of a form, is kept by its key only where it has a value.
 */
export function namesValue(values: MergeValues, path: string): boolean {
  let at: unknown = values;
  for (const name of path.split('.').slice(0, 2)) {
    if (at === null) return true;
    if (typeof at !== 'object' || !Object.hasOwn(at, name)) return false;
    at = (at as Record<string, unknown>)[name];
  }
  return true;
}

/** What a path leads to by own members alone; undefined for any other. */
function memberAt(values: MergeValues, path: string): unknown {
  let at: unknown = values;
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

/** What a path leads to as a text: nothing for what is not there, and for what is no plain value. */
function valueAt(values: MergeValues, path: string): string {
  const at = memberAt(values, path);
  if (at instanceof Date) return at.toISOString();
  return isPlain(at) ? String(at) : '';
}

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

/**
 * What no text can hold: the list of plain values, as of a custom field of several choices, that a text names which is one placeholder
 * alone; null for another list or an object, and undefined for all else, an empty one included.
 */
export function listIn(text: string, values: MergeValues): readonly unknown[] | null | undefined {
  const path = wholeMergeField(text);
  const at = path === undefined ? undefined : memberAt(values, path);
  if (typeof at !== 'object' || at === null || at instanceof Date || Object.keys(at).length === 0) return undefined;
  return Array.isArray(at) && at.every(isPlain) ? at : null;
}

const controls = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

/** A text as one line: a header cannot be continued. */
export const oneLine = (text: string): string => controls(text).trim();

/** Bytes that the text of a mail may have, with the values of its placeholders. */
const mostOfMail = 500 * 1024;

/** A text with placeholders, taken apart once: what is mailed to many is the same for all but its values. */
export class Words {
  /** What stands before each placeholder, and behind the last. */
  readonly #texts: string[] = [];
  /** Which of the paths each placeholder has. */
  readonly #places: number[] = [];
  /** The paths, and how often each comes. */
  readonly #paths = new Map<string, { place: number; times: number }>();
  readonly #bytes: number;

  constructor(text: string) {
    let [end, bytes] = [0, Buffer.byteLength(text)];
    for (const { 0: found, 1: written, index } of text.matchAll(placeholder)) {
      const path = pathOf(written!);
      const known = this.#paths.get(path) ?? { place: this.#paths.size, times: 0 };
      known.times++;
      this.#paths.set(path, known);
      this.#places.push(known.place);
      this.#texts.push(text.slice(end, index));
      end = index + found.length;
      bytes -= found.length;
    }
    this.#texts.push(text.slice(end));
    this.#bytes = bytes;
  }

  /** The text with its values, each of which is asked for once; `take` is told of the bytes before they are put together. */
  filled(valueFor: (path: string) => string, take: (bytes: number) => void): string {
    take(this.#bytes);
    const values: string[] = [];
    for (const [path, { times }] of this.#paths) {
      const value = valueFor(path);
      take(times * Buffer.byteLength(value));
      values.push(value);
    }
    return this.#texts.map((text, nth) => (nth === 0 ? text : values[this.#places[nth - 1]!]! + text)).join('');
  }
}

/** How large texts may become together by the values of their placeholders, and the field to name where they become larger. */
export class Room {
  #taken = 0;

  constructor(
    private readonly field: string,
    private readonly mostBytes = mostOfMail,
  ) {}

  /** A text with its values. Throws 400 naming the field where there is no room for it. */
  fill(text: string | Words, valueFor: (path: string) => string): string {
    const words = typeof text === 'string' ? new Words(text) : text;
    return words.filled(valueFor, (bytes) => this.take(bytes));
  }

  /** Takes so many bytes of it. Throws 400 naming the field where it has not as many. */
  take(bytes: number): void {
    this.#taken += bytes;
    check(this.#taken <= this.mostBytes, () =>
      invalidField(this.field, 'too_large', `must be at most ${this.mostBytes / 1024} KB with the values of its merge fields`),
    );
  }
}

/** Whether an error says that a text became too large by its values. */
export const isTooLarge = (error: unknown): boolean => error instanceof AppError && error.details?.[0]?.code === 'too_large';

/**
 * A plain text with its values, in one pass: a value that looks like a placeholder stays as it is. Throws 400 where it becomes too large.
 */
export const merged = (text: string | Words, values: MergeValues, room: Room): string => room.fill(text, (path) => valueAt(values, path));

/** A JSON value with the placeholders of its texts filled in: a member of an object that is one alone becomes the list that it names. */
export function mergedJson(value: unknown, values: MergeValues, room: Room): unknown {
  if (typeof value === 'string') return merged(value, values, room);
  if (Array.isArray(value)) return value.map((item) => mergedJson(item, values, room));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mergedMember(member, values, room)]));
}

function mergedMember(member: unknown, values: MergeValues, room: Room): unknown {
  const list = typeof member === 'string' ? listIn(member, values) : undefined;
  if (!list) return mergedJson(member, values, room);
  room.take(Buffer.byteLength(JSON.stringify(list)));
  return list;
}

/** HTML with its values filled in, which are escaped. Throws 400 where it becomes too large. */
export const mergedHtml = (html: string | Words, values: MergeValues, room: Room): string =>
  room.fill(html, (path) => escapeHtml(valueAt(values, path)));

const longestLine = 500;

/**
 * A line such as a subject or a title with its values filled in, of at most 500 characters: the rest is cut. A long value is cut before
 * it is filled in.
 */
export const mergedLine = (line: string, values: MergeValues): string => {
  const filled = line.replace(placeholder, (_all, written: string) =>
    shortened(controls(valueAt(values, pathOf(written))), 2 * longestLine),
  );
  return shortened(oneLine(filled), longestLine);
};

/**
 * The subject of a mail, with its values: its own words, else those of its template. The name of the template, which its author gave it for
 * nobody else, stands in only where neither has a subject: not for words of which merge fields have left nothing.
 */
export function mergedSubject(
  own: string | null | undefined,
  template: { subject: string | null; name: string | null } | null,
  values: MergeValues,
): string {
  const words = own || template?.subject;
  return words ? mergedLine(words, values) : (template?.name ?? '');
}

/** Whether nothing is left of the text of a mail, because its merge fields were empty. */
export const saysNothing = ({ body, bodyHtml }: { body: string; bodyHtml: string | null }): boolean =>
  body.trim() === '' && (bodyHtml ?? '').trim() === '';
