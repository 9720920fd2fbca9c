import ipaddr from 'ipaddr.js';
import { badRequest, check, found, invalidField, unauthenticated } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, type DomainEvent, isNothing } from '../../kernel/events/changes.js';
import { listRows } from '../../kernel/lists/list.js';
import { deleted } from '../../kernel/model/removal.js';
import { callersChanged } from '../auth/auth.identify.js';
import { digest, newKey } from '../auth/auth.secrets.js';
import { workspaceOf } from '../auth/auth.session.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { ApiKey, ApiKeyCheck, ApiKeyList, CreateApiKeyInput, NewApiKey, UpdateApiKeyInput } from './apiKey.model.js';
import { apiKeyTable } from './apiKey.table.js';

interface Kept {
  permission: string;
  scopes: string[];
  ipAllowlist: string[];
}

/** Kept as an empty list, what restricts nothing is shown as null. */
const shown = <K extends Kept>(key: K) => ({
  ...key,
  permission: key.permission as ApiKey['permission'],
  scopes: key.scopes.length > 0 ? (key.scopes as ApiKey['scopes']) : null,
  ipAllowlist: key.ipAllowlist.length > 0 ? key.ipAllowlist : null,
});

export const listKeys = (ctx: Context, args: ApiKeyList) => listRows<ApiKey>(ctx, apiKeyTable, args);

export async function getKey(ctx: Context, id: string) {
  const key = await ctx.db.apiKey.findFirst({ where: { id: validId(id, 'API key'), revokedAt: null } });
  return shown(found(key, 'API key'));
}

/** A range as it is kept: a bare address is the range of this one. Undefined for what is neither, abbreviations included. */
function asRange(text: string): string | undefined {
  const [address = '', bits, ...more] = text.split('/');
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (more.length > 0 || address.includes('%') || (!isV4 && !ipaddr.IPv6.isValid(address))) return undefined;
  const range = bits === undefined ? `${address}/${isV4 ? 32 : 128}` : text;
  return ipaddr.isValidCIDR(range) ? range : undefined;
}

/** An empty list would be kept as no restriction at all, which is hardly what was meant: who wants that says null. */
const checkNotEmpty = (field: string, list: string[] | null | undefined) =>
  check(list?.length !== 0, () => invalidField(field, 'too_few', 'must not be empty; null means no restriction'));

function checked<I extends UpdateApiKeyInput>(ctx: Context, input: I) {
  const { permission, scopes, ipAllowlist, ...rest } = input;
  checkNotEmpty('scopes', scopes);
  checkNotEmpty('ipAllowlist', ipAllowlist);
  const ranges = ipAllowlist?.map((text, i) => {
    const range = asRange(text);
    check(range, () =>
      invalidField(`ipAllowlist.${i}`, 'invalid_format', 'must be an address like 203.0.113.7 or a range like 203.0.113.0/24'),
    );
    return range;
  });
  check(!rest.expiresAt || rest.expiresAt > ctx.now(), () => invalidField('expiresAt', 'out_of_range', 'must be in the future'));
  return {
    ...rest,
    ...(permission && { permission }),
    ...(scopes !== undefined && { scopes: [...new Set(scopes ?? [])] }),
    ...(ipAllowlist !== undefined && { ipAllowlist: ranges ?? [] }),
  };
}

// Whoever removes the maker waits for the key, and revokes it, or came first.
const holdMaker = statement({
  name: 'holdMakerOfKey',
  takes: { maker: uuid },
  row: { id: uuid },
  locks: true,
  text: ({ account, maker }) => sql`
    select user_id as id from memberships where account_id = ${account} and user_id = ${maker} and status = 'active' for key share`,
});

/** POST /api-keys: the secret is in this reply and nowhere else. 401 where the caller was just removed, 402 after the trial. */
export async function createKey(ctx: Context, input: CreateApiKeyInput): Promise<NewApiKey> {
  const data = { ...checked(ctx, input), permission: input.permission };
  checkTrial(ctx);
  if (input.id) ctx.requireFree(input.id);
  const [maker] = await ctx.rows(holdMaker, { maker: ctx.person });
  check(maker, () => unauthenticated('The person is no active member of the account'));
  const secret = newKey(ctx.app.clock);
  const made = await ctx.db.apiKey.create({
    data: { ...data, prefix: secret.slice(0, 12), last4: secret.slice(-4), hash: digest(secret), createdBy: ctx.person },
  });
  const apiKey = shown(made);
  await ctx.emit({ name: 'api_key.created', record: apiKey });
  return { apiKey, secret };
}

const lock = statement({
  name: 'lockApiKey',
  takes: { id: uuid },
  row: { id: uuid },
  locks: true,
  text: ({ account, id }) => sql`select id from api_keys where account_id = ${account} and id = ${id} and revoked_at is null for update`,
});

/** One key, which nobody else changes or revokes before this unit of work ends. */
async function keyForChange(ctx: Context, id: string) {
  found((await ctx.rows(lock, { id: validId(id, 'API key') }))[0], 'API key');
  return getKey(ctx, id);
}

export async function updateKey(ctx: Context, id: string, input: UpdateApiKeyInput) {
  const key = await keyForChange(ctx, id);
  const data = checked(ctx, input);
  const after = shown({ ...key, scopes: key.scopes ?? [], ipAllowlist: key.ipAllowlist ?? [], ...data });
  const changes = changesBetween(key, after, Object.keys(data));
  if (isNothing(changes)) return key;
  const saved = shown(await ctx.db.apiKey.update({ where: { id: key.id }, data }));
  callersChanged(ctx);
  await ctx.emit({ name: 'api_key.updated', record: saved, changes });
  return saved;
}

/** DELETE /api-keys/{id}: the key is refused from now on. */
export async function revokeKey(ctx: Context, id: string) {
  const key = await keyForChange(ctx, id);
  await revoke(ctx, key);
  return deleted('ApiKey', key.id);
}

/** Revokes a key, once: nothing is told of one that somebody else revoked meanwhile. */
async function revoke(ctx: Context, key: { id: string }): Promise<void> {
  const { count } = await ctx.db.apiKey.updateMany({ where: { id: key.id, revokedAt: null }, data: { revokedAt: ctx.now() } });
  if (count === 0) return;
  callersChanged(ctx);
  await ctx.emit({ name: 'api_key.deleted', record: key, also: { 'api_key.revoked': [] } });
}

/** Contract DELETE /users/{id}: the keys of a removed user are refused. */
export async function onUserRemoved(ctx: Context, { record }: DomainEvent): Promise<void> {
  const keys = await ctx.db.apiKey.findMany({ where: { createdBy: record.id, revokedAt: null } });
  for (const key of keys) await revoke(ctx, shown(key));
}

/** Contract GET /api-keys/check: the calling key's own permissions; a session caller gets 400. */
export async function checkKey(ctx: Context): Promise<ApiKeyCheck> {
  const { caller } = ctx;
  check(caller.kind === 'key', () => badRequest('Only an API key can be checked; this is a session'));
  const { name, permission, scopes, ipAllowlist, expiresAt } = await getKey(ctx, caller.id);
  const rateLimit = caller.rateLimit ?? ctx.app.limiter.limitOf('key');
  return { apiKeyId: caller.id, name, permission, scopes, ipAllowlist, rateLimit, expiresAt, workspace: workspaceOf(caller.account) };
}
