import { createHash } from 'node:crypto';
import { query } from './ceiling.store.js';

/** Whose key it is that a request came with. */
export interface Caller {
  id: string;
  account_id: string;
  user_id: string;
  user_name: string;
  /** What the key is called: changes by it are told with its name. */
  key_name: string;
  permission: string;
  expires_at: Date | null;
  last_used_at: Date | null;
}

const findKey = `
select k.id, k.name as key_name, k.account_id, k.expires_at, k.last_used_at, k.permission, m.user_id, m.name as user_name, m.role
from api_keys k join memberships m on m.account_id = k.account_id and m.user_id = k.created_by
join accounts a on a.id = k.account_id
where k.hash = $1 and k.revoked_at is null and m.status = 'active' and a.suspended_at is null`;

const touchKey = 'update api_keys set last_used_at = $2 where id = $1';

const second = 1000;
const known = new Map<string, { caller: Caller; until: number }>();

/** Who calls, cached for one second; last use is written at most once a minute. */
export async function callerOf(authorization: string | undefined): Promise<Caller | undefined> {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  const hash = createHash('sha256').update(authorization.slice(7)).digest('hex');
  const now = Date.now();
  const cached = known.get(hash);
  const caller = cached && cached.until > now ? cached.caller : await look(hash, now);
  return caller && (!caller.expires_at || caller.expires_at.getTime() > now) ? caller : undefined;
}

async function look(hash: string, now: number): Promise<Caller | undefined> {
  const [caller] = await query<Caller>('key', findKey, [hash]);
  if (!caller) return undefined;
  if (!caller.last_used_at || now - caller.last_used_at.getTime() > 60 * second) await query('touch', touchKey, [caller.id, new Date(now)]);
  if (known.size > 10_000) known.clear();
  known.set(hash, { caller, until: now + second });
  return caller;
}
