import { Secret, TOTP } from 'otpauth';
import { seal, signatures, unseal } from '../../kernel/base/crypto.js';
import { badRequest, check, found, invalidField, unauthenticated } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import type { SealedColumn } from '../../kernel/context/registry.js';
import { listOf, text } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { checkGuess, isPasswordOf } from './auth.guesses.js';
import { callersChanged } from './auth.identify.js';
import {
  type AuthResult,
  done,
  type MfaDisableInput,
  type MfaEnableInput,
  type MfaPolicy,
  type MfaPolicyInput,
  type MfaSetup,
  type MfaSetupInput,
  type MfaVerifyInput,
  type RecoveryCodes,
} from './auth.model.js';
import { tellWorkspace } from './auth.service.js';
import { callingUser, dropMfa, enter, holdPassword, placesOf, revokeSessions } from './auth.session.js';
import { findToken, useToken } from './auth.tokens.js';

const period = 30;
const tries = 5;
const place = (userId: string) => `users.mfa_secret.${userId}`;

/** Where the secrets of authenticator apps are kept. */
export const seals: readonly SealedColumn[] = [{ table: 'users', column: 'mfa_secret', isGlobal: true, purpose: 'mfa', place }];

const authenticator = (secret: string, label: string) =>
  new TOTP({ issuer: 'CRM', label, algorithm: 'SHA1', digits: 6, period, secret: Secret.fromBase32(secret) });

type Person = Awaited<ReturnType<typeof callingUser>>;

/**
 * Does something for the calling person, who has proved the password, and whose it still is by then: a session alone changes nothing
 * about how its person logs in.
 */
async function withPassword<T>(ctx: Context, password: string, work: (inside: Context, user: Person) => Promise<T>): Promise<T> {
  const user = await callingUser(ctx);
  const wrong = () => invalidField('password', 'incorrect', 'is wrong');
  check(await isPasswordOf(ctx, user.email, user, password), wrong);
  return inFinalTransaction(ctx, async (inside) => {
    const held = await holdPassword(inside, user);
    check(held, wrong);
    return work(inside, held);
  });
}

/** POST /auth/mfa/setup: a new secret for an authenticator app; nothing is asked for until it is enabled. */
export async function setUpMfa(ctx: Context, { password }: MfaSetupInput): Promise<MfaSetup> {
  const secret = new Secret({ buffer: Uint8Array.from(ctx.app.clock.bytes(20)).buffer }).base32;
  return withPassword(ctx, password, async (inside, { id, email }) => {
    const mfaSecret = seal(ctx.app, 'mfa', place(id), secret);
    const { count } = await inside.global.user.updateMany({ where: { id, mfaEnabledAt: null }, data: { mfaSecret } });
    check(count === 1, () => badRequest('A second factor is set up already; disable it first'));
    return { secret, otpauthUrl: authenticator(secret, email).toString() };
  });
}

type Keeper = { id: string; email: string; mfaSecret: string | null };

/** The time step whose code this is, one step of clock difference allowed; undefined when it is of none. */
function stepOf(ctx: Context, user: Keeper, code: string): number | undefined {
  if (!user.mfaSecret || !/^\d{6}$/.test(code)) return undefined;
  const timestamp = ctx.now().getTime();
  const totp = authenticator(unseal(ctx.app, 'mfa', place(user.id), user.mfaSecret), user.email);
  const delta = totp.validate({ token: code, timestamp, window: 1 });
  return delta === null ? undefined : Math.floor(timestamp / 1000 / period) + delta;
}

/** Takes a code once: the same or an older step is refused, of many at once one succeeds. */
async function takeCode(ctx: Context, user: Keeper, code: string): Promise<boolean> {
  const step = stepOf(ctx, user, code);
  if (step === undefined) return false;
  const { count } = await ctx.global.user.updateMany({
    where: { id: user.id, OR: [{ mfaLastStep: null }, { mfaLastStep: { lt: step } }] },
    data: { mfaLastStep: step },
  });
  return count === 1;
}

/** A recovery code as it is kept, and as it was kept under the keys of before. */
const hashesOf = (ctx: Context, code: string) => signatures(ctx.app, 'recovery', code.toLowerCase().replace(/[^0-9a-f]/g, ''));

/** Takes a recovery code once. */
async function takeRecoveryCode(ctx: Context, user: Keeper & { recoveryCodes: string[] }, code: string): Promise<boolean> {
  const hash = hashesOf(ctx, code).find((one) => user.recoveryCodes.includes(one));
  if (!hash) return false;
  const { count } = await ctx.global.user.updateMany({
    // All of them as they were read: of two different codes at once, one would bring the other back.
    where: { id: user.id, recoveryCodes: { equals: user.recoveryCodes } },
    data: { recoveryCodes: user.recoveryCodes.filter((kept) => kept !== hash) },
  });
  return count === 1;
}

/** Whether a code that is taken is the person's. One counter for all places that ask for one. Throws 429 as `checkGuess`. */
const isCodeOf = (ctx: Context, user: Keeper, take: () => Promise<boolean>): Promise<boolean> =>
  checkGuess(ctx, `mfa:${user.id}`, user, take);

/** POST /auth/mfa/enable: a first code proves the app; the recovery codes are shown in this reply only, and the other sessions end. */
export async function enableMfa(ctx: Context, { code }: MfaEnableInput): Promise<RecoveryCodes> {
  const user = await callingUser(ctx);
  const nothingBegun = () => badRequest('Set a second factor up first');
  check(user.mfaSecret && !user.mfaEnabledAt, nothingBegun);
  check(await isCodeOf(ctx, user, () => takeCode(ctx, user, code)), () => invalidField('code', 'incorrect', 'is wrong'));
  const codes = Array.from({ length: 10 }, () =>
    ctx.app.clock
      .bytes(8)
      .toString('hex')
      .replace(/(.{4})(?=.)/g, '$1-'),
  );
  const recoveryCodes = codes.map((text) => hashesOf(ctx, text)[0]);
  const { count } = await ctx.global.user.updateMany({
    // A reset of the password ends what was begun.
    where: { id: user.id, mfaSecret: user.mfaSecret, mfaEnabledAt: null },
    data: { mfaEnabledAt: ctx.now(), recoveryCodes },
  });
  check(count === 1, nothingBegun);
  await revokeSessions(ctx, user.id, { except: ctx.caller.id });
  callersChanged(ctx, 'everywhere');
  return { recoveryCodes: codes };
}

/** POST /auth/mfa/disable: with the password. */
export async function disableMfa(ctx: Context, { password }: MfaDisableInput) {
  await withPassword(ctx, password, async (inside, { id }) => {
    await dropMfa(inside, id);
    return done;
  });
  callersChanged(ctx, 'everywhere');
  return done;
}

const byAccount = (ctx: Context) => ({ where: { id: ctx.caller.account.id }, select: { mfaRoles: true } });

const policyOf = ({ mfaRoles }: { mfaRoles: readonly string[] }): MfaPolicy => ({ roles: mfaRoles as MfaPolicy['roles'] });

/** GET /auth/mfa/policy. */
export async function mfaPolicy(ctx: Context): Promise<MfaPolicy> {
  return policyOf(found(await ctx.global.account.findUnique(byAccount(ctx)), 'Account'));
}

const lockMfaRoles = statement({
  name: 'lockMfaRoles',
  row: { mfaRoles: listOf(text) },
  locks: true,
  text: ({ account }) => sql`select a.mfa_roles as "mfaRoles" from accounts a where a.id = ${account} for no key update`,
});

/**
 * PATCH /auth/mfa/policy: sessions of the roles that have no second factor yet can only set it up, within a second. What changes is told as
 * `workspace.updated`, with `mfaRoles`.
 */
export async function updateMfaPolicy(ctx: Context, { roles }: MfaPolicyInput): Promise<MfaPolicy> {
  const [before] = await ctx.rows(lockMfaRoles);
  const after = { mfaRoles: roles ?? before!.mfaRoles };
  const changes = changesBetween(before!, after, ['mfaRoles']);
  if (isNothing(changes)) return policyOf(before!);
  await ctx.global.account.update({ ...byAccount(ctx), data: { mfaRoles: roles } });
  await tellWorkspace(ctx, changes);
  callersChanged(ctx);
  return policyOf(after);
}

/** POST /auth/mfa/verify: the second step of a login. 401 on a wrong code; a token stands five tries and five minutes. */
export async function verifyMfa(ctx: Context, { mfaToken, code, recoveryCode }: MfaVerifyInput): Promise<AuthResult> {
  check(code || recoveryCode, () => invalidField('code', 'required', 'or recoveryCode is required'));
  const wrong = () => unauthenticated('The code or the token is wrong or expired');
  const token = await findToken(ctx, 'mfa', mfaToken);
  check(token?.accountId, wrong);
  const counted = await ctx.global.token.updateMany({
    where: { id: token.id, attempts: { lt: tries } },
    data: { attempts: { increment: 1 } },
  });
  check(counted.count === 1, wrong);
  const user = found(await ctx.global.user.findUnique({ where: { id: token.userId } }), 'User');
  // Who knows the password gets new tokens, from as many addresses as they like: the person's codes are limited, too.
  check(await isCodeOf(ctx, user, () => (code ? takeCode(ctx, user, code) : takeRecoveryCode(ctx, user, recoveryCode!))), wrong);
  return inFinalTransaction(ctx, async (inside) => {
    await useToken(inside, 'mfa', mfaToken, wrong);
    const places = await placesOf(inside, user.id);
    const entered = places.find(({ account }) => account.id === token.accountId);
    check(entered, wrong);
    return enter(inside, user, entered, places, true);
  });
}
