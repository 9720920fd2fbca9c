import { createHash } from 'node:crypto';
import type { AppError } from '../base/errors.js';
import type { RawReply } from './routes.js';

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

/** HTML whose values are escaped wherever they stand, attributes in quotes among them; other HTML, lists of it and nothing stay as they are. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.map((text, i) => text + textOf(parts[i])).join(''));

const style = `body{font:16px system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem}button,input,select,textarea{font:inherit;padding:.5rem}
input:not([type=checkbox]),select,textarea{display:block;box-sizing:border-box;width:100%;margin:.25rem 0 1rem}p{white-space:pre-line}
[hidden]{display:none}.error{color:#b00020}`;
const styleHash = createHash('sha256').update(style).digest('base64');

/** What a page of ours may do: show itself in its own style, and send its form to us, and on to where we send it. */
const policyOf = (formTargets: readonly string[]) =>
  [
    ...["default-src 'none'", `style-src 'sha256-${styleHash}'`, "base-uri 'none'", "frame-ancestors 'none'"],
    `form-action ${["'self'", ...formTargets].join(' ')}`,
  ].join('; ');

interface PageOptions {
  /** The words of a button that posts to the page's own address. */
  button?: string;
  /** A line in small print. */
  note?: string;
  /** Origins that a form of the page may be sent on to, besides our own. */
  formTargets?: readonly string[];
}

/** A plain page that a link of ours leads to, without any script. Texts are escaped. */
export const htmlPage = (title: string, content: string | Html, { button, note, formTargets = [] }: PageOptions = {}): RawReply => ({
  type: 'text/html; charset=utf-8',
  headers: { 'Content-Security-Policy': policyOf(formTargets) },
  body: html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${new Html(style)}</style></head>
<body><h1>${title}</h1>${content instanceof Html ? content : html`<p>${content}</p>`}
${button && html`<form method="post"><button>${button}</button></form>`}
${note && html`<p><small>${note}</small></p>`}</body></html>`.text,
});

/** An error as a person sees it who followed a link or sent a form. */
export const errorPage = ({ status, message }: AppError): RawReply => ({ ...htmlPage('This did not work', message), status });
