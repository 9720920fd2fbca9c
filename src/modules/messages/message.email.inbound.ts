import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Mailbox } from 'postal-mime';
import { checkAddress, limitAddress } from '../../kernel/access/rateLimits.js';
import { type AppError, badRequest, check, denied, found } from '../../kernel/base/errors.js';
import type { Actor } from '../../kernel/base/principal.js';
import { storable, storableWords } from '../../kernel/base/unicode.js';
import type { Context } from '../../kernel/context/context.js';
import { text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { isEmail } from '../../kernel/model/checks.js';
import type { CallbackRequest } from '../../kernel/module/module.js';
import type { RawReply } from '../../kernel/module/routes.js';
import { keptOnce } from '../../kernel/operations/ownTransaction.js';
import { asOfRunsBehind } from './message.causes.js';
import { type Head, headOf, wordsIn, wordsOfAnswered, wordsOfReaders } from './message.email.head.js';
import { readMail } from './message.email.parserPool.js';
import type { Mail } from './message.email.parserWorker.js';
import { optOutReader } from './message.marks.js';
import { blankMessage, countInbound, emitMessage, type MessageRow, messageRows, noText } from './message.service.js';
import { messageAt } from './message.token.js';

const actor: Actor = { kind: 'sender', id: null, name: 'E-mail' };
const noted: RawReply = { body: { data: { taken: true } } };
const ignored: RawReply = { body: { data: { taken: false } } };

const mostText = 400_000;

const signatureForm = /^sha256=[\da-f]{64}$/;
const signatureOf = (headers: CallbackRequest['headers']) => String(headers['x-inbound-signature'] ?? '');

/** Counted by address, apart from its other requests: the next ones are refused before their ten megabytes are read. */
async function refused({ app, request }: Context): Promise<AppError> {
  await limitAddress(app.limiter, 'mail', request.ip);
  return denied('The signature does not fit the mail');
}

/**
 * Asked before a mail is read: throws 404 where nothing is taken in by mail, 429 once more from the address were refused than it has
 * requests, 403 for a signature that can be none.
 */
export async function admitMail(ctx: Context, headers: CallbackRequest['headers']): Promise<void> {
  const { app, request } = ctx;
  found(app.config.inboundMail, 'Endpoint');
  await checkAddress(app.limiter, 'mail', request.ip);
  if (!signatureForm.test(signatureOf(headers))) throw await refused(ctx);
}

/** Throws 403 unless who brings a mail has signed it: `sha256=` and the hex HMAC of its bytes; 429 once too many were not signed. */
async function checkSignature(ctx: Context, { body, headers }: CallbackRequest): Promise<void> {
  const { secret } = found(ctx.app.config.inboundMail, 'Endpoint');
  const right = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(signatureOf(headers));
  if (given.length !== right.length || !timingSafeEqual(given, right)) throw await refused(ctx);
}

/**
 * POST /webhooks/email/inbound: a mail as it came. An answer to a mail of ours stands in the thread of its contact, once however
 * often it is brought; one to several of our contacts in the thread of each. One that came back for good has failed; a complaint opts
 * its sender out. Other mails are left alone: only a report, whose head does not say of which mail it is, is read before it is known to
 * be for us.
 */
export async function takeMail(ctx: Context, request: CallbackRequest): Promise<RawReply> {
  await checkSignature(ctx, request);
  const { body } = request;
  const head = headOf(body);
  check(head, unreadable);
  return (head.isReport ? await takeReport(ctx, body, head) : await takeAnswer(ctx, body, head)) ? noted : ignored;
}

type Ours = NonNullable<Awaited<ReturnType<typeof messageAt>>>;

interface Search {
  /** The most mails that are looked for. */
  most: number;
  /** Whether those of suspended accounts are found, too. */
  evenSuspended?: boolean;
}

/** Our mails that the words name. */
async function oursAmong(ctx: Context, words: readonly string[], { most, evenSuspended = false }: Search): Promise<Ours[]> {
  const found: Ours[] = [];
  for (const word of words) {
    const at = await messageAt(ctx, 'reply', word, { actor, evenSuspended });
    if (at) found.push(at);
    if (found.length === most) break;
  }
  return found;
}

async function takeReport(ctx: Context, body: Buffer, head: Head): Promise<boolean> {
  const report = reportOf(await read('reports', body, head));
  const words = [...wordsOfReaders(head), ...wordsOfAnswered(head), ...wordsIn([report])];
  const [at] = await oursAmong(ctx, words, { most: 1, evenSuspended: true });
  if (at) await keptOnce(at.acting, (inside) => comeBack(inside, at.id, report));
  return at !== undefined;
}

/** Contacts of ours to whom one mail is kept. */
const mostReaders = 50;

async function takeAnswer(ctx: Context, body: Buffer, head: Head): Promise<boolean> {
  const addressed = await oursAmong(ctx, wordsOfReaders(head), { most: mostReaders });
  const ours = addressed.length > 0 ? addressed : await oursAmong(ctx, wordsOfAnswered(head), { most: 1 });
  if (ours.length === 0) return false;
  const mail = await read(ours[0]!.acting.caller.account.id, body, head);
  const providerId = idOf(mail, body);
  for (const { acting, id } of ours) {
    const isKept = await keptOnce(acting, (inside) => receive(inside, id, { mail, providerId }));
    if (!isKept) await keptOnce(acting, (inside) => receive(inside, id, { mail, providerId, isKept: true }));
  }
  return true;
}

const unreadable = () => badRequest('The body is no mail that can be read');

async function read(whose: string, body: Buffer, { isReport }: Head): Promise<Mail> {
  const mail = await readMail(whose, { body, isReport });
  check(mail, unreadable);
  return mail;
}

/** What a mail server reports of a mail of ours. */
const reportOf = ({ text = '', parts }: Mail): string => [text, ...parts].join('\n').slice(0, mostText);

const kept = (text: string | undefined) => storableWords(text ?? '', mostText);

/** The most characters of an id. */
const longestId = 200;

/** What a mail is known by, however often it is brought: its Message-ID; its bytes where it has none, or one that is too long to keep. */
function idOf(mail: Mail, body: Buffer): string {
  const id = storable(mail.messageId ?? '', mostText);
  return id && id.length <= longestId ? id : `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

interface Brought {
  mail: Mail;
  providerId: string;
  /** Whether it is kept already, maybe for another contact. */
  isKept?: boolean;
}

const keptMail = statement({
  name: 'contactOfMail',
  takes: { providerId: text },
  row: { contactId: uuid },
  text: ({ account, providerId }) => sql`
    select m.contact_id as "contactId" from messages m
    where m.account_id = ${account} and m.direction = 'inbound' and m.provider = 'smtp' and m.provider_id = ${providerId}`,
});

/** What the copy of a mail is known by that is kept for another contact already; undefined where it is this one. */
async function idOfCopy(ctx: Context, providerId: string, contactId: string): Promise<string | undefined> {
  const [first] = await ctx.rows(keptMail, { providerId });
  if (first?.contactId === contactId) return undefined;
  const left = longestId - contactId.length - 1;
  // The cut may go through a character, half of which could not be kept.
  return `${storable(providerId.slice(0, left), left)}#${contactId}`;
}

/**
 * Whether nobody wrote a mail: it says so of itself (RFC 3834), or it is what a mail server says in a form of its own, which has no sender
 * to go back to.
 */
function isOfMachine({ headers, from }: Mail): boolean {
  const has = (name: string, test: (value: string) => boolean) => headers.some(({ key, value }) => key === name && test(value));
  const isSaid = has('auto-submitted', (value) => value.toLowerCase() !== 'no');
  const hasNoSender = has('return-path', (value) => /^<\s*>$/.test(value.trim()));
  return isSaid || hasNoSender || [from?.name, from?.address].some((name) => /^mailer-daemon\b/i.test(name ?? ''));
}

async function receive(ctx: Context, id: string, { mail, isKept, ...brought }: Brought): Promise<true> {
  ctx.lockRows();
  const before = await ctx.forChange(messageRows, id);
  const providerId = isKept ? await idOfCopy(ctx, brought.providerId, before.contactId) : brought.providerId;
  if (!providerId) return true;
  const from = (mail.from as Mailbox | undefined)?.address ?? '';
  const subject = [...kept(mail.subject)].slice(0, 500).join('');
  const body = kept(mail.text);
  const isAutomatic = isOfMachine(mail);
  await countInbound(ctx, before.contactId);
  const message: MessageRow = ctx.insert('Message', {
    ...blankMessage,
    ...({ channel: 'email', direction: 'inbound', status: 'received', provider: 'smtp' } as const),
    contactId: before.contactId,
    subject,
    providerId,
    ...{
      // A picture alone, for one, says nothing.
      body: body.trim() ? body : subject || noText,
      bodyHtml: mail.html ? kept(mail.html) : null,
      fromEmail: isEmail(from) ? from : null,
      toEmail: before.fromEmail,
    },
    metadata: { inReplyTo: id, ...(isAutomatic && { automatic: true }) },
  });
  await emitMessage(isAutomatic ? await asOfRunsBehind(ctx, id) : ctx, 'created', message);
  if (isAutomatic || before.repliedAt) return true;
  const replied = ctx.update('Message', before, { repliedAt: ctx.now() });
  await emitMessage(ctx, 'updated', replied, changesBetween(before, replied, ['repliedAt']));
  return true;
}

/** A hard bounce or a complaint; what may still arrive changes nothing. */
async function comeBack(ctx: Context, id: string, report: string): Promise<void> {
  ctx.lockRows();
  if (/^feedback-type:\s*abuse/im.test(report)) return optOutReader(ctx, id);
  const before = await ctx.forChange(messageRows, id);
  const isHard = /^action:\s*failed/im.test(report) && !/^status:\s*4/im.test(report);
  if (!isHard || before.bouncedAt) return;
  // Maybe before whoever sends it has kept that it went, or while it waits to be tried again: nothing is due any more.
  const over = { dueAt: null, leasedUntil: null };
  const bounced = ctx.update('Message', before, { status: 'failed', error: 'bounced', bouncedAt: ctx.now(), ...over });
  const asOfRuns = await asOfRunsBehind(ctx, id, { isReport: true });
  await emitMessage(asOfRuns, 'updated', bounced, changesBetween(before, bounced, ['status', 'error', 'bouncedAt']));
}
