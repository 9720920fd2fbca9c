import { signatures } from '../../kernel/base/crypto.js';
import { AppError, check, detailOf, invalidField, unprocessable } from '../../kernel/base/errors.js';
import { inOneOrder, withChanges } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { fromDatabase, isTaken } from '../../kernel/database/errors.js';
import { nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { asE164, isE164 } from '../../kernel/model/checks.js';
import { stayOpen } from '../../kernel/operations/idempotency.js';
import { withRetries } from '../../kernel/operations/ownTransaction.js';
import { recipientOfText } from '../contacts/contact.optOut.js';
import { requireContact } from '../contacts/contact.service.js';
import { isClaimed, type NumberRow, numbersOf } from '../numbers/number.service.js';
import { checkTrial } from '../plans/plan.limits.js';
import { lineOfCaller } from '../vendorLine/vendorLine.service.js';
import { headStart, takingToSend } from './message.due.js';
import { effectOf, type RequestEffect, releaseKey } from './message.requestKey.js';
import { addressee, blankMessage, doNotContact, emitMessage, getMessage, type MessageRow } from './message.service.js';
import { attemptSms, smsRefusal } from './message.sms.attempt.js';
import type { SendSmsInput } from './message.sms.model.js';

const refusals: Record<string, () => AppError> = {
  do_not_contact: doNotContact,
  recipient_opted_out: () =>
    new AppError('recipient_opted_out', 'The contact, or somebody else with the number, has opted out of text messages'),
  landline: () => new AppError('landline', 'The number of the contact is a landline'),
  no_phone: () => unprocessable('contactId', 'conflicting', 'names a contact without a phone number'),
};

const isOfLine = ({ transport }: SendSmsInput) => transport === 'vendor_line';

function transportConflict(field: string): AppError {
  const message = 'goes with the transport primary only';
  return new AppError('transport_conflict', `${field} ${message}`, { details: [detailOf(field, { code: 'conflicting', message })] });
}

/** Throws what contradicts itself, before anything is looked up. */
function checkShape(input: SendSmsInput): void {
  const { smsProviderId, fromNumber, fromkPhoneNumberId, whatsappContentSid, whatsappContentVariables } = input;
  const transport = input.transport ?? 'primary';
  const isLine = isOfLine(input);
  for (const [name, value] of Object.entries({ smsProviderId, fromNumber, fromkPhoneNumberId }))
    check(!(isLine && value), () => transportConflict(name));
  const onlyWith = { primary: { smsProviderId, fromNumber }, chat_app: { whatsappContentSid, whatsappContentVariables } };
  for (const [only, fields] of Object.entries(onlyWith))
    for (const [name, value] of Object.entries(fields))
      check(!value || transport === only, () => invalidField(name, 'conflicting', `goes with the transport ${only} only`));
}

/**
 * What makes a message another one under the same key: contact, text, media, line, provider. The line of a vendor is its agent's, and the
 * order of the variables says nothing. By the server's present key, and by those of before; then with the variables in the order in which
 * they came, as messages were kept until November 2026.
 */
const hashesOf = (ctx: Context, input: SendSmsInput): string[] => {
  const { contactId, body, fromNumber, fromkPhoneNumberId, toNumber, smsProviderId } = input;
  // Null is the same as to leave it out, here as in JSON.
  const transport = input.transport ?? 'primary';
  const { whatsappContentSid, whatsappContentVariables: variables } = input;
  const line = transport === 'vendor_line' ? ctx.caller.userId : undefined;
  const rest = [transport, fromNumber, fromkPhoneNumberId, toNumber, smsProviderId, ...(line ? [line] : [])];
  const given = [variables && inOneOrder(variables), ...(variables ? [variables] : [])];
  return given.flatMap((each) => signatures(ctx.app, 'sms', JSON.stringify([contactId, body, [whatsappContentSid, each], ...rest])));
};

const byKey = statement({
  name: 'messageByKey',
  takes: { key: text },
  row: { id: uuid, status: text, error: nullable(text), requestHash: nullable(text) },
  planned: true,
  text: ({ account, key }) => sql`
    select t.id, t.status, t.error, t.request_hash as "requestHash" from messages t
    where t.account_id = ${account} and t.idempotency_key = ${key}`,
});

const take = takingToSend({
  name: 'takeSms',
  where: sql`(status = 'queued' or status = 'sending' and error = 'unconfirmed')`,
  also: sql`, status = 'sending'`,
});

const inProgress = () => new AppError('send_in_progress', 'This message is being sent');

/** Whether a text message may still be sent by whoever repeats its request. */
const isOpen = ({ status }: { status: string }) => status === 'queued' || status === 'sending';

/** Sends what was kept under a key before, unless that is settled. Throws 409 for another message, and while somebody sends it. */
async function again(ctx: Context, input: SendSmsInput, key: string): Promise<MessageRow | undefined> {
  const [known] = await ctx.rows(byKey, { key });
  if (!known) return undefined;
  const isSame = hashesOf(ctx, input).some((hash) => hash === known.requestHash);
  check(isSame, () => new AppError('operation_key_conflict', 'This idempotencyKey was used for another message'));
  return isOpen(known) ? attempt(ctx, known.id) : getMessage(ctx, known.id);
}

/** Goes on with what a request under the same `Idempotency-Key` has kept, unless that is settled. */
async function goOn(ctx: Context, { known }: RequestEffect): Promise<MessageRow | undefined> {
  const message = known && (await getMessage(ctx, known.id));
  return message && isOpen(message) ? attempt(ctx, message.id) : message;
}

/**
 * @param isOwn whether this very request has kept it: it is answered as it is where somebody else, as who works on what is due, has it by
 * now
 */
async function attempt(ctx: Context, id: string, { isOwn = false } = {}): Promise<MessageRow> {
  const [taken] = await ctx.rows(take, { id, seconds: ctx.app.config.leaseSeconds });
  const settled = taken && (await attemptSms(ctx, taken));
  if (settled) return settled;
  const message = await getMessage(ctx, id);
  // One that was taken back meanwhile says so.
  check(taken || isOwn || !isOpen(message), inProgress);
  return message;
}

/** The number of the workspace that is named, by itself or by its id. Throws 400 where two of the fields name different ones. */
function namedBy({ fromNumber, fromkPhoneNumberId, smsProviderId }: SendSmsInput, ours: readonly NumberRow[]): NumberRow | undefined {
  const id = fromkPhoneNumberId ?? smsProviderId;
  const named = ours.find((one) => (id ? one.id === id : one.number === fromNumber));
  const isOther = (name: string) => invalidField(name, 'conflicting', 'names another number than fromkPhoneNumberId');
  check(!fromkPhoneNumberId || !smsProviderId || fromkPhoneNumberId === smsProviderId, () => isOther('smsProviderId'));
  check(!id || !fromNumber || named?.number === fromNumber, () =>
    invalidField(
      'fromNumber',
      'conflicting',
      `is another number than ${fromkPhoneNumberId ? 'fromkPhoneNumberId' : 'smsProviderId'} names`,
    ),
  );
  return named;
}

/**
 * The number that a message is said to come from; undefined where none is named. Throws 400 for one that the workspace may not write
 * from. The server's is used only while no workspace has claimed it: answers would reach that workspace.
 */
async function senderNamed(ctx: Context, input: SendSmsInput, ours: readonly NumberRow[]): Promise<string | undefined> {
  const { fromNumber } = input;
  for (const name of ['fromkPhoneNumberId', 'smsProviderId'] as const) {
    const isKnown = !input[name] || ours.some(({ id }) => id === input[name]);
    check(isKnown, () => invalidField(name, 'not_found', 'names no number of this account'));
  }
  const named = namedBy(input, ours);
  const { from, takesAnyNumber } = ctx.app.vendors.sms;
  const mayName = named || !fromNumber || ((fromNumber === from || takesAnyNumber) && (await isFree(ctx, fromNumber)));
  check(mayName, () => invalidField('fromNumber', 'not_found', 'is no number of this account'));
  return named?.number ?? fromNumber ?? undefined;
}

const isFree = async (ctx: Context, number: string) => !(await isClaimed(ctx, number));

interface Numbers {
  /** The one that is named, if any. */
  named: string | undefined;
  /** Those of the workspace. */
  ours: readonly NumberRow[];
}

/**
 * The number that a message comes from: the one that is named, else the first of the workspace, else the server's. On a vendor line it
 * is the caller's own line. Throws 422 where there is none.
 */
async function senderOf(ctx: Context, input: SendSmsInput, { named, ours }: Numbers): Promise<Sender> {
  if (isOfLine(input)) {
    const { lineId, phoneNumber } = await lineOfCaller(ctx);
    return { provider: 'vendor_line', fromNumber: phoneNumber, lineId };
  }
  const { from } = ctx.app.vendors.sms;
  const number = named ?? ours[0]?.number ?? (from !== undefined && (await isFree(ctx, from)) ? from : undefined);
  check(number, () => unprocessable('fromNumber', 'required', 'is required: the workspace has no number of its own'));
  return { provider: 'twilio', fromNumber: number };
}

/** A number in E.164, read by the country of the workspace; as it was given where it is none. */
const inE164 = (ctx: Context, given: string) => asE164(given, ctx.caller.account.defaultCountry);

/** Whom a message goes to, and what of them decides whether it may go. Throws 400 for nobody. */
async function recipient(ctx: Context, input: SendSmsInput) {
  const [contact, known] = await Promise.all([
    addressee(ctx, input.contactId),
    recipientOfText(ctx, input.contactId, input.toNumber ? inE164(ctx, input.toNumber) : null),
  ]);
  return { contact, known: known! };
}

/** The number that a message goes to. Throws 422 for who must not be written to. */
function recipientNumber(ctx: Context, known: Parameters<typeof smsRefusal>[0]): string {
  const refusal = smsRefusal(known);
  check(!refusal, () => refusals[refusal!]!());
  const { phone } = known;
  // What is kept in this form was brought into it when it was given, and that takes a while.
  return isE164(phone) ? phone : inE164(ctx, phone!);
}

/**
 * Contract POST /messages/sms/send. The message is kept before the vendor is asked, and answers the truth: `queued` where the
 * vendor throttles (it is tried again by itself), `sending` with the error `unconfirmed` where nobody knows whether it was taken,
 * `failed` where it was refused. One that is not settled is sent again by whoever repeats the request under its key: the body's, or
 * else that of the header.
 */
export async function sendSms(ctx: Context, input: SendSmsInput): Promise<MessageRow> {
  checkShape(input);
  const { idempotencyKey: key } = input;
  const effect = key ? {} : await effectOf(ctx, 'sms', input);
  const known = await (key ? again(ctx, input, key) : goOn(ctx, effect));
  const message = known ?? (await attempt(ctx, (await keepFirst(ctx, input, effect)).id, { isOwn: true }));
  if (isOpen(message)) stayOpen(ctx);
  return message;
}

function keepFirst(ctx: Context, input: SendSmsInput, effect: RequestEffect): Promise<MessageRow> {
  return withRetries(async () => {
    // In one statement.
    const [{ contact, known }, ours] = await Promise.all([recipient(ctx, input), isOfLine(input) ? [] : numbersOf(ctx)]);
    // What is wrong with the request comes before what the plan and the contact say: 400, 402, 422.
    const named = isOfLine(input) ? undefined : await senderNamed(ctx, input, ours);
    checkTrial(ctx);
    const to = recipientNumber(ctx, known);
    const sender = await senderOf(ctx, input, { named, ours });
    return keep(ctx, { ...input, contactId: contact.id }, { ...sender, toNumber: to, effect });
  });
}

interface Sender {
  provider: string;
  fromNumber: string;
  /** Of a vendor line. */
  lineId?: string;
}

interface Way extends Sender {
  toNumber: string;
  effect: RequestEffect;
}

/** What the server keeps of a message in its metadata: a client's member of such a name says nothing of it. */
const ofTheServer = new Set(['service', 'lineId', 'whatsappContentSid', 'whatsappContentVariables']);

const ofTheClient = (metadata: object | null) =>
  Object.fromEntries(Object.entries(metadata ?? {}).filter(([name]) => !ofTheServer.has(name)));

/** Keeps a text message that is to be sent by this request. Of two with one key, one is in progress. */
async function keep(ctx: Context, input: SendSmsInput, { provider, fromNumber, toNumber, lineId, effect }: Way): Promise<MessageRow> {
  const { idempotencyKey: key } = input;
  const { contactId, body, metadata = null, whatsappContentSid, whatsappContentVariables } = input;
  const transport = input.transport ?? 'primary';
  const content = whatsappContentSid ? { whatsappContentSid, whatsappContentVariables } : {};
  try {
    return await ctx.transaction(async (inside) => {
      await releaseKey(inside, effect);
      requireContact(inside, contactId);
      const own = {
        id: input.id,
        ...({ channel: 'sms', direction: 'outbound', status: 'queued' } as const),
        provider,
        contactId,
        body,
        transport,
        fromNumber,
        toNumber,
        lineId,
        userId: inside.caller.userId,
        metadata:
          transport === 'primary' ? metadata : { ...ofTheClient(metadata), service: transport, ...(lineId && { lineId }), ...content },
        dueAt: new Date(inside.now().getTime() + headStart),
        ...(key && { idempotencyKey: key, requestHash: hashesOf(inside, input)[0] }),
        ...(effect.key && { actionKey: effect.key }),
      };
      const message: MessageRow = inside.insert('Message', withChanges(blankMessage, own));
      await emitMessage(inside, 'created', message);
      return message;
    });
  } catch (error) {
    const isOwn = isTaken(error) && fromDatabase(error)?.field === 'id';
    throw (key || effect.key) && isTaken(error) && !isOwn ? inProgress() : error;
  }
}
