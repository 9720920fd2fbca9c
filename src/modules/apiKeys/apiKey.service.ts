import ipaddr from 'ipaddr.js';
import { badRequest, check, found, invalidField } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { listRows } from '../../kernel/lists/list.js';
import { deleted } from '../../kernel/model/connection.js';
import { forgetCallers } from '../auth/auth.identify.js';
import { digest, newKey } from '../auth/auth.secrets.js';
import type { ApiKey, ApiKeyCheck, ApiKeyList, CreateApiKeyInput, NewApiKey, UpdateApiKeyInput } from './apiKey.model.js';
import { apiKeyTable } from './apiKey.table.js';

interface Kept {
  scopes: string[];
  ipAllowlist: string[];
}

/** Kept as an empty list, what restricts nothing is shown as null. */
const shown = <K extends Kept>(key: K) => ({
  ...key,
  scopes: key.scopes.length > 0 ? key.scopes : null,
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

function checked(ctx: Context, input: UpdateApiKeyInput) {
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
    ...(permission && { permission: permission === 'write' ? 'read-write' : permission }),
    ...(scopes !== undefined && { scopes: [...new Set(scopes ?? [])] }),
    ...(ipAllowlist !== undefined && { ipAllowlist: ranges ?? [] }),
  };
}

/** POST /api-keys: the secret is in this reply and nowhere else. */
export async function createKey(ctx: Context, input: CreateApiKeyInput): Promise<NewApiKey> {
  const data = checked(ctx, input);
  const secret = newKey(ctx.app.clock);
  const made = await ctx.db.apiKey.create({
    data: { ...data, prefix: secret.slice(0, 12), last4: secret.slice(-4), hash: digest(secret), createdBy: ctx.caller.userId } as never,
  });
  return { apiKey: shown(made) as ApiKey, secret };
}

export async function updateKey(ctx: Context, id: string, input: UpdateApiKeyInput) {
  const key = await getKey(ctx, id);
  const saved = await ctx.db.apiKey.update({ where: { id: key.id }, data: checked(ctx, input) });
  forgetCallers(ctx.app);
  return shown(saved);
}

/** DELETE /api-keys/{id}: the key is refused from now on. */
export async function revokeKey(ctx: Context, id: string) {
  const key = await getKey(ctx, id);
  await ctx.db.apiKey.update({ where: { id: key.id }, data: { revokedAt: ctx.now() } });
  forgetCallers(ctx.app);
  return deleted(key.id);
}

/** Contract GET /api-keys/check: the calling key's own permissions; a session caller gets 400. */
export async function checkKey(ctx: Context): Promise<ApiKeyCheck> {
  const { caller } = ctx;
  check(caller.kind === 'key', () => badRequest('Only an API key can be checked; this is a session'));
  const { name, permission, scopes, ipAllowlist, expiresAt } = await getKey(ctx, caller.id);
  const rateLimit = caller.rateLimit ?? ctx.app.limiter.limitOf('key');
  const { id, name: called, plan } = caller.account;
  return { apiKeyId: caller.id, name, permission, scopes, ipAllowlist, rateLimit, expiresAt, workspace: { id, name: called, plan } };
}
