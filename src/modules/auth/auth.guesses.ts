import { clientKey } from '../../kernel/access/clientKey.js';
import { limited, type Spent } from '../../kernel/access/rateLimits.js';
import { nilId } from '../../kernel/base/ids.js';
import type { Context } from '../../kernel/context/context.js';
import { verifyPassword } from './auth.secrets.js';

/** Of whom a password or a code is guessed. */
interface Person {
  id: string;
  emailLower: string;
  passwordHash: string | null;
}

/** How many of a person's last sessions tell where they call from. */
const remembered = 50;

/** Whether the person has logged in from the caller's address before. */
async function isKnownAddress(ctx: Context, userId: string): Promise<boolean> {
  const sessions = await ctx.global.session.findMany({
    where: { userId },
    select: { ip: true },
    orderBy: { createdAt: 'desc' },
    take: remembered,
  });
  const here = clientKey(ctx.request.ip);
  return sessions.some(({ ip }) => ip !== null && clientKey(ip) === here);
}

/**
 * Counts a guess before it is looked at, so that many at once are limited like as many in a row. Answers how it was
 * counted. Throws 429 when too many were wrong. Guesses from an address where the person logged in before are counted apart then:
 * strangers keep nobody out of their account.
 */
async function count(ctx: Context, name: string, person: Pick<Person, 'id'> | null): Promise<Spent> {
  const { limiter } = ctx.app;
  const spent = await limiter.spend('failedLogin', name);
  if (!spent.refused) return spent;
  // Asked for an address that nobody has too, so that the time tells nothing.
  if (!(await isKnownAddress(ctx, person?.id ?? nilId))) throw limited(spent);
  const own = `${name} from ${clientKey(ctx.request.ip)}`;
  const spentHere = await limiter.spend('failedLogin', own);
  if (spentHere.refused) throw limited(spentHere);
  return spentHere;
}

/**
 * Whether a guess is right. Wrong ones are counted by the name, and after too many none is looked at: 429, also for the right one. What
 * failed before that was known, as a 503 does, was none.
 */
export async function checkGuess(
  ctx: Context,
  name: string,
  person: Pick<Person, 'id'> | null,
  isRight: () => Promise<boolean>,
): Promise<boolean> {
  const counted = await count(ctx, name, person);
  const giveBack = () => ctx.app.limiter.giveBack(counted);
  const right = await isRight().catch(async (error: unknown) => {
    await giveBack();
    throw error;
  });
  if (right) await giveBack();
  return right;
}

/**
 * Whether a password is the person's, of whom nobody may be known by that address. One counter for all places that ask for it:
 * login, changes of password and second factor, invitations. Throws 429 as `checkGuess`.
 */
export const isPasswordOf = (ctx: Context, email: string, person: Person | null, password: string): Promise<boolean> =>
  checkGuess(ctx, person?.emailLower ?? email.toLowerCase(), person, () => verifyPassword(person?.passwordHash, password));
