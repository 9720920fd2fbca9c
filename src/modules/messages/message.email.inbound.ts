import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import PostalMime, { type Email as Mail, type Mailbox } from 'postal-mime';
import { badRequest, check, denied, found } from '../../kernel/base/errors.js';
import type { Actor } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { changesBetween } from '../../kernel/events/facts.js';
import { isEmail } from '../../kernel/model/checks.js';
import type { CallbackRequest } from '../../kernel/module/module.js';
import type { RawReply } from '../../kernel/module/routes.js';
import { keptOnce } from '../../kernel/operations/transacted.js';
import { optOut } from '../contacts/contact.optOut.js';
import { messageAt, wordPattern } from './message.place.js';
import { blankMessage, emitMessage, heard, type MessageRow, messageToChange } from './message.service.js';

const actor: Actor = { kind: 'sender', id: null, name: 'E-mail' };
const noted: RawReply = { body: { data: { taken: true } } };
const ignored: RawReply = { body: { data: { taken: false } } };

/** Parts within parts, and bytes of headers, of a mail that is looked at. */
const limits = { maxNestingDepth: 20, maxHeadersSize: 64 * 1024, attachmentEncoding: 'utf8' } as const;
const mostText = 400_000;

/** Throws 404 where nothing is taken in by mail, 403 unless who brings it has signed it: `sha256=` and the hex HMAC of its bytes. */
function checkSignature({ app }: Context, { body, headers }: CallbackRequest): void {
  const { secret } = found(app.config.inboundMail, 'Endpoint');
  const right = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(String(headers['x-inbound-signature'] ?? ''));
  check(given.length === right.length && timingSafeEqual(given, right), () => denied('The signature does not fit the mail'));
}

/** Words that we signed, wherever a mail may have them: an address that it goes to, or an id that it answers or returns. */
function* wordsIn(mail: Mail, report: string): Generator<string> {
  const ours = new RegExp(`(?<![0-9a-z])(${wordPattern})@`, 'gi');
  const addresses = [...(mail.to ?? []), ...(mail.cc ?? [])].map(({ address }) => address ?? '');
  for (const text of [...addresses, mail.deliveredTo ?? '', mail.inReplyTo ?? '', mail.references ?? '', report]) {
    for (const [, word] of text.matchAll(ours)) yield word!;
  }
}

/**
 * POST /webhooks/email/inbound: a mail as it came. An answer to a mail of ours stands in the thread of its contact, once however
 * often it is brought; one that came back for good has failed; a complaint opts its sender out. Other mails are left alone.
 */
export async function takeMail(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  checkSignature(ctx, request);
  const mail = await PostalMime.parse(request.body, limits).catch(() => {
    throw badRequest('The body is no mail that can be read');
  });
  const report = reportOf(mail);
  const providerId = idOf(mail, request.body);
  for (const word of wordsIn(mail, report ?? '')) {
    const at = await messageAt(ctx, 'reply', word, actor);
    if (!at) continue;
    await keptOnce(at.acting, (inside) =>
      report === undefined ? receive(inside, at.id, { mail, providerId }) : comeBack(inside, at.id, report),
    );
    return noted;
  }
  return ignored;
}

/** What a mail server reports of a mail of ours; undefined for a mail that somebody wrote. */
function reportOf({ headers, attachments, text = '' }: Mail): string | undefined {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? '';
  if (!/^multipart\/report/i.test(type)) return undefined;
  const parts = attachments.map(({ content }) =>
    typeof content === 'string' ? content : Buffer.from(content as Uint8Array).toString('utf8'),
  );
  return [text, ...parts].join('\n').slice(0, mostText);
}

const kept = (text: string | undefined) =>
  (text ?? '')
    .replace(/\0/g, '')
    .slice(0, mostText)
    .replace(/[\ud800-\udbff]$/, '');

/** The most characters of an id. */
const longestId = 200;

/** What a mail is known by, however often it is brought: its Message-ID; its bytes where it has none, or one that is too long to keep. */
function idOf(mail: Mail, body: Buffer): string {
  const id = kept(mail.messageId);
  return id && id.length <= longestId ? id : `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

interface Brought {
  mail: Mail;
  providerId: string;
}

async function receive(ctx: Context, id: string, { mail, providerId }: Brought): Promise<void> {
  ctx.lockRows();
  const before = await ctx.forChange(messageToChange, id, 'Message');
  const from = (mail.from as Mailbox | undefined)?.address ?? '';
  const isAutomatic = mail.headers.some(({ key, value }) => key === 'auto-submitted' && value.toLowerCase() !== 'no');
  await heard(ctx, before.contactId);
  const message: MessageRow = ctx.insert('Message', {
    ...blankMessage,
    ...({ channel: 'email', direction: 'inbound', status: 'received', provider: 'smtp' } as const),
    ...{
      contactId: before.contactId,
      subject: [...kept(mail.subject)].slice(0, 500).join(''),
      providerId,
    },
    ...{
      body: kept(mail.text),
      bodyHtml: mail.html ? kept(mail.html) : null,
      fromEmail: isEmail(from) ? from : null,
      toEmail: before.fromEmail,
    },
    metadata: { inReplyTo: id, ...(isAutomatic && { automatic: true }) },
  });
  await emitMessage(ctx, 'created', message);
  if (isAutomatic || before.repliedAt) return;
  const replied = ctx.update('Message', before, { repliedAt: ctx.now() });
  await emitMessage(ctx, 'updated', replied, changesBetween(before, replied, ['repliedAt']));
}

/** A hard bounce or a complaint; what may still arrive changes nothing. */
async function comeBack(ctx: Context, id: string, report: string): Promise<void> {
  ctx.lockRows();
  const before = await ctx.forChange(messageToChange, id, 'Message');
  if (/^feedback-type:\s*abuse/im.test(report)) {
    await optOut(ctx, [before.contactId], { optedOutEmail: true });
    return;
  }
  const isHard = /^action:\s*failed/im.test(report) && !/^status:\s*4/im.test(report);
  if (!isHard || before.bouncedAt) return;
  const bounced = ctx.update('Message', before, { status: 'failed', error: 'bounced', bouncedAt: ctx.now() });
  await emitMessage(ctx, 'updated', bounced, changesBetween(before, bounced, ['status', 'error', 'bouncedAt']));
}
