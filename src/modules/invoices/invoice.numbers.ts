import { check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { sql, statement } from '../../kernel/database/sql.js';

// Whoever gives a number holds the workspace's counter until the end of the transaction: numbers follow each other without
// gaps, and nobody else can take the same one meanwhile.
const hold = statement<{ n: number }, [step: number]>(
  (account, step) => sql`
    insert into invoice_counters as c (account_id, last_number) values (${account}::uuid, ${step}::int)
    on conflict (account_id) do update set last_number = c.last_number + ${step}::int returning last_number as n`,
);

const named = statement<{ id: string }, [string]>(
  (account, number) => sql`select id from invoices where account_id = ${account}::uuid and invoice_number = ${number}`,
);

const isTaken = async (ctx: Context, number: string) => (await ctx.query(named, number)).length > 0;

/** The next number of the workspace, INV-000001 at first; one that somebody gave by hand is passed over. */
export async function nextNumber(ctx: Context): Promise<string> {
  for (;;) {
    const [counter] = await ctx.query(hold, 1);
    const number = `INV-${String(counter!.n).padStart(6, '0')}`;
    if (!(await isTaken(ctx, number))) return number;
  }
}

/** Throws 400 when another invoice has the number. */
export async function checkNumber(ctx: Context, number: string): Promise<void> {
  await ctx.query(hold, 0);
  check(!(await isTaken(ctx, number)), () => invalidField('invoiceNumber', 'taken', 'is taken by another invoice'));
}
