import { AppError, check, conflict, found, invalidField, taken } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { flag, instant, json, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { findRow, listRows } from '../../kernel/lists/list.js';
import { deleted } from '../../kernel/model/removal.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import type { VendorNumber } from '../../vendors/sms/sms.js';
import type { VoiceConfig } from '../../vendors/sms/voice.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { AvailableNumber, ClaimNumberInput, PhoneNumberList } from './number.model.js';
import { priorOf } from './number.routing.js';
import { numberTable } from './number.table.js';
import { textsCome, withTexts } from './number.texts.js';

const { shape: row, columns } = numberTable;
export type NumberRow = RowOf<typeof row>;

/** GET /settings/numbers: the workspace's, the oldest first. */
export const listNumbers = (ctx: Context, args: PhoneNumberList) => listRows<NumberRow>(ctx, numberTable, args);

/** One number of the workspace, or null. */
export const findNumber = (ctx: Context, id: string) => findRow<NumberRow>(ctx, numberTable, id);

const silent = () => {
  throw new AppError('vendor_unavailable', 'The vendor does not answer');
};

/** The numbers that the vendor has for us, at most `mostListed`. 502 where it does not answer. */
export const ofVendor = (ctx: Context): Promise<VendorNumber[]> => ctx.app.vendors.sms.numbers().catch(silent);

/** One of them; undefined where the vendor has it not for us. 502 where it does not answer. */
export const numberOfVendor = (ctx: Context, number: string): Promise<VendorNumber | undefined> =>
  ctx.app.vendors.sms.number(number).catch(silent);

// Numbers are one list over all accounts: it is asked whether they are taken, and never by whom.
const takenNumbers = statement({
  name: 'takenNumbers',
  takes: { numbers: listOf(text) },
  row: { number: text },
  acrossAccounts: true,
  text: ({ numbers }) => sql`select n.number from phone_numbers n where n.number = any(${numbers})`,
});

/** Whether a number is the sender of all who have none of their own, which nobody can claim (`TWILIO_FROM_SHARED`). */
export const isShared = ({ app: { config, vendors } }: Context, number: string): boolean =>
  config.twilioFromShared && number === vendors.sms.from;

/**
 * GET /settings/numbers/available: what the vendor has for us, nobody has claimed and anybody can claim; at most a thousand. 502 where it
 * does not answer.
 */
export async function availableNumbers(ctx: Context): Promise<AvailableNumber[]> {
  const offered = await ofVendor(ctx);
  const gone = new Set((await ctx.rows(takenNumbers, { numbers: offered.map(({ number }) => number) })).map(({ number }) => number));
  const isFree = ({ number }: VendorNumber) => !gone.has(number) && !isShared(ctx, number);
  return offered.filter(isFree).map(({ number, label }) => ({ number, label }));
}

/** Whether somebody has claimed a number: this workspace, or another. */
export const isClaimed = async (ctx: Context, number: string): Promise<boolean> =>
  (await ctx.rows(takenNumbers, { numbers: [number] })).length > 0;

const claim = statement({
  name: 'claimNumber',
  takes: { id: uuid, number: text, label: nullable(text), vendorId: text, voice: flag, sms: flag, texts: nullable(flag), now: instant },
  row,
  changes: true,
  text: ({ account, id, number, label, vendorId, voice, sms, texts, now }) => sql`
    insert into phone_numbers as t
      (id, account_id, number, label, provider, provider_id, has_voice, has_sms, texts_come, created_at, updated_at)
    values (${id}, ${account}, ${number}, ${label}, 'twilio', ${vendorId}, ${voice}, ${sms}, ${texts}, ${now}, ${now})
    on conflict (number) do nothing returning ${columns}`,
});

/**
 * POST /settings/numbers: 400 for a number that the vendor does not have for us, 402 where the trial is over, 409 for one that is
 * claimed, by whomever, or that is everybody's sender. Whoever writes to it writes to this workspace, unless the vendor tells another
 * system of its texts, which it goes on to do.
 */
export async function claimNumber(ctx: Context, { number, label = null }: ClaimNumberInput): Promise<NumberRow> {
  const offered = await numberOfVendor(ctx, number);
  if (!offered) throw invalidField('number', 'not_found', 'is no number of the vendor');
  checkTrial(ctx);
  const isFree = !isShared(ctx, number) && !(await isClaimed(ctx, number));
  const brought = isFree ? await withTexts(ctx, offered) : offered;
  return inFinalTransaction(ctx, (inside) => claimForWorkspace(inside, brought, { label }));
}

/**
 * Claims a number that the vendor has for us for the workspace, in this unit of work; 409 where it is claimed, by whomever, or is
 * everybody's sender.
 */
export async function claimForWorkspace(ctx: Context, offered: VendorNumber, { label = null }: { label?: string | null } = {}) {
  const { id: vendorId, number, label: named, hasVoice: voice, hasSms: sms } = offered;
  check(!isShared(ctx, number), () => taken('number', 'is the sender of all workspaces that have no number of their own'));
  const told = { number, label: label ?? named, vendorId, voice, sms, texts: textsCome(ctx, offered) };
  const [claimed] = await ctx.rows(claim, { id: ctx.app.clock.id(), ...told, now: ctx.now() });
  check(claimed, () => taken('number', 'is claimed already'));
  await ctx.emit({ name: 'phone_number.created', record: claimed });
  return claimed;
}

const owner = statement({
  name: 'ownerOfNumber',
  takes: { number: text },
  row: { isOurs: flag },
  planned: true,
  text: ({ account, number }) => sql`select n.account_id = ${account} as "isOurs" from phone_numbers n where n.number = ${number}`,
});

/** Whose a number is. */
export async function ownerOf(ctx: Context, number: string): Promise<'workspace' | 'another' | 'nobody'> {
  const [claimed] = await ctx.rows(owner, { number });
  if (!claimed) return 'nobody';
  return claimed.isOurs ? 'workspace' : 'another';
}

const holding = statement({
  name: 'holdNumberOfWorkspace',
  takes: { number: text },
  row: { id: uuid },
  locks: true,
  text: ({ account, number }) => sql`select n.id from phone_numbers n where n.account_id = ${account} and n.number = ${number} for update`,
});

/** Keeps a number of the workspace from being given back until the unit of work ends. */
export const holdNumber = async (inside: Context, number: string): Promise<void> => void (await inside.rows(holding, { number }));

const toRelease = statement({
  name: 'numberToRelease',
  takes: { id: uuid },
  row,
  locks: true,
  text: ({ account, id }) => sql`select ${columns} from phone_numbers t where t.account_id = ${account} and t.id = ${id} for update`,
});

const answered = statement({
  name: 'whatAnswersNumberOfWorkspace',
  takes: { number: text },
  row: { id: uuid },
  text: ({ account, number }) => sql`
    select f.id from call_flows f where f.account_id = ${account} and f.phone_number = ${number} and f.published_version is not null`,
});

const left = statement({
  name: 'tombstoneOfReleasedNumber',
  takes: { number: text },
  row: { id: uuid, prior: nullable(json<VoiceConfig>()) },
  text: ({ account, number }) => sql`
    select d.id, d.prior_config as prior from call_flow_tombstones d
    where d.account_id = ${account} and d.phone_number = ${number} and d.released_at is null`,
});

const release = statement({
  name: 'releaseNumber',
  takes: { id: uuid },
  row,
  changes: true,
  text: ({ account, id }) => sql`delete from phone_numbers t where t.account_id = ${account} and t.id = ${id} returning ${columns}`,
});

/**
 * DELETE /settings/numbers/{id}: anybody may claim it again. 409 while a published call flow answers it, or while it is to be given
 * back to what handled its calls before: who did that later would route it away from whoever has it by then.
 */
export async function releaseNumber(ctx: Context, id: string) {
  // Held before it is asked what answers it: a flow that is being published holds it too.
  const { number } = found((await ctx.rows(toRelease, { id: validId(id, 'Phone number') }))[0], 'Phone number');
  const [answering] = await ctx.rows(answered, { number });
  check(!answering, () => conflict('number', 'is answered by a published call flow'));
  const [tombstone] = await ctx.rows(left, { number });
  check(!priorOf(ctx, tombstone?.prior ?? null), () =>
    conflict('number', 'is to be given back to what handled its calls before: release its tombstone first'),
  );
  // Of one of which nothing is known from before, nothing is to be done any more.
  if (tombstone) ctx.update('CallFlowTombstone', tombstone, { releasedAt: ctx.now() });
  const released = found((await ctx.rows(release, { id: validId(id, 'Phone number') }))[0], 'Phone number');
  await ctx.emit({ name: 'phone_number.deleted', record: released });
  return deleted('PhoneNumber', released.id);
}

const ours = statement({
  name: 'numbersOfWorkspace',
  row,
  shared: true,
  text: ({ account }) =>
    sql`select ${columns} from phone_numbers t where t.account_id = ${account} and t.has_sms order by t.created_at, t.id`,
});

/** The numbers that the workspace may write from, the oldest first. */
export const numbersOf = (ctx: Context): Promise<NumberRow[]> => ctx.rows(ours);
