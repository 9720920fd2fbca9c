import { nilId } from '../../kernel/base/ids.js';
import type { Actor } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { sql } from '../../kernel/database/sql.js';
import { slot } from '../../kernel/database/statement.js';
import { isE164 } from '../../kernel/model/checks.js';
import { whenTold } from '../../kernel/operations/ownTransaction.js';
import { accountAt, actingAt } from '../auth/auth.acting.js';
import { optOutNumber } from '../contacts/contact.optOut.js';
import { optOutElsewhereBy, type Wording } from './message.sms.words.js';

/** Whose doing it is in the log what a text message that comes in changes. */
export const smsActor: Actor = { kind: 'sender', id: null, name: 'SMS' };

// One account each time, by an index: how many wrote to somebody from a number that they shared, nobody knows.
const nextThatWrote = accountAt({
  value: sql`null`,
  from: sql`accounts a where a.id = (select m.account_id from messages m
    where m.channel = 'sms' and m.direction = 'outbound' and m.from_number = ${slot('ours', 'text')} and m.to_number = ${slot('theirs', 'text')}
      and m.account_id > ${slot('after', 'uuid')} order by m.account_id limit 1)`,
  evenSuspended: true,
});

interface Text extends Wording {
  from: string;
  to: string;
}

/**
 * Keeps STOP and START of a text for every account that wrote to its sender from the number that it came to, but for the one that has the
 * number, if any: it may be the server's own, or have been given back since. A fault in one account does not keep it from
 * the others; the first fault is thrown at the end.
 */
export async function keepOptOutElsewhere(ctx: Context, { from, to, ...said }: Text, owner: string | undefined): Promise<void> {
  const isOut = optOutElsewhereBy(said, owner !== undefined);
  // Nobody writes to what is no number.
  if (isOut === undefined || !isE164(from)) return;
  const faults: unknown[] = [];
  const next = (after: string) => actingAt<null>(ctx, nextThatWrote.with({ ours: to, theirs: from, after }), smsActor);
  for (let found = await next(nilId); found; found = await next(found.acting.caller.account.id)) {
    const { acting } = found;
    if (acting.caller.account.id === owner) continue;
    await whenTold(acting, (inside) => optOutNumber(inside, from, isOut)).catch((error: unknown) => faults.push(error));
  }
  if (faults.length > 0) throw faults[0];
}
