import { found } from '../../kernel/base/errors.js';
import { nextTurn } from '../../kernel/base/eventLoop.js';
import { nilId } from '../../kernel/base/ids.js';
import type { Context, JobHandler } from '../../kernel/context/context.js';
import { integer, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { statementsFor } from './customField.impact.js';
import type { CustomFieldCleanup } from './customField.model.js';

/** Records that one transaction cleans. */
const batch = 200;
/** Records that one transaction looks at. None of them may have the value: a look that ended at those that have would go over all. */
const mostLooked = 5000;
/** Batches that one job cleans; the rest is left to the next, so that what a crash leaves is soon taken up again. */
const batchesOfJob = 25;
/** How often a cleanup is tried again before it counts as failed. */
const cleanupRetries = 5;

export async function getCleanup(ctx: Context, id: string): Promise<CustomFieldCleanup> {
  const cleanup = await ctx.db.customFieldCleanup.findUnique({ where: ctx.at(id, 'Cleanup') });
  return found(cleanup as CustomFieldCleanup | null, 'Cleanup');
}

// The records keep their updatedAt: nobody edited them, and nothing that is defined changed. Where most have the value, the look ends at
// the last of a batch: no values are read but of those. Where few have it, its end is found by ids alone.
const removeValues = statementsFor((table) =>
  statement({
    name: `removeCustomField ${table}`,
    takes: { key: text, after: uuid },
    row: { count: integer, last: nullable(uuid) },
    changes: true,
    text: ({ account, key, after }) => sql`
      with having_it as materialized (
        select s.id from (select id, custom_fields from ${rawSql(table)}
          where account_id = ${account} and id > ${after} order by id limit ${mostLooked}::int) s
        where jsonb_exists(s.custom_fields, ${key}) order by s.id limit ${batch}::int),
      chosen as (select t.id from ${rawSql(table)} t where t.account_id = ${account} and t.id = any(array(select id from having_it))
        and jsonb_exists(t.custom_fields, ${key}) order by t.id for update),
      cleaned as (update ${rawSql(table)} t set custom_fields = t.custom_fields - ${key} from chosen
        where t.account_id = ${account} and t.id = chosen.id returning 1)
      select (select count(*)::int from cleaned) as count, case
        when (select count(*) from having_it) = ${batch}::int then (select id from having_it order by id desc limit 1)
        else (select id from ${rawSql(table)} where account_id = ${account} and id > ${after}
          order by id offset ${mostLooked - 1}::int limit 1) end as last`,
  }),
);

/** How far a look over all records came: behind which of them it goes on, and whether it found a value. */
interface Look {
  after: string;
  hasFound: boolean;
}

/**
 * Removes the next values and answers how the look goes on. One that found something is followed by another from the first record on: a
 * merge may have carried a value to a record that was passed. Undefined where a look over all of them found nothing.
 */
async function step(ctx: Context, id: string, look: Look): Promise<Look | undefined> {
  const { entityType, fieldKey, status } = await getCleanup(ctx, id);
  if (status === 'completed') return undefined;
  const [removed] = await ctx.rows(removeValues[entityType], { key: fieldKey, after: look.after });
  const { count, last } = removed!;
  const hasFound = look.hasFound || count > 0;
  const again = hasFound ? { after: nilId, hasFound: false } : undefined;
  const next = last ? { after: last, hasFound } : again;
  const ended = next ? { status: 'running' } : { status: 'completed', completedAt: ctx.now() };
  const where = ctx.at(id);
  await ctx.db.customFieldCleanup.update({ where, data: { ...ended, error: null, cleanedCount: { increment: count } } });
  return next;
}

/** A job that goes on behind a record, where one did the others. One of the version before does not say whether these found anything. */
export interface Cleaning extends Partial<Look> {
  cleanupId: string;
}

export const cleanupJob = { retryLimit: cleanupRetries, retryDelay: 2 };

async function clean(ctx: Context, { cleanupId, after = nilId, hasFound = after !== nilId }: Cleaning): Promise<void> {
  let look: Look = { after, hasFound };
  for (let n = 0; n < batchesOfJob; n++) {
    const from = look;
    const next = await ctx.transaction((inside) => step(inside, cleanupId, from));
    if (!next) return;
    look = next;
    await nextTurn();
  }
  await ctx.enqueue('customFieldCleanup', { cleanupId, ...look }, cleanupJob);
}

/** The job behind DELETE /custom-fields/{id}: takes the values of the key out of every record, a batch a transaction. */
export const cleanUp: JobHandler<Cleaning> = async (ctx, cleaning, { retries }) => {
  try {
    // What a try found before it failed is not told: another look follows.
    await clean(ctx, retries > 0 ? { ...cleaning, hasFound: true } : cleaning);
  } catch (error) {
    if (retries >= cleanupRetries) {
      const data = { status: 'failed', error: 'The values could not be removed; make the field again and delete it' };
      await ctx.db.customFieldCleanup.update({ where: ctx.at(cleaning.cleanupId), data });
    }
    throw error;
  }
};
