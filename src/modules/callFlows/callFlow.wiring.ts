import { AppError, check, conflict, found, notFound } from '../../kernel/base/errors.js';
import { type Context, inLog } from '../../kernel/context/context.js';
import { json, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { SmsRefused, SmsUnconfirmed, type VendorNumber } from '../../vendors/sms/sms.js';
import type { VoiceConfig } from '../../vendors/sms/voice.js';
import { asksUs, isAsWired, isOurs, ourConfig, priorOf, wasOurs } from '../numbers/number.routing.js';
import { ownerOf } from '../numbers/number.service.js';
import type { Wiring } from './callFlow.model.js';
import { getCallFlow, type KeptFlow } from './callFlow.service.js';
import { leaveTombstoneLate, release, released, tombstoneOf } from './callFlow.tombstone.js';

const stateOf = (ctx: Context, voice: VoiceConfig | undefined, error: string | null = null): Wiring => {
  const wired = voice !== undefined && isOurs(ctx, voice);
  return { wired, inboundUrl: ourConfig(ctx).voiceUrl, voiceUrl: voice?.voiceUrl || null, error: wired ? null : error };
};

/** Why calls that are routed so do not come to the service. */
function whyNotOurs(ctx: Context, voice: VoiceConfig): string {
  if (voice.trunkSid) return 'The number is on a SIP trunk of the vendor, which takes its calls';
  return asksUs(ctx, voice) ? 'The vendor does not ask the service by POST' : 'The vendor routes the number elsewhere';
}

const isVendors = (error: unknown): error is Error => error instanceof SmsRefused || error instanceof SmsUnconfirmed;

/** What is told of a fault: the vendor's own words, of others nothing. */
const wordsOf = (error: unknown) => (isVendors(error) ? error.message.slice(0, 500) : 'The service is temporarily unavailable');

const keepPrior = statement({
  name: 'keepPriorConfig',
  takes: { id: uuid, number: text, prior: json<VoiceConfig>() },
  changes: true,
  // Not a change of the flow that anybody sees: updated_at, which a publication names, stays. What was kept first holds until it is
  // unpublished: whatever the vendor says later came after it. One that was unpublished meanwhile keeps nothing: it may have another number
  // by the time that it is published again. What was kept without a word of a trunk is of a release that did not see one: a number that is
  // on one now was all along.
  text: ({ account, id, number, prior }) => sql`
    update call_flows set
      prior_config = coalesce(prior_config || jsonb_build_object('trunkSid', ${prior}::jsonb -> 'trunkSid'), ${prior}::jsonb)
    where account_id = ${account} and id = ${id} and published_version is not null and phone_number = ${number}
      and (prior_config is null or (prior_config -> 'trunkSid' is null and ${prior}::jsonb ->> 'trunkSid' <> ''))`,
});

/**
 * Has the vendor ask the service about the calls of a published flow's number, and keeps how it routed them before. What goes wrong
 * is told as the wiring's error.
 */
export async function wire(ctx: Context, { id, phoneNumber }: Pick<KeptFlow, 'id' | 'phoneNumber'>): Promise<Wiring> {
  const { sms } = ctx.app.vendors;
  let voice: VoiceConfig | undefined;
  try {
    const number = phoneNumber ? await sms.number(phoneNumber) : undefined;
    if (!number) return stateOf(ctx, undefined, 'The vendor does not have the number');
    voice = number.voice;
    if (isAsWired(ctx, voice)) return stateOf(ctx, voice);
    const prior = priorOf(ctx, voice);
    if (prior) await ctx.transaction((inside) => inside.rows(keepPrior, { id, number: number.number, prior }));
    voice = await sms.route(number.id, ourConfig(ctx));
    // Unpublished meanwhile, which found nothing to give back yet: it is given back now.
    if (await leaveTombstoneLate(ctx, { id, number: number.number, prior })) {
      await restoreQuietly(ctx, number.number);
      return stateOf(ctx, undefined, 'The flow was unpublished meanwhile');
    }
    return stateOf(ctx, voice, whyNotOurs(ctx, voice));
  } catch (error) {
    if (!isVendors(error)) ctx.app.log.warn({ err: error, ...inLog(ctx.request) }, 'a number could not be wired');
    return stateOf(ctx, voice, wordsOf(error));
  }
}

/**
 * Contract GET /call-flows/{id}/wiring: how the vendor routes the number now; an error where it does not say. The vendor has the
 * numbers of all workspaces, and a draft may name any of them: of those that are not the workspace's nothing is told.
 */
export async function getWiring(ctx: Context, id: string): Promise<Wiring> {
  const { phoneNumber } = await getCallFlow(ctx, id);
  if (!phoneNumber) return stateOf(ctx, undefined, 'The flow has no phone number');
  if ((await ownerOf(ctx, phoneNumber)) !== 'workspace') return stateOf(ctx, undefined, 'The number is no number of the workspace');
  return ctx.app.vendors.sms.number(phoneNumber).then(
    (number) => stateOf(ctx, number?.voice, number ? whyNotOurs(ctx, number.voice) : 'The vendor does not have the number'),
    (error) => stateOf(ctx, undefined, wordsOf(error)),
  );
}

/** Contract POST /call-flows/{id}/wiring: 409 unless the flow is published, 502 where the vendor refuses. */
export async function wireCallFlow(ctx: Context, id: string): Promise<Wiring> {
  const flow = await getCallFlow(ctx, id);
  check(flow.publishedVersion !== null, () => conflict('publishedVersion', 'is null: the flow is not published'));
  const wiring = await wire(ctx, flow);
  check(wiring.wired, () => new AppError('vendor_unavailable', `The number could not be wired: ${wiring.error}`));
  return wiring;
}

const answering = statement({
  name: 'flowPublishedOnNumber',
  takes: { number: text },
  row: { id: uuid, phoneNumber: text },
  text: ({ account, number }) => sql`
    select id, phone_number as "phoneNumber" from call_flows
    where account_id = ${account} and phone_number = ${number} and published_version is not null`,
});

/**
 * Gives a number back to what handled its calls before. Answers how the vendor routes it afterwards. Undefined: its calls still come to
 * the service, because nothing is known of what handled them before. `answered`: they come to the service because a flow of the workspace
 * answers the number again. The vendor is told outside of every transaction: so the database is asked for such a flow before and
 * afterwards. Where there is one afterwards, the number is wired to it again. Throws what the vendor throws.
 */
async function restore(ctx: Context, number: VendorNumber, kept: VoiceConfig | null): Promise<VoiceConfig | 'answered' | undefined> {
  const isAnswered = async () => (await ctx.rows(answering, { number: number.number }))[0];
  if (await isAnswered()) return 'answered';
  if (!wasOurs(ctx, number.voice)) return number.voice;
  const prior = priorOf(ctx, kept);
  if (!prior) return undefined;
  await ctx.app.vendors.sms.route(number.id, prior);
  const flow = await isAnswered();
  if (flow) {
    await wire(ctx, flow);
    return 'answered';
  }
  const since = await ctx.app.vendors.sms.number(number.number);
  if (!since || wasOurs(ctx, since.voice)) throw new SmsUnconfirmed('The vendor still routes the number to the service');
  return since.voice;
}

/** Restores the number that a flow has left, as far as that works; else its tombstone stays. */
export async function restoreQuietly(ctx: Context, phoneNumber: string): Promise<void> {
  const left = await tombstoneOf(ctx, phoneNumber);
  if (!left) return;
  try {
    const number = await ctx.app.vendors.sms.number(phoneNumber);
    const since = number && (await restore(ctx, number, left.priorConfig));
    if (since === 'answered') return;
    if (!number || since) await release(ctx, left.id);
  } catch (error) {
    ctx.app.log.warn({ err: error, ...inLog(ctx.request) }, 'a number was not given back to what handled it before');
  }
}

/**
 * Contract POST /call-flows/tombstones/release: 404 where no flow has left the number or it is another workspace's by now, 409 where
 * it still comes to the service and nothing is known of before, 502 where the vendor does not confirm that it is given back.
 */
export async function releaseTombstone(ctx: Context, { phoneNumber }: { phoneNumber: string }) {
  const left = found(await tombstoneOf(ctx, phoneNumber), 'Tombstone');
  if ((await ownerOf(ctx, phoneNumber)) === 'another') {
    await release(ctx, left.id);
    throw notFound('Tombstone');
  }
  const unverified = (error: unknown): never => {
    if (!isVendors(error)) throw error;
    throw new AppError('vendor_unavailable', `The number could not be given back: ${wordsOf(error)}`);
  };
  const number = await ctx.app.vendors.sms.number(phoneNumber).catch(unverified);
  const voice = number && (await restore(ctx, number, left.priorConfig).catch(unverified));
  if (voice === 'answered') throw conflict('phoneNumber', 'is answered by a call flow again');
  check(!number || voice, () => conflict('phoneNumber', 'still comes to the service, and nothing is known of what handled it before'));
  return inFinalTransaction(ctx, async (inside) => {
    released(inside, left.id);
    return { phoneNumber, released: true, voiceUrl: voice?.voiceUrl || null };
  });
}
