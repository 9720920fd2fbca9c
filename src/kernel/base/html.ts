/** The signs that HTML reads as more than text. */
const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/** A text as HTML shows it, attributes in quotes among it. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => signs[sign]!);

const reference = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi;
const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const mostCodePoint = 0x10ffff;
/** What a text in HTML shows, as far as it was escaped by the signs of HTML or by numbers. */
export const unescapeHtml = (html: string): string =>
  html.replace(reference, (whole, name?: string, decimal?: string, hex?: string) => {
    if (name) return named[name.toLowerCase()]!;
    const code = decimal ? Number(decimal) : Number.parseInt(hex!, 16);
    return code > 0 && code <= mostCodePoint ? String.fromCodePoint(code) : whole;
  });

/** Text that is HTML already. Made by `html`, or of files of ours. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | boolean | null | undefined | readonly Part[];

const textOf = (part: Part): string => {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(textOf).join('');
  return part === null || part === undefined || part === false ? '' : escapeHtml(String(part));
};

/**
 * HTML whose values are escaped wherever they stand, attributes in quotes among them; other HTML, lists of it and nothing stay as they are.
 */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.map((text, i) => text + textOf(parts[i])).join(''));
