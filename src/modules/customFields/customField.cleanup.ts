import { found } from '../../kernel/base/errors.js';
import type { Context, JobHandler } from '../../kernel/context/context.js';
import { integer, text } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { statementsFor } from './customField.impact.js';
import type { CustomFieldCleanup } from './customField.model.js';

/** Records that one transaction cleans. */
const batch = 500;
/** How often a cleanup is tried again before it counts as failed. */
export const cleanupRetries = 5;

export async function getCleanup(ctx: Context, id: string): Promise<CustomFieldCleanup> {
  const cleanup = await ctx.db.customFieldCleanup.findUnique({ where: ctx.at(id, 'Cleanup') });
  return found(cleanup as CustomFieldCleanup | null, 'Cleanup');
}

// The records keep their updatedAt: nobody edited them, and nothing that is defined changed.
const removeValues = statementsFor((table) =>
  statement({
    name: `removeCustomField ${table}`,
    takes: { key: text },
    row: { count: integer },
    changes: true,
    text: ({ account, key }) => sql`
      with chosen as (select id from ${rawSql(table)} where account_id = ${account} and jsonb_exists(custom_fields, ${key}) order by id
        limit ${batch}::int for update),
      cleaned as (update ${rawSql(table)} t set custom_fields = t.custom_fields - ${key} from chosen
        where t.account_id = ${account} and t.id = chosen.id returning 1)
      select count(*)::int as count from cleaned`,
  }),
);

/** Removes the next values. Answers whether there may be more. */
async function step(ctx: Context, id: string): Promise<boolean> {
  const { entityType, fieldKey, status } = await getCleanup(ctx, id);
  if (status === 'completed') return false;
  const [removed] = await ctx.rows(removeValues[entityType], { key: fieldKey });
  const isLast = removed!.count < batch;
  const ended = isLast ? { status: 'completed', completedAt: ctx.now() } : { status: 'running' };
  const where = ctx.at(id);
  await ctx.db.customFieldCleanup.update({ where, data: { ...ended, error: null, cleanedCount: { increment: removed!.count } } });
  return !isLast;
}

/** The job behind DELETE /custom-fields/{id}: takes the values of the key out of every record, a batch a transaction. */
export const cleanUp: JobHandler<{ cleanupId: string }> = async (ctx, { cleanupId }, { retries }) => {
  try {
    while (await ctx.transaction((inside) => step(inside, cleanupId)));
  } catch (error) {
    if (retries >= cleanupRetries) {
      const data = { status: 'failed', error: 'The values could not be removed; make the field again and delete it' };
      await ctx.db.customFieldCleanup.update({ where: ctx.at(cleanupId), data });
    }
    throw error;
  }
};
