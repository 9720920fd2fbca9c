import type { AccountSweep } from '../../kernel/context/context.js';
import type { JobFor } from '../../kernel/context/jobQueue.js';
import { json, uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { daysBefore, type Sweep } from '../../kernel/database/sweep.js';
import { forgetUnfinished, importJob, previewed } from './import.service.js';

const underWay = statement({
  name: 'importsUnderWay',
  row: { id: uuid, by: json<JobFor>() },
  text: ({ account }) => sql`
    select id, coalesce(begun_by, jsonb_build_object('userId', created_by)) as by from imports
    where account_id = ${account} and status = 'processing' order by id`,
});

/** Imports that were begun and whose job is gone, whatever ended it, go on where they stopped, for who began them. */
export const resumeSweep: AccountSweep = {
  accounts: () => sql`select distinct account_id as id from imports where status = 'processing'`,
  async work(ctx) {
    for (const { id: importId, by: as } of await ctx.rows(underWay)) {
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

/**
 * Rows that made or changed a contact, once their import was completed as long ago as the server is told to keep them: nothing reads these
 * any more. Those with errors stay (`GET /imports/{id}/errors`), and so do the first ones (`preview`). By import, because the index begins
 * with it.
 */
export const oldRows: Sweep = {
  rows: ({ before, most }) => sql`with old as (
      select r.account_id, r.id from imports i cross join lateral (
        select r.account_id, r.id from import_rows r
        where r.account_id = i.account_id and r.import_id = i.id and r.status in ('created', 'updated') and r.row > ${rawSql(String(previewed))}
        limit ${most}) r
      where i.status = 'completed' and i.completed_at < ${before} and i.total_rows > ${rawSql(String(previewed))}
      limit ${most})
    delete from import_rows r using old where r.account_id = old.account_id and r.id = old.id returning 1`,
  before: daysBefore(({ keepImportsDays }) => keepImportsDays),
};
