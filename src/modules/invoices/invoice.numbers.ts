import { check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { integer, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

// Whoever gives a number holds the workspace's counter until the end of the transaction: numbers follow each other without
// gaps, and nobody else can take the same one meanwhile.
const count = statement({
  name: 'countInvoiceNumbers',
  takes: { step: integer },
  row: { n: integer },
  changes: true,
  text: ({ account, step }) => sql`
    insert into invoice_counters as c (account_id, last_number) values (${account}, ${step})
    on conflict (account_id) do update set last_number = c.last_number + ${step} returning last_number as n`,
});

const numbered = statement({
  name: 'invoiceByNumber',
  takes: { number: text },
  row: { id: uuid },
  text: ({ account, number }) => sql`select id from invoices where account_id = ${account} and invoice_number = ${number}`,
});

const isTaken = async (ctx: Context, number: string) => (await ctx.rows(numbered, { number })).length > 0;

/** The next number of the workspace, INV-000001 at first; one that somebody gave by hand is passed over. */
export async function nextNumber(ctx: Context): Promise<string> {
  for (;;) {
    const [counter] = await ctx.rows(count, { step: 1 });
    const number = `INV-${String(counter!.n).padStart(6, '0')}`;
    if (!(await isTaken(ctx, number))) return number;
  }
}

/** Throws 400 when another invoice has the number. */
export async function checkNumber(ctx: Context, number: string): Promise<void> {
  await ctx.rows(count, { step: 0 });
  check(!(await isTaken(ctx, number)), () => invalidField('invoiceNumber', 'taken', 'is taken by another invoice'));
}
