import { AppError, check } from '../../kernel/base/errors.js';
import { escapeHtml, unescapeHtml } from '../../kernel/base/html.js';
import type { Actor } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { tryToNote } from '../../kernel/context/unavailableLog.js';
import type { CallbackRequest } from '../../kernel/module/module.js';
import { htmlPage } from '../../kernel/module/page.js';
import type { RawReply } from '../../kernel/module/routes.js';
import { inOwnTransaction, whenTold } from '../../kernel/operations/ownTransaction.js';
import type { Email } from '../../vendors/email/email.js';
import { htmlOfText } from './message.html.js';
import { mark, optOutReader } from './message.marks.js';
import { messageAt, type Purpose, tokenOf } from './message.token.js';

/** A link of a mail. */
function link(ctx: Context, purpose: Purpose, message: string, target = ''): string {
  const to = target && `?to=${encodeURIComponent(target)}`;
  return `${ctx.app.config.publicUrl}/e/${purpose}/${tokenOf(ctx, purpose, message, target)}${to}`;
}

/**
 * The links of a page, apart from what comes before and after their addresses. A tag that is left open ends at the next one: else
 * each of many such would be searched to the end of the page.
 */
const hrefs = /(<a\b[^<>]*?\shref=)(["'])(https?:\/\/[^"'<>\s]+)\2/gi;

/** Where a link points, by its HTML. Half of a character, which a reference may name, is the replacement character, as for browsers. */
const targetOf = (href: string) => unescapeHtml(href).replace(/\p{Cs}/gu, '\uFFFD');

/** Links of a mail that are led over us. Each is signed and ten times as long then, while everybody waits. */
const mostLinks = 1000;

/** A page whose links lead over us: those to the first thousand addresses in it, the others straight to where they point. */
function ledOverUs(ctx: Context, message: string, html: string): string {
  const known = new Map<string, string | undefined>();
  return html.replace(hrefs, (whole: string, before: string, quote: string, target: string) => {
    if (known.size < mostLinks && !known.has(target)) {
      const to = targetOf(target);
      known.set(target, URL.canParse(to) ? escapeHtml(link(ctx, 'click', message, to)) : undefined);
    }
    const over = known.get(target);
    return over === undefined ? whole : `${before}${quote}${over}${quote}`;
  });
}

/**
 * A mail to many: its links lead over us, a pixel tells that it was opened, and one click unsubscribes (RFC 8058). One without HTML gets
 * that of its text.
 */
export function tracked(ctx: Context, message: string, mail: Email): Email {
  const leave = link(ctx, 'unsubscribe', message);
  const footer = `<p><a href="${escapeHtml(leave)}">Unsubscribe</a></p><img src="${link(ctx, 'open', message)}" width="1" height="1" alt="">`;
  return {
    ...mail,
    text: `${mail.text}\n\nUnsubscribe: ${leave}`,
    html: withFooter(ledOverUs(ctx, message, mail.html ?? htmlOfText(mail.text)), footer),
    headers: { ...mail.headers, 'List-Unsubscribe': `<${leave}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  };
}

const withFooter = (html: string, footer: string) =>
  /<\/body>/i.test(html) ? html.replace(/<\/body>/i, (end) => `${footer}${end}`) : `${html}${footer}`;

const actor: Actor = { kind: 'sender', id: null, name: 'Recipient' };

/** Mail programs break long links. */
const noLink = () => new AppError('not_found', 'Link not found: it may have been cut off, so copy all of it from the mail');

/**
 * The message that a link is of, and a context of its account. Throws 404 for a link that we did not write, and, while the account is
 * suspended, for every link but the one that unsubscribes.
 */
async function opened(ctx: Context, purpose: Purpose, { params, query }: CallbackRequest) {
  const evenSuspended = purpose === 'unsubscribe';
  const message = await messageAt(ctx, purpose, params.token ?? '', { actor, evenSuspended, target: query.to });
  check(message, noLink);
  return message;
}

/** Keeps that a mail was read. The reader gets what they asked for also where that cannot be written now. */
const noteRead = (acting: Context, id: string, marks: Parameters<typeof mark>[2]): Promise<boolean> =>
  tryToNote(acting.app, () => inOwnTransaction(acting, (inside) => mark(inside, id, marks)), 'that a mail was read could not be noted');

const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** GET /e/open/{token}: the pixel of a mail. */
export async function showPixel(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  const { acting, id } = await opened(ctx, 'open', request);
  await noteRead(acting, id, ['openedAt']);
  return { type: 'image/gif', headers: { 'Cache-Control': 'no-store' }, body: pixel };
}

/** GET /e/click/{token}?to=: on to where a link of a mail leads. */
export async function followLink(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  const { acting, id } = await opened(ctx, 'click', request);
  const to = request.query.to!;
  check(URL.canParse(to), noLink);
  await noteRead(acting, id, ['openedAt', 'clickedAt']);
  // As URLs are written: a header takes no other letters.
  return { status: 302, headers: { Location: new URL(to).href, 'Cache-Control': 'no-store' }, body: '' };
}

/** GET /e/unsubscribe/{token}: shows a button and changes nothing, because programs that check mails open links too. */
export async function askToUnsubscribe(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  await opened(ctx, 'unsubscribe', request);
  return htmlPage('Unsubscribe', 'No more mails to you?', { button: 'Unsubscribe' });
}

/** POST /e/unsubscribe/{token}: the recipient has opted out of e-mail. Mail programs call it by themselves (RFC 8058). */
export async function unsubscribe(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  const { acting, id } = await opened(ctx, 'unsubscribe', request);
  await whenTold(acting, (inside) => optOutReader(inside, id));
  return htmlPage('Unsubscribed', 'You get no more mails.');
}
