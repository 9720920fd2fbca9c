import type { Context } from '../../kernel/context/context.js';
import type { Use, UsesOf } from '../../kernel/context/registry.js';
import { text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

const naming = statement({
  name: 'automationsNaming',
  takes: { record: uuid },
  row: { id: uuid, name: text },
  text: ({ account, record }) => sql`
    select a.id, a.name from automations a where a.account_id = ${account} and a.deleted_at is null and exists (
      select 1 from automation_versions v where v.account_id = a.account_id and v.automation_id = a.id
        and v.graph::text like '%"' || ${record}::text || '"%'
        and (a.active and v.version = a.published_version or exists (
          select 1 from automation_runs r where r.account_id = v.account_id and r.automation_id = v.automation_id and r.version = v.version
            and r.status in ('running', 'waiting'))))
    order by a.name, a.id limit 20`,
});

/** What needs a record: active automations whose published version names its id, and those whose runs still go by one that does. */
export const usesInAutomations: UsesOf<Context> = async (ctx, record): Promise<Use[]> =>
  (await ctx.rows(naming, { record })).map(({ id, name }) => ({ type: 'automation', id, name }));
