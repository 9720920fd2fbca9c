import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { totalsOf } from '../../src/modules/invoices/invoice.totals.js';
import { type Account, dataOf, onPostgres, type Reply, server, type TestServer } from '../support/index.js';
import fc from '../support/property.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const parallel = 50;
const countOf = (replies: Reply[], status: number) => replies.filter((reply) => reply.status === status).length;

/** An integer as a decimal with so many places: 12345 and 2 → "123.45". */
function decimal(units: bigint, places: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** Divides by a power of ten and rounds halves away from zero. */
function rounded(units: bigint, places: number): bigint {
  const [size, sign, scale] = [units < 0n ? -units : units, units < 0n ? -1n : 1n, 10n ** BigInt(places)];
  return sign * ((size + scale / 2n) / scale);
}

interface Line {
  /** In ten-thousandths. */
  quantity: bigint;
  /** In hundredths. */
  price: bigint;
}

/** The same sums in whole cents: nothing in common with the arithmetic that is tested. */
function inCents(lines: Line[], rate: bigint) {
  const amounts = lines.map(({ quantity, price }) => rounded(quantity * price, 4));
  const subtotal = amounts.reduce((sum, amount) => sum + amount, 0n);
  const tax = rounded(subtotal * rate, 6);
  const text = (cents: bigint) => decimal(cents, 2);
  return { amounts: amounts.map(text), subtotal: text(subtotal), taxAmount: text(tax), total: text(subtotal + tax) };
}

const lineOf = (most: bigint) => fc.record({ quantity: fc.bigInt(1n, most * 10_000n), price: fc.bigInt(-most, most * 100n) });
const invoiceOf = (most: bigint) =>
  fc.record({ lines: fc.array(lineOf(most), { minLength: 1, maxLength: 12 }), rate: fc.bigInt(0n, 1_000_000n) });
const asItems = (lines: Line[]) => lines.map(({ quantity, price }) => ({ quantity: decimal(quantity, 4), unitPrice: decimal(price, 2) }));

describe('the totals of an invoice', () => {
  it('are exact: lines rounded half up, then the tax on their sum', () => {
    const check = fc.property(invoiceOf(100_000n), ({ lines, rate }) => {
      const sums = inCents(lines, rate);
      fc.pre(!sums.total.startsWith('-'));
      expect(totalsOf(asItems(lines), decimal(rate, 6))).toEqual(sums);
    });
    fc.assert(check, { numRuns: 1000 });
  });

  it('round halves away from zero', () => {
    const amounts = (quantity: string, unitPrice: string) =>
      totalsOf(
        [
          { quantity, unitPrice },
          { quantity: '1', unitPrice: '9' },
        ],
        '0',
      ).amounts[0];
    expect([amounts('0.5', '0.01'), amounts('0.5', '-0.01'), amounts('1.0050', '1'), amounts('0.4999', '0.01')]).toEqual([
      '0.01',
      '-0.01',
      '1.01',
      '0.00',
    ]);
    expect(totalsOf([{ quantity: '1', unitPrice: '0.10' }], '0.05')).toMatchObject({ taxAmount: '0.01', total: '0.11' });
  });

  it('are kept as they were computed', async () => {
    const check = fc.asyncProperty(invoiceOf(1000n), async ({ lines, rate }) => {
      const { amounts, ...sums } = inCents(lines, rate);
      fc.pre(!sums.total.startsWith('-'));
      const items = asItems(lines).map((item) => ({ description: 'x', ...item }));
      const { id } = dataOf(await acme.owner.post('/invoices', { items, taxRate: decimal(rate, 6) }));
      const kept = await api.app.database.prisma.invoice.findFirstOrThrow({
        where: { id },
        include: { items: { orderBy: { sortOrder: 'asc' } } },
      });
      const asKept = Object.fromEntries((['subtotal', 'taxAmount', 'total'] as const).map((name) => [name, kept[name].toFixed(2)]));
      expect({ ...asKept, amounts: kept.items.map((item) => item.amount.toFixed(2)) }).toEqual({ ...sums, amounts });
    });
    await fc.assert(check, { numRuns: 20 });
  });
});

onPostgres(describe)('invoices that many write at once', () => {
  it('add up 50 payments exactly, refuse what is too much, and are paid once', async () => {
    const { id } = await acme.invoice({ items: [{ description: 'x', quantity: 1, unitPrice: 4.9 }] });
    const replies = await Promise.all(Array.from({ length: parallel }, () => acme.owner.post(`/invoices/${id}/payments`, { amount: 0.1 })));
    expect([countOf(replies, 201), countOf(replies, 409)]).toEqual([49, 1]);
    const { payments, amountPaid, status } = dataOf(await acme.owner.get(`/invoices/${id}`));
    expect({ amountPaid, status, payments: payments.length }).toEqual({ amountPaid: 4.9, status: 'paid', payments: 49 });
    const { prisma } = api.app.database;
    const { _sum } = await prisma.payment.aggregate({ where: { accountId: acme.id, invoiceId: id }, _sum: { amount: true } });
    expect(_sum.amount!.toFixed(2)).toBe('4.90');
    expect(await prisma.outboxEvent.count({ where: { accountId: acme.id, name: 'invoice.paid', entityId: id } })).toBe(1);
  });

  it('let one of two payments of the whole balance win', async () => {
    const { id } = await acme.invoice();
    const replies = await Promise.all(
      ['cash', 'check'].map((method) => acme.owner.post(`/invoices/${id}/payments`, { amount: 120, method })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('are numbered without a gap and without a double, whatever fails between', async () => {
    const account = await api.seed.account();
    const nobody = '00000000-0000-7000-8000-000000000000';
    const replies = await Promise.all(
      Array.from({ length: parallel }, (_, i) =>
        account.owner.post('/invoices', {
          items: [{ description: 'x', quantity: 1, unitPrice: 1 }],
          ...(i % 5 === 0 && { contactId: nobody }),
          ...(i % 7 === 1 && { invoiceNumber: `INV-0000${10 + i}` }),
        }),
      ),
    );
    const made = replies.filter(({ status }) => status === 201);
    const given = made.map(({ body }) => body.data.invoiceNumber as string).sort();
    expect(new Set(given).size).toBe(given.length);
    const byHand = replies
      .map((_, i) => i)
      .filter((i) => i % 7 === 1 && i % 5 !== 0)
      .map((i) => 10 + i);
    const counted = given.map((number) => Number(number.slice(4))).filter((n) => !byHand.includes(n));
    const last = Math.max(...counted);
    expect(counted).toEqual(Array.from({ length: last }, (_, i) => i + 1).filter((n) => !byHand.includes(n)));
  });

  it('give the same number by hand only once', async () => {
    const body = { invoiceNumber: 'Same', items: [{ description: 'x', quantity: 1, unitPrice: 1 }] };
    const replies = await Promise.all(Array.from({ length: 10 }, () => acme.owner.post('/invoices', body)));
    expect([countOf(replies, 201), countOf(replies, 400)]).toEqual([1, 9]);
  });

  it('are either sent or void, never both', async () => {
    const { id } = await acme.invoice();
    const [sent, voided] = await Promise.all([acme.owner.post(`/invoices/${id}/send`), acme.owner.post(`/invoices/${id}/void`)]);
    expect(voided.status).toBe(200);
    expect([200, 409]).toContain(sent.status);
    expect(dataOf(await acme.owner.get(`/invoices/${id}`)).status).toBe('void');
  });
});

describe('invoices', () => {
  it('are numbered past twenty thousand numbers that were given by hand', async () => {
    const account = await api.seed.account();
    const { id } = await account.invoice();
    const columns = (await api.app.database.execute('select * from invoices where id = $1', [id])).rows[0] as object;
    const copied = Object.keys(columns).filter((name) => !['id', 'invoice_number'].includes(name));
    await api.app.database.execute(
      `insert into invoices (id, invoice_number, ${copied}) select gen_random_uuid(), 'INV-' || lpad(n::text, 6, '0'), ${copied}
       from invoices, generate_series(2, 20001) n where id = $1`,
      [id],
    );
    expect([(await account.invoice()).invoiceNumber, (await account.invoice()).invoiceNumber]).toEqual(['INV-020002', 'INV-020003']);
  });

  it('have as many digits as they need beyond six', async () => {
    const account = await api.seed.account();
    await account.invoice();
    await api.app.database.execute('update invoice_counters set last_number = 999998 where account_id = $1', [account.id]);
    await account.invoice({ invoiceNumber: 'INV-1000000' });
    const numbers = [(await account.invoice()).invoiceNumber, (await account.invoice()).invoiceNumber];
    expect(numbers).toEqual(['INV-999999', 'INV-1000001']);
  });
});
