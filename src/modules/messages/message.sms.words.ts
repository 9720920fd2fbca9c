import type { Actor } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { sql } from '../../kernel/database/sql.js';
import { slot } from '../../kernel/database/statement.js';
import { isE164 } from '../../kernel/model/checks.js';
import { whenTold } from '../../kernel/operations/ownTransaction.js';
import { accountAt, actingAt } from '../auth/auth.acting.js';
import { optOutNumber } from '../contacts/contact.optOut.js';

/** Whose doing it is in the log what a text message that comes in changes. */
export const smsActor: Actor = { kind: 'sender', id: null, name: 'SMS' };

const optsOut = new Set(['stop', 'stopall', 'unsubscribe', 'cancel', 'end', 'quit', 'revoke', 'optout']);
const yes = 'yes';
const optsIn = new Set(['start', 'unstop', yes]);

/** More characters than a word of these has, with what may stand around it. */
const mostOfWord = 40;

/** Whether a text asks for no more, as people write it: `Stop.`, `STOP ALL`, `"opt-out"!`. A question is none. */
const asksToStop = (text: string): boolean =>
  text.length <= mostOfWord && optsOut.has(text.toLowerCase().replace(/[\s.,:;!'"“”‘’()*_-]/g, ''));

const wordOf = (text: string) => text.trim().toLowerCase();

/** Whether the writer of a text opts out by it, or in again (false); undefined where it says nothing of that. */
export function optOutBy(text: string): boolean | undefined {
  if (asksToStop(text)) return true;
  return optsIn.has(wordOf(text)) ? false : undefined;
}

/**
 * What a text says to the workspaces that do not have the number that it came to, and wrote from it once. START is said to the one that
 * has the number, where one has; YES may answer a question of any one of them.
 */
function wordToOthers(text: string, isClaimed: boolean): boolean | undefined {
  const isOut = optOutBy(text);
  return isOut === false && (isClaimed || wordOf(text) === yes) ? undefined : isOut;
}

// One account each time, by an index: how many wrote to somebody from a number that they shared, nobody knows.
const nextThatWrote = accountAt({
  value: sql`null`,
  from: sql`accounts a where a.id = (select m.account_id from messages m
    where m.channel = 'sms' and m.direction = 'outbound' and m.from_number = ${slot('ours', 'text')} and m.to_number = ${slot('theirs', 'text')}
      and m.account_id > ${slot('after', 'uuid')} order by m.account_id limit 1)`,
  evenSuspended: true,
});

const beforeFirst = '00000000-0000-0000-0000-000000000000';

interface Text {
  from: string;
  to: string;
  body: string;
}

/**
 * Keeps STOP and START of a text for every account that wrote to its sender from the number that it came to, but for the one that has the
 * number, if any: it may be the server's own, or have been given back since. What keeps one from it does not keep the others.
 */
export async function tellOthers(ctx: Context, { from, to, body }: Text, owner: string | undefined): Promise<void> {
  const isOut = wordToOthers(body, owner !== undefined);
  // Nobody writes to what is no number.
  if (isOut === undefined || !isE164(from)) return;
  const faults: unknown[] = [];
  const next = (after: string) => actingAt<null>(ctx, nextThatWrote.with({ ours: to, theirs: from, after }), smsActor);
  for (let found = await next(beforeFirst); found; found = await next(found.acting.caller.account.id)) {
    const { acting } = found;
    if (acting.caller.account.id === owner) continue;
    await whenTold(acting, (inside) => optOutNumber(inside, from, isOut)).catch((error: unknown) => faults.push(error));
  }
  if (faults.length > 0) throw faults[0];
}
