import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { isSuspended } from '../../kernel/access/access.js';
import { dayMs, minuteMs } from '../../kernel/base/durations.js';
import { AppError, denied, unauthenticated } from '../../kernel/base/errors.js';
import { callersWake } from '../../kernel/base/principal.js';
import type { Credentials, Identified } from '../../kernel/context/callers.js';
import type { App, Context, Principal } from '../../kernel/context/context.js';
import { type CallingMember, keyByHash, sessionByHash } from './auth.callers.js';
import { permissionsOf } from './auth.member.model.js';
import { digest, isKey as isFormedAsKey } from './auth.secrets.js';
import { accountInfo, mustHaveMfa, sessionLife } from './auth.session.js';
import { tryToNoteUse } from './auth.use.js';

interface Known {
  principal: Principal;
  ipAllowlist: readonly string[];
  expiresAt: Date | null;
  /** A session that has just slid on: its cookie must, too. */
  slid?: boolean;
  /** Notes that the key was used, where that is due. The first request that is let in calls it, once; one that is refused does not. */
  noteUse?: () => Promise<unknown>;
}

/** A look for who has a secret, and what it found. */
interface Look {
  known: Promise<Known>;
  begun: number;
  /** Of whom was found. */
  accountId?: string;
  /** Whether the next one is under way. */
  isRenewed?: boolean;
}

const idleLife = 90 * dayMs;
/** How long a look holds, so that revocations take effect within a second; and when the next one begins, so that nobody waits for it. */
const [heldMs, renewedMs] = [1000, 500];
const caches = new WeakMap<App, LRUCache<string, Look>>();

function cacheOf(app: App) {
  const known = caches.get(app);
  if (known) return known;
  const made = new LRUCache<string, Look>({ max: 10_000, ttl: heldMs });
  caches.set(app, made);
  app.channel.subscribe(callersWake, (account) => forget(made, account));
  return made;
}

/** Forgets an account's callers, and who is being looked for; all of them where no account is named. */
function forget(cache: LRUCache<string, Look>, account: string): void {
  if (!account) cache.clear();
  for (const [name, { accountId = account }] of cache.entries()) if (accountId === account) cache.delete(name);
}

/** Forgets all callers: for tests, which move the clock and change rows without a word. */
export const forgetCallers = (app: App) => cacheOf(app).clear();

/**
 * Says that credentials or rights of the caller's account change, or of a person in every account: once that is committed it holds for
 * all that comes to any process, and who stays connected is looked at again.
 */
export function callersChanged(ctx: Context, where: 'here' | 'everywhere' = 'here'): void {
  const account = where === 'here' ? (ctx.account?.id ?? '') : '';
  ctx.afterCommit(`${callersWake} ${account}`, () => ctx.app.channel.publish(callersWake, account));
}

/** Who is calling (contract "Authentication"): an API key in the Authorization header, else the session cookie. */
export async function identify(app: App, credentials: Credentials): Promise<Identified> {
  try {
    const known = await find(app, credentials);
    if (known.expiresAt && known.expiresAt <= app.clock.now()) throw unauthenticated('The credentials have expired');
    if (!isAllowedFrom(known.ipAllowlist, credentials.ip)) throw denied('This API key is not allowed from this address');
    const renewed = known.slid && known.expiresAt && { token: credentials.cookie!, expiresAt: known.expiresAt };
    known.slid = false;
    const { noteUse } = known;
    known.noteUse = undefined;
    await noteUse?.();
    return { principal: known.principal, renewed: renewed || undefined };
  } catch (error) {
    if (error instanceof AppError) return { principal: null, refusal: error };
    throw error;
  }
}

async function find(app: App, { authorization, cookie, isSocket = false }: Credentials): Promise<Known> {
  const isKey = authorization !== undefined;
  const hash = digest(isKey ? bearer(authorization) : cookie!);
  const look = () => lookFor(isKey ? findKey(app, hash) : findSession(app, hash, isSocket));
  const cache = cacheOf(app);
  // What was found for a secret holds for the way by which it came: a key is no session, nor the other way round.
  const way = isSocket ? 'socket' : 'session';
  const name = `${isKey ? 'key' : way} ${hash}`;
  const last = cache.get(name);
  if (last) {
    if (performance.now() - last.begun > renewedMs) renew(cache, name, last, look);
    return last.known;
  }
  const first = look();
  cache.set(name, first);
  first.known.catch(() => cache.peek(name) === first && cache.delete(name));
  return first.known;
}

function lookFor(known: Promise<Known>): Look {
  const look: Look = { known, begun: performance.now() };
  const found = ({ principal }: Known) => {
    look.accountId = principal.account.id;
  };
  known.then(found, () => undefined);
  return look;
}

/** Looks again while the last look holds, and puts what is found in its place, unless it was forgotten meanwhile. */
function renew(cache: LRUCache<string, Look>, name: string, last: Look, look: () => Look): void {
  if (last.isRenewed) return;
  last.isRenewed = true;
  const next = look();
  const isLast = () => cache.peek(name) === last;
  next.known.then(
    () => isLast() && cache.set(name, next, { ttl: Math.max(1, heldMs - (performance.now() - next.begun)) }),
    // Any other error means that the database is away: what was found holds for the rest of its second, and the next look meets the error.
    (error) => error instanceof AppError && isLast() && cache.delete(name),
  );
}

function bearer(authorization: string): string {
  const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (!key) throw unauthenticated('The Authorization header must be "Bearer <API key>"');
  if (!isFormedAsKey(key)) throw unauthenticated('The API key is malformed');
  return key;
}

/** Throws 401 for who is no active member any more. */
function checkMember({ status }: CallingMember): void {
  if (status !== 'active') throw unauthenticated('The person is no active member of the account');
}

/**
 * Whose session it is. A use by a socket leaves `lastSeenAt`: it says when the session was last used by a request, whose answer renewed the
 * cookie, so that the next one does so in any case.
 */
async function findSession(app: App, tokenHash: string, isSocket: boolean): Promise<Known> {
  const now = app.clock.now();
  const session = await sessionByHash(app, tokenHash);
  if (!session || session.revokedAt || session.expiresAt <= now) throw unauthenticated('The session has ended');
  const { member } = session;
  checkMember(member);
  const isLockedOut = member.account.suspendedAt !== null;
  const usedAt = isSocket ? session.expiresAt.getTime() - sessionLife : session.lastSeenAt.getTime();
  const isDue = !isLockedOut && now.getTime() - usedAt > minuteMs;
  const later = new Date(now.getTime() + sessionLife);
  const data = { expiresAt: later, lastSeenAt: isSocket ? undefined : now };
  const slid = isDue && (await tryToNoteUse(app, session.id, () => slide(app, session, now, data)));
  const expiresAt = slid ? later : session.expiresAt;
  const principal = principalOf('session', session.id, member, { tier: 'admin', scopes: null });
  if (mustHaveMfa(member)) principal.owesMfa = !session.hasMfa;
  if (isLockedOut) principal.isSuspended = true;
  return { principal, ipAllowlist: [], expiresAt, slid: slid && !isSocket };
}

/** Notes that a session was used, and so its person active. The session comes last: while either is not noted it is due again. */
async function slide(
  app: App,
  { id, member }: { id: string; member: CallingMember },
  now: Date,
  data: { lastSeenAt?: Date; expiresAt: Date },
) {
  const { prisma } = app.database;
  await prisma.membership.update({ where: placeOf(member), data: { lastActiveAt: now } });
  await prisma.session.update({ where: { id }, data });
}

const placeOf = ({ accountId, userId }: { accountId: string; userId: string }) => ({ key: { accountId, userId } });

/** Notes that a key was used, and so its person active. One statement, because a request waits for it once a minute. */
const keyUsed = ({ database, clock }: App, id: string, { accountId, userId }: CallingMember) =>
  database.execute(
    `with used as (update api_keys set last_used_at = $1::timestamptz where id = $2::uuid)
     update memberships set last_active_at = $1::timestamptz where account_id = $3::uuid and user_id = $4::uuid`,
    [clock.now().toISOString(), id, accountId, userId],
  );

async function findKey(app: App, hash: string): Promise<Known> {
  const now = app.clock.now();
  const key = await keyByHash(app, hash);
  if (!key || key.revokedAt) throw unauthenticated('The API key is unknown or revoked');
  const idleSince = key.lastUsedAt ?? key.createdAt;
  if (key.kind === 'user' && now.getTime() - idleSince.getTime() > idleLife)
    throw unauthenticated('The API key lapsed after 90 days without use');
  const { member } = key;
  checkMember(member);
  if (member.account.suspendedAt) throw isSuspended();
  const isDue = !key.lastUsedAt || now.getTime() - key.lastUsedAt.getTime() > minuteMs;
  const noteUse = isDue ? () => tryToNoteUse(app, key.id, () => keyUsed(app, key.id, member)) : undefined;
  return { principal: keyPrincipal(key, member), ipAllowlist: key.ipAllowlist, expiresAt: key.expiresAt, noteUse };
}

/** What a caller's rights follow from. */
interface Member extends Pick<CallingMember, 'userId' | 'name' | 'role' | 'permissions'> {
  account: Parameters<typeof accountInfo>[0];
}

export const principalOf = (
  kind: Principal['kind'],
  id: string,
  member: Member,
  rights: Pick<Principal, 'tier' | 'scopes'>,
): Principal => ({
  kind,
  id,
  userId: member.userId,
  userName: member.name,
  role: member.role as Principal['role'],
  permissions: permissionsOf(member.permissions),
  ...rights,
  account: accountInfo(member.account),
});

interface Key {
  id: string;
  name: string;
  permission: string;
  scopes: readonly string[];
  rateLimit: number | null;
}

/** An API key as who is calling, with the rights of the member who made it. */
export const keyPrincipal = ({ id, name, permission, scopes, rateLimit }: Key, member: Member): Principal => ({
  ...principalOf('key', id, member, { tier: permission as Principal['tier'], scopes: scopes.length > 0 ? [...scopes] : null }),
  rateLimit: rateLimit ?? undefined,
  actor: { kind: 'api_key', id, name },
});

function plainRange(range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const [base, bits] = ipaddr.parseCIDR(range);
  const isMapped = base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [base.toIPv4Address(), bits - 96] : [base, bits];
}

/** Whether an address is in one of the ranges; IPv4-mapped IPv6 counts as itself, what is no address as outside. */
export function isAllowedFrom(ranges: readonly string[], ip: string): boolean {
  if (ranges.length === 0) return true;
  if (!ipaddr.isValid(ip)) return false;
  const address = ipaddr.process(ip);
  return ranges.some((range) => {
    const [base, bits] = plainRange(range);
    return address.kind() === base.kind() && address.match([base, bits] as never);
  });
}
