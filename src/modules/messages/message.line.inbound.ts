import { minuteMs } from '../../kernel/base/durations.js';
import { AppError } from '../../kernel/base/errors.js';
import type { Actor } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { instant, integer, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { asE164 } from '../../kernel/model/checks.js';
import { inOwnTransaction, keptOnce } from '../../kernel/operations/ownTransaction.js';
import { LineRefused, type LineReply } from '../../vendors/line/line.js';
import { budgetOf, type ConnectionRow, findConnection, keyOf } from '../vendorLine/vendorLine.service.js';
import { reserve } from './message.line.js';
import { receiveText } from './message.sms.inbound.js';

export const lineActor: Actor = { kind: 'sender', id: null, name: 'Vendor line' };

/** How often the vendor is asked for replies. */
const every = minuteMs;

const settle = statement({
  name: 'settleVendorConnection',
  takes: { id: uuid, attempt: integer, due: instant },
  changes: true,
  text: ({ account, id, attempt, due }) => sql`
    update vendor_connections set due_at = ${due}, leased_until = null where account_id = ${account} and id = ${id} and attempt = ${attempt}`,
});

/**
 * Asks the vendor for what came in after the cursor: a request of the key's budget. Each reply is kept together with the cursor behind
 * it, so that it is kept once however often it is told, and none is left out.
 */
export async function takeReplies(ctx: Context, { id, attempt }: DueRow): Promise<void> {
  const connection = await findConnection(ctx);
  if (connection?.id !== id) return;
  const due = await polled(ctx, connection, attempt);
  await ctx.rows(settle, { id, attempt, due });
}

/** Asks once; when to ask again. */
async function polled(ctx: Context, connection: ConnectionRow, attempt: number): Promise<Date> {
  const key = keyOf(ctx, connection);
  const later = new Date(ctx.now().getTime() + every);
  const { again } = await reserve(ctx, budgetOf(ctx, key));
  if (again) return again;
  try {
    const { replies, more } = await ctx.app.vendors.line.replies(key, connection.cursor);
    for (const reply of replies) if (!(await keep(ctx, { connection, attempt }, reply))) return later;
    return more ? ctx.now() : later;
  } catch (error) {
    if (!(error instanceof LineRefused)) throw error;
    ctx.app.log.warn({ account: ctx.caller.account.id, reason: error.reason }, 'the vendor of lines tells no replies');
    return later;
  }
}

const advance = statement({
  name: 'advanceVendorConnection',
  takes: { id: uuid, attempt: integer, generation: integer, cursor: text },
  row: { id: uuid },
  changes: true,
  text: ({ account, id, attempt, generation, cursor }) => sql`
    update vendor_connections set cursor = ${cursor}
    where account_id = ${account} and id = ${id} and attempt = ${attempt} and generation = ${generation} returning id`,
});

interface Polling {
  connection: ConnectionRow;
  attempt: number;
}

/** Keeps a reply and the cursor behind it; false where somebody else asks by now, or with another key. */
async function keep(ctx: Context, { connection, attempt }: Polling, reply: LineReply): Promise<boolean> {
  const { id, generation } = connection;
  const { id: providerId, line: lineId, body, cursor } = reply;
  const [fromNumber, toNumber] = [reply.from, reply.to].map((number) => asE164(number, ctx.caller.account.defaultCountry));
  const moveOn = async (inside: Context) => (await inside.rows(advance, { id, attempt, generation, cursor })).length > 0;
  const store = async (inside: Context) => {
    const isOurs = await moveOn(inside);
    const inbound = { provider: 'vendor_line', transport: 'vendor_line', providerId, lineId, body } as const;
    if (isOurs) await receiveText(inside, { ...inbound, fromNumber: fromNumber!, toNumber: toNumber! });
    return isOurs;
  };
  const stored = await keptOnce(ctx, store).catch((error: unknown) => {
    // What can never be kept must not hold up those behind it.
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    ctx.app.log.warn({ account: ctx.caller.account.id, reply: providerId, err: error }, 'a reply on a vendor line cannot be kept');
    return undefined;
  });
  return stored ?? inOwnTransaction(ctx, moveOn);
}
