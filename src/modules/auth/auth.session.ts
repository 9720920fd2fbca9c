import { v4 } from 'uuid';
import { dayMs } from '../../kernel/base/durations.js';
import { check, denied, found, unauthenticated } from '../../kernel/base/errors.js';
import type { AccountInfo, Context, NodeSource } from '../../kernel/context/context.js';
import { sql } from '../../kernel/database/sql.js';
import { permissionsOf, type User, type Workspace } from './auth.member.model.js';
import type { AuthResult } from './auth.model.js';
import { digest, randomSecret } from './auth.secrets.js';
import { issueToken } from './auth.tokens.js';

/** A session ends after seven days without a request. */
export const sessionLife = 7 * dayMs;

interface Member extends Pick<User, 'name' | 'createdAt'> {
  role: string;
  status: string;
  permissions: unknown;
  account: { id: string; name: string; plan: string };
}

type Person = Required<Pick<User, 'id' | 'email' | 'firstName' | 'lastName'>> & { emailVerifiedAt: Date | null };
type Entering = Person & { mfaEnabledAt: Date | null };
type Place = Member & { account: { mfaRoles: string[] } };

/** A person as a member of an account. */
export function userOf(person: Person, member: Omit<Member, 'account'> & { lastActiveAt: Date | null }): User {
  const { id, email, firstName, lastName, emailVerifiedAt } = person;
  const { name, role, status, lastActiveAt, createdAt } = member;
  const rights = { role: role as User['role'], permissions: permissionsOf(member.permissions) };
  const place = { name, ...rights, status: status as User['status'], lastActiveAt, createdAt };
  return { id, email, firstName, lastName, emailVerified: emailVerifiedAt !== null, ...place };
}

/** An account as the workspace of its members. */
export const workspaceOf = ({ id, name, plan }: Member['account']): Workspace => ({ id, name, plan: plan as Workspace['plan'] });

/** The caller's workspace, as the only one that they find by its id. */
export const ownWorkspace: NodeSource = {
  rows: ({ caller: { account } }, ids) => sql`select a.id, a.name, a.plan
    from (select ${account.id}::uuid as id, ${account.name}::text as name, ${account.plan}::text as plan) a where a.id = any(${ids})`,
  shape: {},
  has: (account, id) => sql`select 1 where ${account}::uuid = ${id}`,
};

/** Whether the account asks a second factor of the member's role. */
export const mustHaveMfa = ({ role, account }: { role: string; account: { mfaRoles: readonly string[] } }) =>
  account.mfaRoles.includes(role);

/**
 * Lets in who has proved a password: with a session, or to the second step where a second factor is enabled and has not been proved
 * yet. Who has a session already goes on by `changePlace`.
 */
export async function enter(
  ctx: Context,
  user: Entering,
  place: Place,
  all: Member[],
  hasProvedFactor = !user.mfaEnabledAt,
): Promise<AuthResult> {
  if (hasProvedFactor) return openSession(ctx, user, place, all);
  const mfaToken = await issueToken(ctx, 'mfa', user.id, { account: place.account.id });
  return { user: null, account: null, role: null, accounts: null, mfaSetupRequired: false, mfaRequired: true, mfaToken };
}

const isNoMember = () => denied('The person is no active member of that account');

/**
 * Lets the caller go on in another of their accounts: a new session takes the place of theirs. 401 where that has ended, by this
 * moment: who ends sessions holds the person's row, or finds the one that is ended here. 403 where the person is no active member.
 */
export async function changePlace(inside: Context, accountId: string): Promise<AuthResult> {
  const user = await holdPassword(inside, await callingUser(inside));
  check(user && (await endSession(inside)), () => unauthenticated('The session has ended'));
  const places = await placesOf(inside, user.id);
  const place = places.find(({ account }) => account.id === accountId);
  check(place, isNoMember);
  return openSession(inside, user, place, places);
}

/** Ends the caller's session, and answers whether it still stood. */
export async function endSession(ctx: Context): Promise<boolean> {
  const { count } = await ctx.global.session.updateMany({
    where: { id: ctx.caller.id, revokedAt: null },
    data: { revokedAt: ctx.now() },
  });
  return count === 1;
}

/**
 * Opens a session in an account, keeps it in the request for the cookie and answers as a login does. Only for somebody who has proved a
 * secret, or whose earlier session was just ended.
 */
async function openSession(ctx: Context, user: Entering, member: Place, all: Member[]): Promise<AuthResult> {
  const token = randomSecret(ctx.app.clock);
  const now = ctx.now();
  const expiresAt = new Date(now.getTime() + sessionLife);
  const place = { accountId: member.account.id, userId: user.id };
  // Waits for who is removing the person from the account: what is opened afterwards would not be ended by it.
  const { count } = await ctx.global.membership.updateMany({ where: { ...place, status: 'active' }, data: { lastActiveAt: now } });
  check(count === 1, isNoMember);
  const userAgent = ctx.request.userAgent?.slice(0, 500);
  await ctx.global.session.create({
    data: { ...place, tokenHash: digest(token), expiresAt, lastSeenAt: now, ip: ctx.request.ip, userAgent },
  });
  ctx.request.session = { token, expiresAt };
  return {
    user: userOf(user, { ...member, lastActiveAt: now }),
    account: workspaceOf(member.account),
    role: member.role as User['role'],
    accounts: all.map(({ role, account }) => ({ accountId: account.id, name: account.name, role: role as User['role'] })),
    mfaSetupRequired: mustHaveMfa(member) && !user.mfaEnabledAt,
    mfaRequired: false,
    mfaToken: null,
  };
}

/** The account as every request knows it. */
export const accountInfo = (account: Omit<AccountInfo, 'defaultTaxRate'> & { defaultTaxRate: object | string }): AccountInfo => {
  const { id, name, plan, billingStatus, timezone, defaultCountry, currency, defaultTaxRate, trialEndsAt } = account;
  return { id, name, plan, billingStatus, timezone, defaultCountry, currency, defaultTaxRate: String(defaultTaxRate), trialEndsAt };
};

/** The name to show of a person: first and last name, else the address. */
export const displayName = (person: { email: string; firstName?: string | null; lastName?: string | null }) =>
  [person.firstName, person.lastName].filter(Boolean).join(' ') || person.email;

export const findUser = (ctx: Context, email: string) => ctx.global.user.findUnique({ where: { emailLower: email.toLowerCase() } });

/** The person who calls: the session's, or who made the key. */
export const callingUser = async (ctx: Context) => found(await ctx.global.user.findUnique({ where: { id: ctx.person } }), 'User');

/** The person with an address; made where nobody has it yet, without a password until they register, accept or reset. */
export async function personWith(inside: Context, email: string) {
  // Of version 4: an id by time would tell others since when the address is known.
  const id = v4({ random: inside.app.clock.bytes(16) });
  await inside.global.user.createMany({ data: [{ id, email }], skipDuplicates: true });
  return found(await findUser(inside, email), 'User');
}

/**
 * The person whose password was proved, or the absence of one, as they are now; undefined where that is theirs no more. They stay so to
 * the end of this transaction: a change, also of the second factor, waits for it, or came before and is in the answer.
 */
export async function holdPassword(inside: Context, { id, passwordHash }: { id: string; passwordHash: string | null }) {
  const [held] = await inside.global.user.updateManyAndReturn({ where: { id, passwordHash }, data: { passwordHash } });
  return held;
}

/** Takes a person's second factor off; or only what was begun of one. */
export async function dropMfa(inside: Context, userId: string, which: { mfaEnabledAt?: null } = {}): Promise<void> {
  const data = { mfaSecret: null, mfaEnabledAt: null, mfaLastStep: null, recoveryCodes: [] };
  await inside.global.user.updateMany({ where: { id: userId, ...which }, data });
}

/** A person's active places, the oldest first. */
export const placesOf = (ctx: Context, userId: string) =>
  ctx.global.membership.findMany({
    where: { userId, status: 'active', account: { suspendedAt: null } },
    include: { account: true, user: true },
    orderBy: [{ createdAt: 'asc' }],
  });

/** Ends a person's sessions, all or all but one. */
export async function revokeSessions(ctx: Context, userId: string, { except }: { except?: string } = {}): Promise<void> {
  await ctx.global.session.updateMany({
    where: { userId, revokedAt: null, ...(except && { id: { not: except } }) },
    data: { revokedAt: ctx.now() },
  });
}
