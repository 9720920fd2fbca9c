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
/** Batches that one job cleans; the rest is left to the next, so that what a crash leaves is soon taken up again. */
const batchesOfJob = 25;
/** How often a cleanup is tried again before it counts as failed. */
const cleanupRetries = 5;

export async function getCleanup(ctx: Context, id: string): Promise<CustomFieldCleanup> {
  const cleanup = await ctx.db.customFieldCleanup.findUnique({ where: ctx.at(id, 'Cleanup') });
  return found(cleanup as CustomFieldCleanup | null, 'Cleanup');
}

// The records keep their updatedAt: nobody edited them, and nothing that is defined changed.
const removeValues = statementsFor((table) =>
  statement({
    name: `removeCustomField ${table}`,
    takes: { key: text, after: nullable(uuid) },
    row: { count: integer, last: nullable(uuid) },
    changes: true,
    text: ({ account, key, after }) => sql`
      with chosen as (select id from ${rawSql(table)} where account_id = ${account} and jsonb_exists(custom_fields, ${key})
        and id > coalesce(${after}, ${nilId}::uuid) order by id limit ${batch}::int for update),
      cleaned as (update ${rawSql(table)} t set custom_fields = t.custom_fields - ${key} from chosen
        where t.account_id = ${account} and t.id = chosen.id returning 1)
      select (select count(*)::int from cleaned) as count, (select id from chosen order by id desc limit 1) as last`,
  }),
);

/**
 * Removes the next values, of the records behind an id, and answers the last of these ids. After the last record it answers the nil id, to
 * begin again: a merge may have carried a value to a record that was passed. Null where a look over all of them found nothing.
 */
async function step(ctx: Context, id: string, after: string | null): Promise<string | null> {
  const { entityType, fieldKey, status } = await getCleanup(ctx, id);
  if (status === 'completed') return null;
  const [removed] = await ctx.rows(removeValues[entityType], { key: fieldKey, after });
  const isEnd = removed!.count < batch;
  const last = isEnd ? (removed!.count > 0 || (after !== null && after !== nilId) ? nilId : null) : removed!.last;
  const ended = last ? { status: 'running' } : { status: 'completed', completedAt: ctx.now() };
  const where = ctx.at(id);
  await ctx.db.customFieldCleanup.update({ where, data: { ...ended, error: null, cleanedCount: { increment: removed!.count } } });
  return last;
}

/** A job that goes on behind a record, where one did the others. */
export interface Cleaning {
  cleanupId: string;
  after?: string;
}

export const cleanupJob = { retryLimit: cleanupRetries, retryDelay: 2 };

async function clean(ctx: Context, { cleanupId, after }: Cleaning): Promise<void> {
  let last: string | null = after ?? null;
  for (let n = 0; n < batchesOfJob; n++) {
    const from: string | null = last;
    last = await ctx.transaction((inside) => step(inside, cleanupId, from));
    if (last === null) return;
    await nextTurn();
  }
  await ctx.enqueue('customFieldCleanup', { cleanupId, after: last }, cleanupJob);
}

/** The job behind DELETE /custom-fields/{id}: takes the values of the key out of every record, a batch a transaction. */
export const cleanUp: JobHandler<Cleaning> = async (ctx, cleaning, { retries }) => {
  try {
    await clean(ctx, cleaning);
  } catch (error) {
    if (retries >= cleanupRetries) {
      const data = { status: 'failed', error: 'The values could not be removed; make the field again and delete it' };
      await ctx.db.customFieldCleanup.update({ where: ctx.at(cleaning.cleanupId), data });
    }
    throw error;
  }
};
