import { today as todayIn } from '../../kernel/base/timeZones.js';
import type { AccountSweep } from '../../kernel/context/context.js';
import { day, instant, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { todayOf } from '../../kernel/tables/dateRanges.js';
import { contactLoader } from '../contacts/contact.service.js';
import { emitOverdue, readInvoices } from './invoice.service.js';
import { isLate } from './invoice.table.js';

/** Invoices of one transaction. */
const portion = 100;

const markOverdue = statement({
  name: 'markOverdueInvoices',
  takes: { now: instant, today: day },
  row: { id: uuid },
  changes: true,
  // Of two who sweep at once one skips what the other has.
  text: ({ account, now, today }) => sql`
    update invoices i set status = 'overdue', updated_at = ${now} from (
      select t.id from invoices t
      where t.account_id = ${account} and ${isLate(sql`${today}::date`)} limit ${portion}::int for update of t skip locked
    ) late where i.account_id = ${account} and i.id = late.id returning i.id`,
});

/** Writes down and tells what reads show as overdue from the first minute of the day after, in the time zone of each workspace. */
export const overdueSweep: AccountSweep = {
  // The latest day that it is anywhere: of a time zone that the database does not know, the statement would fail for all accounts.
  accounts: (now) => sql`select t.account_id as id, a.timezone, to_char(min(t.due_date), 'YYYY-MM-DD') as due
    from invoices t join accounts a on a.id = t.account_id
    where ${isLate(sql`((${now} at time zone 'UTC') + interval '14 hours')::date`)} group by t.account_id, a.timezone`,
  isDue: ({ timezone, due }, now) => due! < todayIn(timezone!, now),
  work: (ctx) =>
    ctx.transaction(async (inside) => {
      const late = await inside.rows(markOverdue, { now: inside.now(), today: todayOf(inside) });
      if (late.length === 0) return false;
      const invoices = await readInvoices(
        inside,
        late.map(({ id }) => id),
      );
      // Whom they are to is read at once, not one by one.
      await Promise.all(invoices.map(({ contactId }) => contactLoader(inside).maybe(contactId)));
      for (const invoice of invoices) await emitOverdue(inside, invoice);
      return late.length === portion;
    }),
};
