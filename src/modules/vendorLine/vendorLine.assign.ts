import { AppError, check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import type { AssignLineInput, LineHolder, LineOutcome } from './vendorLine.model.js';
import { type ConnectionRow, fromVendor, getConnection, holdConnection, keyOf, provider, releaseAll } from './vendorLine.service.js';
import { type AssignmentRow, assignmentShape, assignmentTable } from './vendorLine.table.js';

const touched = statement({
  name: 'lineAssignmentsTouched',
  takes: { line: text, user: nullable(uuid) },
  row: assignmentShape,
  planned: true,
  text: ({ account, line, user }) => sql`
    select ${assignmentTable.columns} from line_assignments t
    where t.account_id = ${account} and t.provider = 'vendor_line' and (t.line_id = ${line} or t.user_id = ${user}) order by t.id`,
});

const moved = () => new AppError('conflict', 'The line or the agent was moved at the same time; try again');

/** Who has the line, and which line the agent has. */
const touchedBy = (ctx: Context, line: string, user: string | null): Promise<AssignmentRow[]> => ctx.rows(touched, { line, user });

const release = statement({
  name: 'releaseLines',
  takes: { ids: listOf(uuid) },
  row: { id: uuid },
  changes: true,
  text: ({ account, ids }) => sql`delete from line_assignments t where t.account_id = ${account} and t.id = any(${ids}) returning t.id`,
});

const agent = statement({
  name: 'agentForLine',
  takes: { user: uuid },
  row: { id: uuid, name: text, firstName: nullable(text), lastName: nullable(text), email: text },
  locks: true,
  text: ({ account, user }) => sql`
    select m.user_id as id, m.name, u.first_name as "firstName", u.last_name as "lastName", u.email
    from memberships m join users u on u.id = m.user_id
    where m.account_id = ${account} and m.user_id = ${user} and m.status = 'active' for share of m`,
});

interface Line {
  lineId: string;
  phoneNumber: string;
  label: string | null;
}

/** The line as the vendor has it, or 404 line_not_found. */
async function lineAtVendor(ctx: Context, connection: ConnectionRow, lineId: string): Promise<Line> {
  const listed = await fromVendor(ctx.app.vendors.line.lines(keyOf(ctx, connection)));
  const line = listed.find(({ id }) => id === lineId);
  check(line, () => new AppError('line_not_found', 'The vendor has no such line'));
  return { lineId, phoneNumber: line.number, label: line.name };
}

/**
 * Contract PUT /settings/vendor-line/lines/{lineId}: one line an agent and one agent a line, so that the previous holder of the line
 * and the agent's previous line are released in the same step. The vendor is asked outside of the transaction: 409
 * credentials_changed where the key was replaced meanwhile, 409 conflict where the line or the agent was moved. A line that the
 * vendor no longer lists can be released. One that its agent has already is assigned anew where the vendor has another number or label
 * of it by now, and is not reported as released.
 */
export async function assignLine(ctx: Context, lineId: string, { userId }: AssignLineInput): Promise<LineOutcome> {
  check(userId !== undefined, () => invalidField('userId', 'required', 'is required: an agent, or null to release the line'));
  const connection = await getConnection(ctx);
  check(/^[\x21-\x7e]{1,100}$/.test(lineId), () => new AppError('line_not_found', 'The vendor has no such line'));
  const before = await touchedBy(ctx, lineId, userId);
  const held = before.find((one) => one.lineId === lineId);
  const line = held && userId === null ? held : await lineAtVendor(ctx, connection, lineId);
  return inFinalTransaction(ctx, async (inside) => {
    await unchanged(inside, connection);
    const now = await touchedBy(inside, lineId, userId);
    const isSame = now.length === before.length && now.every(({ id }, nth) => id === before[nth]!.id);
    check(isSame, moved);
    return move(inside, line, { userId, now });
  });
}

/** Throws 409 where the key is not the one with which the vendor was asked. */
async function unchanged(ctx: Context, { id, generation }: ConnectionRow): Promise<void> {
  const connection = await holdConnection(ctx);
  check(
    connection?.id === id && connection.generation === generation,
    () => new AppError('credentials_changed', 'The key was replaced at the same time; try again'),
  );
}

async function move(
  ctx: Context,
  { lineId, phoneNumber, label }: Line,
  { userId, now }: { userId: string | null; now: AssignmentRow[] },
): Promise<LineOutcome> {
  const holder = userId === null ? null : await activeAgent(ctx, userId);
  const given = now.filter((one) => one.lineId !== lineId || one.userId !== userId);
  // A line that its agent has already stays as it is, unless the vendor has another number or label of it by now.
  const ended = now.filter((one) => given.includes(one) || one.phoneNumber !== phoneNumber || one.label !== label);
  const released = await ctx.rows(release, { ids: ended.map(({ id }) => id) });
  // Whoever removes an agent takes no lock of the connection. They have told what they released.
  check(released.length === ended.length, moved);
  await releaseAll(ctx, ended);
  if (holder && ended.length === now.length) {
    const { name: _name, ...user } = holder;
    const assigned = ctx.insert('LineAssignment', { provider, lineId, phoneNumber, label, userId: holder.id });
    await ctx.emit({ name: 'line_assignment.created', record: { ...assigned, user } as { id: string } });
  }
  return {
    lineId,
    phoneNumber,
    label,
    assignedTo: holder && { userId: holder.id, name: holder.name },
    released: given.map(({ user, ...gone }) => ({ ...gone, userId: user.id, name: user.name })),
  };
}

/** The agent, held so that they are not removed meanwhile; 404 user_not_found. */
async function activeAgent(ctx: Context, user: string): Promise<LineHolder & { name: string }> {
  const [member] = await ctx.rows(agent, { user });
  check(member, () => new AppError('user_not_found', 'No active member has this id'));
  return { ...member, isActive: true };
}
