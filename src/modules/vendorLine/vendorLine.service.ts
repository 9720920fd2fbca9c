import { seal, sign, Unreadable, unseal } from '../../kernel/base/crypto.js';
import { minuteMs } from '../../kernel/base/durations.js';
import { AppError, check } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { newId } from '../../kernel/context/freeIds.js';
import type { SealedColumn } from '../../kernel/context/registry.js';
import { listOf, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, type DomainEvent } from '../../kernel/events/changes.js';
import { findRow } from '../../kernel/lists/list.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { type LineAccount, LineRefused, type VendorLineRecord } from '../../vendors/line/line.js';
import type { ConnectVendorLineInput, LineInventory, VendorLine } from './vendorLine.model.js';
import { type AssignmentRow, assignmentShape, assignmentTable, connectionTable } from './vendorLine.table.js';

export const provider = 'vendor_line';

export type ConnectionRow = RowOf<typeof connectionTable.shape>;

const byProvider = sql`t.provider = 'vendor_line'`;

const ours = statement({
  name: 'vendorConnection',
  row: connectionTable.shape,
  planned: true,
  text: ({ account }) => sql`select ${connectionTable.columns} from vendor_connections t where t.account_id = ${account} and ${byProvider}`,
});

const held = statement({
  name: 'holdVendorConnection',
  row: connectionTable.shape,
  locks: true,
  text: ({ account }) =>
    sql`select ${connectionTable.columns} from vendor_connections t where t.account_id = ${account} and ${byProvider} for update`,
});

/** The connection of the workspace; undefined where no key is kept. */
export const findConnection = async (ctx: Context): Promise<ConnectionRow | undefined> => (await ctx.rows(ours))[0];

/**
 * The connection of the workspace, locked to the end of the transaction, so that assigning lines and replacing the key wait for each
 * other. Undefined where no key is kept.
 */
export const holdConnection = async (ctx: Context): Promise<ConnectionRow | undefined> => (await ctx.rows(held))[0];

/** The connection, or 409 not_configured. */
export async function getConnection(ctx: Context): Promise<ConnectionRow> {
  const connection = await findConnection(ctx);
  check(connection, () => new AppError('not_configured', 'No API key for the line vendor is stored'));
  return connection;
}

export const connectionById = (ctx: Context, id: string) => findRow<ConnectionRow>(ctx, connectionTable, id);
export const assignmentById = (ctx: Context, id: string) => findRow<AssignmentRow>(ctx, assignmentTable, id);

const purpose = 'vendor line';
const placeOf = (id: string, account: string) => `vendor_connections.${account}.${id}`;
const place = (ctx: Context, id: string) => placeOf(id, ctx.caller.account.id);

/** Where keys of the vendor are kept. */
export const seals: readonly SealedColumn[] = [{ table: 'vendor_connections', column: 'sealed_key', purpose, place: placeOf }];

/** The key itself, for the vendor alone. */
export const keyOf = (ctx: Context, { id, sealedKey }: Pick<ConnectionRow, 'id' | 'sealedKey'>): string =>
  unseal(ctx.app, purpose, place(ctx, id), sealedKey);

/** Whether a key is the one that is kept; where that cannot be read any more, it is another. */
function isKept(ctx: Context, connection: ConnectionRow, key: string): boolean {
  try {
    return keyOf(ctx, connection) === key;
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}

/** What a budget counts requests of a key under: the same in every workspace that has it. */
export const budgetOf = (ctx: Context, key: string): string => sign(ctx.app, 'vendor line budget', key);

/** The last characters of a key that is long enough not to be guessed by them. */
const masked = (key: string) => `****${key.length >= 12 ? key.slice(-4) : ''}`;

/** What the vendor answers; 422 key_rejected, or 502 vendor_unavailable. */
export function fromVendor<T>(asking: Promise<T>): Promise<T> {
  return asking.catch((error: unknown) => {
    if (!(error instanceof LineRefused)) throw error;
    throw error.reason === 'key_rejected'
      ? new AppError('key_rejected', 'The vendor rejects the key')
      : new AppError('vendor_unavailable', 'The vendor does not answer');
  });
}

const assignments = statement({
  name: 'lineAssignments',
  row: assignmentShape,
  planned: true,
  text: ({ account }) => sql`
    select ${assignmentTable.columns} from line_assignments t where t.account_id = ${account} and ${byProvider} order by t.created_at, t.id`,
});

const listAssignments = (ctx: Context): Promise<AssignmentRow[]> => ctx.rows(assignments);

/** Contract GET /settings/vendor-line. */
export async function getVendorLine(ctx: Context): Promise<VendorLine> {
  const connection = (await findConnection(ctx)) ?? null;
  const status = connection ? 'connected' : 'not_configured';
  return { provider, status, apiKey: connection?.apiKey ?? null, assignments: await listAssignments(ctx), connection };
}

/** Contract GET /settings/vendor-line/lines. 409 not_configured, 422 key_rejected, 502 vendor_unavailable. */
export async function getLineInventory(ctx: Context): Promise<LineInventory> {
  const connection = await getConnection(ctx);
  const listed = await fromVendor(ctx.app.vendors.line.lines(keyOf(ctx, connection)));
  const assigned = await listAssignments(ctx);
  const holders = new Map(assigned.map(({ lineId, user }) => [lineId, { userId: user.id, name: user.name }]));
  const ids = new Set(listed.map(({ id }) => id));
  return {
    lines: listed.map(({ id, number, name }) => ({ lineId: id, phoneNumber: number, name, assignedTo: holders.get(id) ?? null })),
    orphaned: assigned.filter(({ lineId }) => !ids.has(lineId)),
  };
}

/** What the vendor says of a key. */
interface Seen {
  account: LineAccount;
  lines: VendorLineRecord[];
}

/**
 * Contract PUT /settings/vendor-line. The vendor is asked first, so that nothing is kept of a key that it rejects. Every key that is put
 * raises the generation and releases the lines that it cannot see; one of another account of the vendor begins with the replies from now
 * on. The key that is kept, put again by whoever connected it, replaces nothing that a record shows, and is not told.
 */
export async function connectVendorLine(ctx: Context, { apiKey }: ConnectVendorLineInput): Promise<VendorLine> {
  const { line } = ctx.app.vendors;
  const account = await fromVendor(line.account(apiKey));
  const seen = { account, lines: await fromVendor(line.lines(apiKey)) };
  return inFinalTransaction(ctx, async (inside) => {
    // Of two who connect the first key at once, the second replaces it.
    await inside.lockName('vendor line');
    await keepKey(inside, apiKey, seen);
    return getVendorLine(inside);
  });
}

async function keepKey(ctx: Context, apiKey: string, { account, lines }: Seen): Promise<void> {
  const before = await holdConnection(ctx);
  const id = before?.id ?? newId(ctx);
  const given = {
    apiKey: masked(apiKey),
    sealedKey: seal(ctx.app, purpose, place(ctx, id), apiKey),
    connectedBy: ctx.caller.userId,
    vendorAccount: account.id,
    cursor: before?.vendorAccount === account.id ? before.cursor : account.cursor,
    generation: (before?.generation ?? 0) + 1,
    dueAt: new Date(ctx.now().getTime() + minuteMs),
  };
  if (!before) {
    const made = ctx.insert('VendorConnection', { id, provider, status: 'connected', ...given });
    return ctx.emit({ name: 'vendor_connection.created', record: made });
  }
  const isSame = before.connectedBy === given.connectedBy && before.vendorAccount === account.id && isKept(ctx, before, apiKey);
  const after = ctx.update('VendorConnection', before, { ...given, ...(isSame && { updatedAt: before.updatedAt }) });
  await releaseAll(ctx, await ctx.rows(releaseOthers, { lines: lines.map((line) => line.id) }));
  if (isSame) return;
  await ctx.emit({ name: 'vendor_connection.updated', record: after, changes: changesBetween(before, after, ['apiKey', 'connectedBy']) });
}

const releaseOthers = statement({
  name: 'releaseOtherLines',
  takes: { lines: listOf(text) },
  row: assignmentShape,
  changes: true,
  text: ({ account, lines }) => sql`
    delete from line_assignments t where t.account_id = ${account} and ${byProvider} and not t.line_id = any(${lines})
    returning ${assignmentTable.columns}`,
});

/** Tells of lines that were released. */
export async function releaseAll(ctx: Context, released: readonly { id: string }[]): Promise<void> {
  for (const record of released) await ctx.emit({ name: 'line_assignment.deleted', record });
}

const disconnect = statement({
  name: 'deleteVendorConnection',
  row: connectionTable.shape,
  changes: true,
  text: ({ account }) =>
    sql`delete from vendor_connections t where t.account_id = ${account} and ${byProvider} returning ${connectionTable.columns}`,
});

/** Contract DELETE /settings/vendor-line: the key is forgotten and every line released; also where none is kept. */
export async function disconnectVendorLine(ctx: Context): Promise<VendorLine> {
  ctx.lockRows();
  await holdConnection(ctx);
  await releaseAll(ctx, await ctx.rows(releaseOthers, { lines: [] }));
  const [gone] = await ctx.rows(disconnect);
  if (gone) await ctx.emit({ name: 'vendor_connection.deleted', record: gone });
  return { provider, status: 'not_configured', apiKey: null, assignments: [], connection: null };
}

const releaseOfUser = statement({
  name: 'releaseLineOfUser',
  takes: { user: uuid },
  row: assignmentShape,
  changes: true,
  text: ({ account, user }) => sql`
    delete from line_assignments t where t.account_id = ${account} and t.user_id = ${user} returning ${assignmentTable.columns}`,
});

/** Contract DELETE /users/{id}: the line of a removed person is free. */
export const onUserRemoved = async (ctx: Context, { record }: DomainEvent): Promise<void> =>
  releaseAll(ctx, await ctx.rows(releaseOfUser, { user: record.id }));

const ofUser = statement({
  name: 'lineOfUser',
  takes: { user: uuid },
  row: { lineId: text, phoneNumber: text },
  planned: true,
  text: ({ account, user }) => sql`
    select t.line_id as "lineId", t.phone_number as "phoneNumber" from line_assignments t
    where t.account_id = ${account} and ${byProvider} and t.user_id = ${user}`,
});

/** The line that the caller writes from. 422 vendor_line_not_configured, or vendor_line_missing. The caller of a key is its creator. */
export async function lineOfCaller(ctx: Context): Promise<{ lineId: string; phoneNumber: string }> {
  check(await findConnection(ctx), () => new AppError('vendor_line_not_configured', 'No API key for the line vendor is stored'));
  const [line] = ctx.caller.userId ? await ctx.rows(ofUser, { user: ctx.caller.userId }) : [];
  check(line, () => new AppError('vendor_line_missing', 'You have no line'));
  return line;
}
