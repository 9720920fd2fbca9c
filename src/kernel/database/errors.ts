import { isNativeError } from 'node:util/types';
import { Prisma } from '../../generated/prisma/client.js';
import { AppError, badRequest, invalidField, notFound, taken, unavailable } from '../base/errors.js';
import { pause } from '../base/eventLoop.js';

interface DriverFault {
  originalCode?: string;
  code?: string;
  kind?: string;
  constraint?: { fields?: string[]; index?: string; foreignKey?: object } | string;
}

const fieldName = (column: string) => column.replace(/"/g, '').replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The field that a composite key blames: its last column, after the account. */
function fieldAtFault(fault: DriverFault | undefined): string {
  const constraint = typeof fault?.constraint === 'string' ? { index: fault.constraint } : fault?.constraint;
  const fields = constraint?.fields;
  if (fields?.length) return fieldName(fields.at(-1)!);
  const named = /account_id_(.+?)_(fkey|key)$/.exec(constraint?.index ?? '');
  return fieldName(named?.[1] ?? 'id');
}

const meanings = new Map<string, () => AppError>();

/** Says what unique indexes and constraints mean, by their names: those that modules declare. */
export function constraintsMean(declared: Iterable<[string, () => AppError]>): void {
  for (const [name, refusal] of declared) meanings.set(name, refusal);
}

/** What a module says that the constraint means which refused something. */
function meaningOf({ constraint }: DriverFault, { message }: Error): AppError | undefined {
  const named = typeof constraint === 'string' ? constraint : constraint?.index;
  return meanings.get(named ?? /constraint \\?"(\w+)/.exec(message)?.[1] ?? '')?.();
}

/** The database's fault, as Prisma's adapter tells it or as a driver threw it; undefined for what is none. */
function faultOf(error: unknown): DriverFault | undefined {
  if (error instanceof Prisma.PrismaClientKnownRequestError)
    return (
      (error.meta?.driverAdapterError as { cause?: DriverFault } | undefined)?.cause ?? { code: error.meta?.code as string | undefined }
    );
  return isNativeError(error) && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code)) ? (error as DriverFault) : undefined;
}

const sqlStateOf = (error: unknown) => {
  const fault = faultOf(error);
  return fault?.originalCode ?? fault?.code ?? '';
};

// The codes of Prisma, the kinds of its driver adapters and the classes of SQLSTATE that say "not now".
const notNow = new Set(['P1001', 'P1008', 'P1017', 'P2024', 'P2028']);
const lostKinds = new Set(['ConnectionClosed', 'DatabaseNotReachable', 'SocketTimeout', 'TooManyConnections', 'TlsConnectionError']);
// 25006: it is a standby, or takes no writes since its disk is nearly full.
const lostStates = /^(08|25006|53|57|55P03)/;
const lost =
  /^(ConnectionClosed|DatabaseNotReachable|SocketTimeout|TooManyConnections)$|timeout exceeded when trying to connect|Connection terminated|Query read timeout|not queryable|Client was closed|ECONNREFUSED|ECONNRESET|terminating connection|the database system is (starting|shutting)/i;

// What the system says of a connection that cannot be made, or broke: the code alone is sure. Where a name has two addresses the message
// is empty, and Prisma hands on as codes of its own what its adapter does not know.
const lostCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
]);
const isLost = (error: unknown) => isNativeError(error) && 'code' in error && lostCodes.has(String(error.code));

const prismaCode = (error: unknown) => (error instanceof Prisma.PrismaClientKnownRequestError ? error.code : '');

/** How often a transaction is begun in all. */
const attempts = 3;

/**
 * Waits before the next attempt at a transaction whose failure is transient, where there is one; whether there is.
 * Those who got into each other's way wait for different times, or they would meet again.
 */
export async function mayRetry(error: unknown, attempt: number): Promise<boolean> {
  if (attempt >= attempts || !isRetryable(error)) return false;
  await pause(pauseBefore(attempt + 1));
  return true;
}

/** Milliseconds before the second attempt, and before the third. */
export const pauseBefore = (attempt: number, random = Math.random()): number => random * 10 * 2 ** (attempt - 2);

/** What was read is not so any more: as where the database says so, the transaction is tried again. */
export class Overtaken extends Error {
  readonly code = '40001';

  constructor() {
    super('What the write depends on is gone');
  }
}

/** Whether the same transaction may succeed when tried again. */
export const isRetryable = (error: unknown): boolean => prismaCode(error) === 'P2034' || ['40001', '40P01'].includes(sqlStateOf(error));

/** Whether a unique index refused a value. */
export const isTaken = (error: unknown): boolean => prismaCode(error) === 'P2002' || sqlStateOf(error) === '23505';

/** Whether the database ended a statement that waited too long for a lock: nothing of it is there. */
export const waitedTooLong = (error: unknown): boolean => sqlStateOf(error) === '55P03';

/** Whether the database ended a statement that took longer than it may. */
export const wasTimedOut = (error: unknown): boolean => sqlStateOf(error) === '57014';

/** Whether the database was told a value that it does not know among those that there are, as the name of a time zone. */
export const isUnknownZone = (error: unknown): boolean => sqlStateOf(error) === '22023';

/** Whether the database itself refused the statement for what it says, so that nothing of it is there. */
export const wasRefused = (error: unknown): boolean => /^(22|23|40|42|54|55|P0)/.test(sqlStateOf(error));

/**
 * Whether nothing of a statement is there: the database says that it failed, whatever for, and the connection stands. It may have been
 * too long or too large for one of those whose work it was.
 */
export const leftNothing = (error: unknown): boolean => wasRefused(error) || /^(25006|53[12]|57014|XX)/.test(sqlStateOf(error));

/** By what the log tells faults of the database apart: the SQLSTATE, else the code of Prisma or of the system, else the message. */
export const kindOfFault = (error: unknown): string => {
  if (!isNativeError(error)) return String(error);
  return sqlStateOf(error) || ('code' in error ? String(error.code) : error.message);
};

/** Nothing is wrong with the request, and nobody but the log is told what is. */
const unavailableBecause = (cause: unknown) => unavailable(undefined, undefined, cause);

/**
 * What a database error means to the caller; undefined when it is a fault of ours. Never the database's own words: what is unavailable
 * has the error as its cause, for the log.
 */
export function fromDatabase(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  // Before the rest: the code of a broken pipe looks like one of the database's.
  if (isLost(error)) return unavailableBecause(error);
  const fault = faultOf(error);
  if (fault) return known(error as Error, fault);
  return isNativeError(error) && lost.test(error.message) ? unavailableBecause(error) : undefined;
}

function known(error: Error, fault: DriverFault): AppError | undefined {
  const [code, state] = [prismaCode(error), sqlStateOf(error)];
  if (isTaken(error)) return meaningOf(fault, error) ?? taken(fieldAtFault(fault));
  if (code === 'P2003' || state === '23503') return invalidField(fieldAtFault(fault), 'not_found', 'names no record of this account');
  if (code === 'P2025') return notFound('Record');
  if (state === '23P01') return meaningOf(fault, error) ?? new AppError('conflict', 'Another record is in the way');
  if (code === 'P2020' || code === 'P2007' || state.startsWith('22')) return badRequest('A value is out of range or malformed');
  if (state === '54000') return badRequest('A value is too large');
  if (isRetryable(error)) return unavailableBecause(error);
  if (notNow.has(code) || lostKinds.has(fault.kind ?? '') || lostStates.test(state)) return unavailableBecause(error);
  return lost.test(error.message) ? unavailableBecause(error) : undefined;
}
