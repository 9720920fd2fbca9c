import { dayMs } from '../../kernel/base/durations.js';
import type { AccountSweep } from '../../kernel/context/context.js';
import { uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { Sweep } from '../../kernel/database/sweep.js';
import { notedOutcome } from '../../kernel/operations/notedOutcomes.js';
import { deliverTaken } from './message.delivery.js';
import { takingToSend } from './message.due.js';

const keptMs = 30 * dayMs;

/** Decisions, "idempotency": the key of a text message is kept for 30 days, and then free for another. */
export const oldKeys: Sweep = {
  rows: ({ before, most }) => sql`update messages m set idempotency_key = null, request_hash = null from (
      select account_id, id from messages where idempotency_key is not null and created_at < ${before} limit ${most}
    ) old where m.account_id = old.account_id and m.id = old.id returning 1`,
  before: (now) => new Date(now.getTime() - keptMs),
};

const portion = 50;

/** Messages, by their table's name or alias, of which something is noted, and which nobody has nor comes to take by itself. */
const isLeftNoted = (alias: string) => {
  const its = rawSql(alias);
  const isFree = sql`${its}.due_at is null and (${its}.leased_until is null or ${its}.leased_until <= now())`;
  return sql`${isFree} and ${notedOutcome('messages', alias)} is not null`;
};

const leftNoted = statement({
  name: 'messagesLeftNoted',
  row: { id: uuid },
  changes: true,
  // One that is still held is left to the next time.
  text: ({ account }) => sql`
    select m.id from messages m where m.account_id = ${account} and ${isLeftNoted('m')}
      and m.id in (select o.id from due_outcomes o where o.account_id = ${account} and o.kind = 'messages')
    order by m.id limit ${rawSql(String(portion))} for update of m skip locked`,
});

const take = takingToSend({ name: 'takeNotedMessage', where: isLeftNoted('messages') });

/**
 * What is noted of messages that nobody takes any more is written: whoever held one has taken it back since, or it is a text of which
 * nobody knows whether it went, and its client does not ask again.
 */
export const notedSweep: AccountSweep = {
  accounts: () => sql`select distinct m.account_id as id from due_outcomes o join messages m on m.account_id = o.account_id and m.id = o.id
    where o.kind = 'messages' and ${isLeftNoted('m')}`,
  async work(ctx) {
    const found = await ctx.rows(leftNoted);
    for (const { id } of found) {
      const [message] = await ctx.rows(take, { id, seconds: ctx.app.config.leaseSeconds });
      // Somebody else may have written it meanwhile.
      if (message?.noted) await deliverTaken(ctx, message);
    }
    return found.length === portion;
  },
};
