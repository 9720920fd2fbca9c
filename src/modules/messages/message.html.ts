import { escapeHtml } from '../../kernel/module/page.js';

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
