import { isSuspended, owesMfa } from '../../kernel/access/access.js';
import { AppError, check, denied, unauthenticated } from '../../kernel/base/errors.js';
import type { Staying } from '../../kernel/context/callers.js';
import type { App, Context, Principal } from '../../kernel/context/context.js';
import { rightsOf } from '../../kernel/feed/feed.js';
import { isAllowedFrom, keyPrincipal, principalOf } from './auth.identify.js';
import { mustHaveMfa } from './auth.session.js';

/** Whether callers who stay connected may still: each one's principal as it is now, or why it has ended. Two statements for all. */
export async function recheck(app: App, connected: readonly Staying[]): Promise<(Principal | AppError)[]> {
  const ids = (kind: Principal['kind']) => [...new Set(connected.filter((c) => c.principal.kind === kind).map((c) => c.principal.id))];
  const [sessions, keys] = await Promise.all([liveSessions(app, ids('session')), liveKeys(app, ids('key'))]);
  return connected.map(({ principal, ip }) => {
    const live = principal.kind === 'key' ? keys.get(principal.id) : sessions.get(principal.id);
    if (!live) return unauthenticated(principal.kind === 'key' ? 'The API key was revoked or has expired' : 'The session has ended');
    if (live.principal.isSuspended) return isSuspended();
    if (live.principal.owesMfa) return owesMfa();
    return isAllowedFrom(live.ipAllowlist, ip) ? live.principal : denied('This API key is not allowed from this address');
  });
}

/** How long an answer that is on its way goes by what was found out of its caller. */
const heldMs = 1000;

/**
 * For an answer that is read as its client takes it: throws once the caller's credentials have ended, or their rights are no longer those
 * of its begin. To be called before each part is read; it asks once a second.
 */
export function whileAllowed({ app, caller, request }: Context): () => Promise<void> {
  let askedAt = performance.now();
  return async () => {
    if (performance.now() - askedAt < heldMs) return;
    askedAt = performance.now();
    const [now] = await recheck(app, [{ principal: caller, ip: request.ip }]);
    if (now instanceof AppError) throw now;
    check(rightsOf(now!) === rightsOf(caller), () => denied('The rights of the caller have changed: ask again'));
  };
}

/** What is left of a credential where its person still is an active member; the account may be suspended meanwhile. */
const membership = { include: { account: true, user: { select: { mfaEnabledAt: true } } } } as const;
const activeMember = { status: 'active' };

type Live = Map<string, { principal: Principal; ipAllowlist: string[] }>;

const standing = ({ account }: { account: { suspendedAt: Date | null } }) => ({ isSuspended: account.suspendedAt !== null });

async function liveSessions({ database, clock }: App, ids: string[]): Promise<Live> {
  if (ids.length === 0) return new Map();
  const rows = await database.prisma.session.findMany({
    where: { id: { in: ids }, revokedAt: null, expiresAt: { gt: clock.now() }, membership: activeMember },
    include: { membership },
  });
  return new Map(
    rows.map(({ id, membership: member }) => {
      const principal = principalOf('session', id, member, { tier: 'admin', scopes: null });
      const mfa = mustHaveMfa(member) && !member.user.mfaEnabledAt;
      return [id, { principal: { ...principal, ...standing(member), owesMfa: mfa }, ipAllowlist: [] }];
    }),
  );
}

async function liveKeys({ database, clock }: App, ids: string[]): Promise<Live> {
  if (ids.length === 0) return new Map();
  const rows = await database.prisma.apiKey.findMany({
    where: { id: { in: ids }, revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: clock.now() } }], creator: activeMember },
    include: { creator: membership },
  });
  return new Map(
    rows.map((key) => {
      const { id, creator, ipAllowlist } = key;
      return [id, { principal: { ...keyPrincipal(key, creator), ...standing(creator) }, ipAllowlist }];
    }),
  );
}
