import type { AccountSweep } from '../../kernel/context/context.js';
import { nullable, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { forgetUnfinished, importJob } from './import.service.js';

const underWay = statement({
  name: 'importsUnderWay',
  row: { id: uuid, createdBy: nullable(uuid) },
  text: ({ account }) => sql`
    select id, created_by as "createdBy" from imports where account_id = ${account} and status = 'processing' order by id`,
});

/** Imports that were begun and whose job is gone, whatever ended it, go on where they stopped, for who made them. */
export const resumeSweep: AccountSweep = {
  accounts: () => sql`select distinct account_id as id from imports where status = 'processing'`,
  async work(ctx) {
    for (const { id: importId, createdBy: as } of await ctx.rows(underWay)) {
      if (await ctx.app.jobs.has('contactImport', ctx.caller.account.id, { importId })) continue;
      await ctx.transaction((inside) => inside.enqueue('contactImport', { importId }, { ...importJob, as }));
    }
    return false;
  },
};

/** Imports whose rows were never written to the end are no imports: nobody may ever make another one, who would forget them. */
export const unfinishedSweep: AccountSweep = {
  accounts: () => sql`select distinct account_id as id from imports where total_rows = 0 and leased_until < now()`,
  async work(ctx) {
    await ctx.transaction((inside) => inside.rows(forgetUnfinished, { id: null }));
    return false;
  },
};
