import { dayMs } from '../../kernel/base/durations.js';
import { check, found, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { plans } from '../plans/plan.limits.js';
import { isPasswordOf } from './auth.guesses.js';
import type { Mailing } from './auth.mail.js';
import { asMember } from './auth.memberEvents.js';
import type { AuthResult, RegisterInput } from './auth.model.js';
import { hashChosen } from './auth.newPassword.js';
import { displayName, enter, findUser, personWith } from './auth.session.js';
import { endPasswordTokens } from './auth.tokens.js';
import { verificationMail } from './auth.verification.js';

type Person = NonNullable<Awaited<ReturnType<typeof findUser>>>;

const registered = () => invalidField('email', 'taken', 'is registered already');

/**
 * Contract POST /auth/register: a new account, its owner, and a session. An address that was only ever invited counts as
 * new, and who has left every account comes back with their password, and with the names that they say now.
 */
export async function register(ctx: Context, input: RegisterInput): Promise<AuthResult> {
  const person = await findUser(ctx, input.email);
  const passwordHash = await passwordFor(ctx, person, input.password);
  let mailing: Mailing | undefined;
  const entered = await inFinalTransaction(ctx, async (inside) => {
    const user = await claim(inside, input, person, passwordHash);
    const account = await newAccount(inside, input.accountName);
    const data = { accountId: account.id, userId: user.id, role: 'owner', name: displayName(user) };
    const place = { ...(await inside.global.membership.create({ data })), account, user };
    mailing = user.emailVerifiedAt ? undefined : await verificationMail(asMember(inside, place), user);
    return enter(inside, user, place, [place]);
  });
  mailing?.(ctx);
  return entered;
}

const isInNoAccount = async (ctx: Context, userId: string) =>
  (await ctx.global.membership.count({ where: { userId, status: 'active' } })) === 0;

/** The hash to go on with: of the new password, or the person's own where they prove it and are in no account any more. */
async function passwordFor(ctx: Context, person: Person | null, password: string): Promise<string> {
  if (!person?.passwordHash) return hashChosen(ctx, password);
  check((await isInNoAccount(ctx, person.id)) && (await isPasswordOf(ctx, person.email, person, password)), registered);
  return person.passwordHash;
}

/** Makes the address the registrant's, unless somebody else does at the same moment. */
async function claim(inside: Context, { email, firstName, lastName }: RegisterInput, before: Person | null, passwordHash: string) {
  const { id } = await personWith(inside, email);
  // Who comes back keeps the names that they do not say anew.
  const names = before?.passwordHash
    ? { firstName: firstName ?? undefined, lastName: lastName ?? undefined }
    : { email, firstName, lastName };
  const data = { ...names, passwordHash };
  const claimed = await inside.global.user.updateMany({ where: { id, passwordHash: before?.passwordHash ?? null }, data });
  check(claimed.count === 1, registered);
  // Their hash stays the same, so that it does not tell that they came back at this very moment: who waited for the person looks again.
  check(!before?.passwordHash || (await isInNoAccount(inside, id)), registered);
  await endPasswordTokens(inside, id);
  return found(await findUser(inside, email), 'User');
}

function newAccount(inside: Context, name: string) {
  const plan = inside.app.config.defaultPlan;
  const days = plans[plan]?.days;
  const trialEndsAt = days ? new Date(inside.now().getTime() + days * dayMs) : null;
  return inside.global.account.create({ data: { name, plan, billingStatus: days ? 'trialing' : 'active', trialEndsAt } });
}
