import { escapeHtml } from '../../kernel/module/page.js';

/** A placeholder: a dotted path in double braces. Whatever else stands in braces is text. */
const placeholder = /\{\{\s*([a-z]\w{0,99}(?:\.[\w-]{1,100}){1,3})\s*\}\}/gi;

/** What placeholders may name: `contact.firstName` is the member `firstName` of `contact`. */
export type MergeValues = Readonly<Record<string, unknown>>;

/** The paths of the placeholders of some texts, each once, in the order in which they come. */
export function mergeFieldsOf(...texts: (string | null)[]): string[] {
  const paths = texts.flatMap((text) => [...(text ?? '').matchAll(placeholder)].map(([, path]) => path!));
  return [...new Set(paths)];
}

/** What a path leads to by own members alone: nothing for any other, and for what is no plain value. */
function valueAt(values: MergeValues, path: string): string {
  let at: unknown = values;
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return '';
    at = (at as Record<string, unknown>)[name];
  }
  if (at instanceof Date) return at.toISOString();
  return ['string', 'number', 'boolean'].includes(typeof at) ? String(at) : '';
}

/** A text as one line: a header cannot be continued. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** A plain text with its values, in one pass: a value that looks like a placeholder stays as it is. */
export const merged = (text: string, values: MergeValues): string => text.replace(placeholder, (_all, path) => valueAt(values, path));

/** The same of HTML: its values are escaped. */
export const mergedHtml = (html: string, values: MergeValues): string =>
  html.replace(placeholder, (_all, path) => escapeHtml(valueAt(values, path)));

/** The same of a subject: one line of at most 500 characters. */
export const mergedLine = (line: string, values: MergeValues): string => [...oneLine(merged(line, values))].slice(0, 500).join('');
