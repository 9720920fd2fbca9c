import { Prisma } from '../generated/prisma/client.js';
import { AppError, badRequest, conflict, invalidField, notFound, unavailable } from './errors.js';

interface DriverFault {
  originalCode?: string;
  code?: string;
  kind?: string;
  constraint?: { fields?: string[]; index?: string; foreignKey?: object };
}

const fieldName = (column: string) => column.replace(/"/g, '').replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The field that a composite key blames: its last column, after the account. */
function fieldAtFault(meta: Record<string, unknown> | undefined): string {
  const fault = (meta?.driverAdapterError as { cause?: DriverFault } | undefined)?.cause;
  const fields = fault?.constraint?.fields;
  if (fields?.length) return fieldName(fields.at(-1)!);
  const index = fault?.constraint?.index ?? '';
  const named = /account_id_(.+?)_(fkey|key)$/.exec(index);
  return fieldName(named?.[1] ?? 'id');
}

const faultOf = (error: Prisma.PrismaClientKnownRequestError) =>
  (error.meta?.driverAdapterError as { cause?: DriverFault } | undefined)?.cause;

const sqlStateOf = (error: Prisma.PrismaClientKnownRequestError) => {
  const fault = faultOf(error);
  return fault?.originalCode ?? fault?.code ?? (error.meta?.code as string | undefined) ?? '';
};

// The codes of Prisma, the kinds of its driver adapters and the classes of SQLSTATE that say "not now".
const notNow = new Set(['P1001', 'P1008', 'P1017', 'P2024', 'P2028']);
const lostKinds = new Set(['ConnectionClosed', 'DatabaseNotReachable', 'SocketTimeout', 'TooManyConnections', 'TlsConnectionError']);
const lostStates = /^(08|53|57|55P03)/;
const lost =
  /^(ConnectionClosed|DatabaseNotReachable|SocketTimeout|TooManyConnections)$|timeout exceeded when trying to connect|Connection terminated|Query read timeout|not queryable|Client was closed|ECONNREFUSED|ECONNRESET|terminating connection|the database system is (starting|shutting)/i;

/** Whether the same transaction may succeed when tried again. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && (error.code === 'P2034' || ['40001', '40P01'].includes(sqlStateOf(error)));

/** What a database error means to the caller; undefined when it is a fault of ours. Never the database's own words. */
export function fromDatabase(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  if (error instanceof Prisma.PrismaClientKnownRequestError) return known(error);
  if (error instanceof Error && lost.test(error.message)) return unavailable();
  return undefined;
}

function known(error: Prisma.PrismaClientKnownRequestError): AppError | undefined {
  const state = sqlStateOf(error);
  if (error.code === 'P2002' || state === '23505') {
    const field = fieldAtFault(error.meta);
    return conflict(`${field} is taken already`, field);
  }
  if (error.code === 'P2003' || state === '23503') return invalidField(fieldAtFault(error.meta), 'names no record of this account');
  if (error.code === 'P2025') return notFound('Record');
  if (state === '23P01') return conflict('It overlaps another record');
  if (error.code === 'P2020' || error.code === 'P2007' || state.startsWith('22')) return badRequest('A value is out of range or malformed');
  if (isRetryable(error)) return unavailable();
  if (notNow.has(error.code) || lostKinds.has(faultOf(error)?.kind ?? '') || lostStates.test(state)) return unavailable();
  return lost.test(error.message) ? unavailable() : undefined;
}
