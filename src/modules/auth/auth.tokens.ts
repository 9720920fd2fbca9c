import { dayMs, hourMs, minuteMs } from '../../kernel/base/durations.js';
import { type AppError, check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { digest, randomSecret } from './auth.secrets.js';

type Kind = 'reset' | 'invite' | 'mfa' | 'verify';

const life: Record<Kind, number> = { reset: hourMs, invite: 7 * dayMs, mfa: 5 * minuteMs, verify: 7 * dayMs };

interface Issued {
  /** The account that the token is about. */
  account?: string;
  /** What whoever uses it is to know. */
  data?: Record<string, string | null | undefined>;
}

/** A new one-time token of a person; the older ones of its kind (and account) end. Kept only as a hash. */
export async function issueToken(ctx: Context, kind: Kind, userId: string, { account, data }: Issued = {}): Promise<string> {
  const token = randomSecret(ctx.app.clock);
  await ctx.global.token.updateMany({ where: { kind, userId, accountId: account ?? null, usedAt: null }, data: { usedAt: ctx.now() } });
  const expiresAt = new Date(ctx.now().getTime() + life[kind]);
  await ctx.global.token.create({ data: { kind, hash: digest(token), userId, accountId: account, data, expiresAt } });
  return token;
}

/** The data of the last token of a kind that the account issued to a person, also of one that ended; {} where there was none. */
export async function lastDataOf(ctx: Context, kind: Kind, userId: string, account: string): Promise<NonNullable<Issued['data']>> {
  const where = { kind, userId, accountId: account };
  const last = await ctx.global.token.findFirst({ where, orderBy: { createdAt: 'desc' } });
  return (last?.data ?? {}) as NonNullable<Issued['data']>;
}

/** Ends the tokens of a person that prove a password or stand in for it: reset links, and logins that wait for their second step. */
export async function endPasswordTokens(ctx: Context, userId: string): Promise<void> {
  await ctx.global.token.updateMany({ where: { userId, kind: { in: ['reset', 'mfa'] }, usedAt: null }, data: { usedAt: ctx.now() } });
}

/** Ends the invitations of a person to the caller's account: their links accept no more, and no mail leads to them. */
export async function endInvitations(ctx: Context, userId: string): Promise<void> {
  const where = { kind: 'invite', userId, accountId: ctx.caller.account.id, usedAt: null };
  await ctx.global.token.updateMany({ where, data: { usedAt: ctx.now() } });
}

/** The token, if it is still good. */
export async function findToken(ctx: Context, kind: Kind, token: string) {
  const found = await ctx.global.token.findUnique({ where: { hash: digest(token) } });
  return found && found.kind === kind && !found.usedAt && found.expiresAt > ctx.now() ? found : null;
}

/** 400 for a token that is not, or no longer, good. */
export const wrongToken = () => invalidField('token', 'incorrect', 'is wrong, used or expired');

/**
 * Uses a token up: of fifty at once one succeeds. When it is wrong, used or over, it is refused: with 400 unless the operation says
 * otherwise.
 */
export async function useToken(ctx: Context, kind: Kind, token: string, refusal: () => AppError = wrongToken) {
  const found = await findToken(ctx, kind, token);
  check(found, refusal);
  const { count } = await ctx.global.token.updateMany({ where: { id: found.id, usedAt: null }, data: { usedAt: ctx.now() } });
  check(count === 1, refusal);
  return found;
}
