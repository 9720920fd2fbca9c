import { escapeHtml, unescapeHtml } from '../../kernel/base/html.js';

/** An address in a text, without the sign that ends its sentence. */
const address = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]]/g;

/** A plain text as HTML: its lines, and its addresses as links. */
export function htmlOfText(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(address)) {
    const shown = escapeHtml(found);
    parts.push(escapeHtml(text.slice(at, index)), `<a href="${shown}">${shown}</a>`);
    at = index + found.length;
  }
  parts.push(escapeHtml(text.slice(at)));
  return `<p>${parts.join('').replace(/\r?\n/g, '<br>\n')}</p>`;
}

/** The letters of Latin-1 from 160 on, as HTML names them, and what else stands in mails by its name. */
const latin =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
const others = { ndash: '–', mdash: '—', lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„', hellip: '…', euro: '€' };
const more = { bull: '•', trade: '™', larr: '←', rarr: '→', lsaquo: '‹', rsaquo: '›', OElig: 'Œ', oelig: 'œ', zwnj: '', zwj: '', shy: '' };
const named = new Map<string, string>([
  ...latin.split(' ').map((name, nth): [string, string] => [name, String.fromCharCode(160 + nth)]),
  ...Object.entries({ ...others, ...more, nbsp: ' ' }),
]);

const decoded = (text: string) => text.replace(/&(\w{2,8}|#\w{1,8});/g, (whole, name: string) => named.get(name) ?? unescapeHtml(whole));

/** Elements whose content is no text, and those that begin and end on lines of their own. */
const hidden = new Set(['head', 'script', 'style', 'template', 'title']);
const ownLine = new Set(
  'address article aside blockquote dd div dl dt footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);

const tag = /<(\/?)([a-z][a-z0-9]*)/iy;

/** What stands for a tag in a text. */
function shownOf(name: string, isEnd: boolean): string {
  if (name === 'br') return '\n';
  if (name === 'td' || name === 'th') return ' ';
  return ownLine.has(name) ? (isEnd && name === 'p' ? '\n\n' : '\n') : '';
}

/** Where what begins with a `<` ends, and what it shows: nothing follows what does not end. */
function markupAt(html: string, at: number): { end: number; shows: string } {
  const behind = (end: number, sign: string) => (end < 0 ? html.length : end + sign.length);
  if (html.startsWith('<!--', at)) return { end: behind(html.indexOf('-->', at + 4), '-->'), shows: '' };
  const isOther = html[at + 1] === '!' || html[at + 1] === '?';
  tag.lastIndex = at;
  const found = tag.exec(html);
  if (!found && !isOther) return { end: at + 1, shows: '<' };
  const end = behind(html.indexOf('>', at), '>');
  const name = found?.[2]?.toLowerCase() ?? '';
  const isEnd = found?.[1] === '/';
  if (isEnd || !hidden.has(name)) return { end, shows: shownOf(name, isEnd) };
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = end;
  return { end: closing.exec(html)?.index ?? html.length, shows: '' };
}

/** As much HTML as is looked at for its text. */
const mostHtml = 1_000_000;

/** What HTML says, as text: without its tags, its references as what they mean. It takes a time in proportion to its length. */
export function textOfHtml(whole: string): string {
  const html = whole.slice(0, mostHtml);
  const parts: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    parts.push(html.slice(at, open < 0 ? html.length : open).replace(/\s+/g, ' '));
    if (open < 0) break;
    const { end, shows } = markupAt(html, open);
    parts.push(shows);
    at = end;
  }
  const lines = parts.join('').split('\n');
  return decoded(lines.map((line) => line.replace(/ +/g, ' ').trim()).join('\n'))
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
