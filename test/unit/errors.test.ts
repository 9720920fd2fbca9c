import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Prisma } from '../../src/generated/prisma/client.js';
import { AppError, internalError, invalid, statusOf } from '../../src/kernel/base/errors.js';
import { fromDatabase, isRetryable, kindOfFault, mayRetry, pauseBefore } from '../../src/kernel/database/errors.js';
import { errorText } from '../../src/modules/actions/action.service.js';
import { inClientNames } from '../../src/rest/errors.js';
import { freePort } from '../support/simulators.js';

const fault = (code: string, cause: object = {}) =>
  new Prisma.PrismaClientKnownRequestError('select * from "contacts" went wrong', {
    code,
    clientVersion: 'x',
    meta: { driverAdapterError: { cause } },
  });
const told = (error: unknown) => {
  const { code, status, field } = fromDatabase(error) ?? {};
  return [code, status, field];
};

describe('an error of the database', () => {
  it.each([
    ['a duplicate', fault('P2002', { constraint: { fields: ['account_id', '"invoice_number"'] } }), ['conflict', 409, 'invoiceNumber']],
    [
      'a link to nothing',
      fault('P2003', { constraint: { index: 'contacts_account_id_assigned_to_fkey' } }),
      ['invalid_request', 400, 'assignedTo'],
    ],
    ['a missing row', fault('P2025'), ['not_found', 404, undefined]],
    ['a number out of range', fault('P2020'), ['invalid_request', 400, undefined]],
    ['a malformed value', fault('P2010', { originalCode: '22P05' }), ['invalid_request', 400, undefined]],
    ['an exclusion', fault('P2010', { originalCode: '23P01' }), ['conflict', 409, undefined]],
    ['a deadlock', fault('P2010', { originalCode: '40P01' }), ['unavailable', 503, undefined]],
    ['a full pool', fault('P2024'), ['unavailable', 503, undefined]],
    ['a transaction that took too long', fault('P2028'), ['unavailable', 503, undefined]],
    ['a wait for a connection', new Error('timeout exceeded when trying to connect'), ['unavailable', 503, undefined]],
    ['a killed connection', new Error('Connection terminated unexpectedly'), ['unavailable', 503, undefined]],
    ['a stopping server', fault('P2010', { originalCode: '57P01' }), ['unavailable', 503, undefined]],
    ['a fault of ours', fault('P2010', { originalCode: '42601' }), [undefined, undefined, undefined]],
    ['a bug', new TypeError('x is not a function'), [undefined, undefined, undefined]],
  ])('%s is told in our words', (_what, error, expected) => {
    expect(told(error)).toEqual(expected);
    expect(fromDatabase(error)?.message ?? '').not.toMatch(/select|contacts|constraint|connect/i);
  });

  it.each([...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']])(
    'is unavailable where the system says so, whatever it says besides, and where Prisma hands it on: %s',
    (code) => {
      for (const error of [Object.assign(new Error(''), { code, syscall: 'connect' }), fault(code)])
        expect(told(error)).toEqual(['unavailable', 503, undefined]);
    },
  );

  it('is unavailable where a name has two addresses and nobody listens at either', async () => {
    const line = connect({
      ...{ host: 'db.example', port: await freePort(), autoSelectFamily: true },
      lookup: (_name, _options, done) =>
        done(null, [
          { address: '127.0.0.1', family: 4 },
          { address: '127.0.0.2', family: 4 },
        ]),
    });
    const [error] = (await once(line, 'error').catch((thrown: unknown) => [thrown])) as [Error];
    expect([error.name, error.message]).toEqual(['AggregateError', '']);
    expect(told(error)).toEqual(['unavailable', 503, undefined]);
  });

  it('is the cause of what is unavailable, for the log, which tells its kinds apart by their codes', () => {
    const full = fault('P2039', { originalCode: '53100' });
    expect(fromDatabase(full)?.cause).toBe(full);
    const others = [fault('P2024'), Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), new Error('timeout exceeded')];
    expect([full, ...others].map(kindOfFault)).toEqual(['53100', 'P2024', 'ECONNREFUSED', 'timeout exceeded']);
  });

  it('that may pass is tried again: a conflict of transactions, and nothing else', () => {
    expect([fault('P2034'), fault('P2010', { originalCode: '40001' }), fault('P2010', { originalCode: '40P01' })].map(isRetryable)).toEqual(
      [true, true, true],
    );
    expect([fault('P2002'), fault('P2024'), new Error('40001')].map(isRetryable)).toEqual([false, false, false]);
  });
});

describe('the pause before another attempt', () => {
  it('differs from one to the other, and grows', () => {
    expect([0, 0.5, 0.999].map((random) => Math.round(pauseBefore(2, random)))).toEqual([0, 5, 10]);
    expect([0, 0.5, 0.999].map((random) => Math.round(pauseBefore(3, random)))).toEqual([0, 10, 20]);
    expect(new Set(Array.from({ length: 50 }, () => pauseBefore(2))).size).toBeGreaterThan(40);
  });

  it('comes before the second and the third, and there is no fourth', async () => {
    const conflict = fault('P2034');
    expect(await Promise.all([1, 2, 3].map((nth) => mayRetry(conflict, nth)))).toEqual([true, true, false]);
    expect(await mayRetry(fault('P2002'), 1)).toBe(false);
  });
});

describe('an error of ours', () => {
  it('has the status of its code, and blames its first field', () => {
    for (const [code, status] of Object.entries(statusOf)) expect(new AppError(code as keyof typeof statusOf, 'x').status).toBe(status);
    const error = invalid([
      { field: 'email', code: 'taken', message: 'is bad' },
      { field: 'phone', code: 'required', message: 'is worse' },
    ]);
    expect([error.field, error.message]).toEqual(['email', 'email is bad; phone is worse']);
  });

  it('names fields as the client did, inside of lists as well', () => {
    const names = new Map([
      ['assignedTo', 'assigned_to'],
      ['tags', 'tag_names'],
      ['perPage', 'per_page'],
    ]);
    const error = invalid([
      { field: 'assignedTo', code: 'not_found', message: 'a' },
      { field: 'tags.0', code: 'too_long', message: 'b' },
      { field: 'city', code: 'required', message: 'c', options: ['d'] },
    ]);
    const named = inClientNames(error, names);
    expect(named.message).toBe('assigned_to a; tag_names.0 b; city c');
    expect(named.details![2]).toEqual({ field: 'city', code: 'required', message: 'c', options: ['d'] });
    const untouched = invalid([{ field: 'city', code: 'required', message: 'c' }]);
    expect(inClientNames(untouched, names)).toBe(untouched);
  });
});

describe('a fault of ours', () => {
  it('is called the same in the log of a run as in an answer, and says nothing of itself', () => {
    expect(errorText(new TypeError('row is undefined'))).toBe(`internal_error: ${internalError().message}`);
  });
});
