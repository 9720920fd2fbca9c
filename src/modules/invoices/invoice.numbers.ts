import { check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { integer, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

// Whoever gives a number holds the workspace's counter until the end of the transaction: numbers follow each other without
// gaps, and nobody else can take the same one meanwhile. Held first and counted then: a statement that waited for the counter
// would not see the numbers that were given while it did.
const hold = statement({
  name: 'holdInvoiceCounter',
  row: { n: integer },
  changes: true,
  text: ({ account }) => sql`
    insert into invoice_counters as c (account_id, last_number) values (${account}, 0)
    on conflict (account_id) do update set last_number = c.last_number returning last_number as n`,
});

/** A number as it is written: six digits at least. */
const written = (n: Sql) => sql`'INV-' || lpad(${n}::text, greatest(6, length(${n}::text)), '0')`;

const takeNext = statement({
  name: 'takeInvoiceNumber',
  row: { number: text },
  changes: true,
  text: ({ account }) => sql`
    with recursive tried as (
      select c.last_number + 1 as n from invoice_counters c where c.account_id = ${account}
      union all
      select t.n + 1 from tried t where exists (
        select 1 from invoices i where i.account_id = ${account} and i.invoice_number = ${written(sql`t.n`)}))
    update invoice_counters c set last_number = (select max(n) from tried) where c.account_id = ${account}
    returning ${written(sql`c.last_number`)} as number`,
});

/** The next number of the workspace, INV-000001 at first; those that somebody gave by hand are passed over, however many. */
export async function nextNumber(ctx: Context): Promise<string> {
  await ctx.rows(hold);
  const [next] = await ctx.rows(takeNext);
  return next!.number;
}

const numbered = statement({
  name: 'invoiceByNumber',
  takes: { number: text },
  row: { id: uuid },
  text: ({ account, number }) => sql`select id from invoices where account_id = ${account} and invoice_number = ${number}`,
});

/** Throws 400 when another invoice has the number. */
export async function checkNumber(ctx: Context, number: string): Promise<void> {
  await ctx.rows(hold);
  const others = await ctx.rows(numbered, { number });
  check(others.length === 0, () => invalidField('invoiceNumber', 'taken', 'is taken by another invoice'));
}
