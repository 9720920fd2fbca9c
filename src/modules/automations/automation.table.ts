import { instant, integer, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { keptCount, sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { Automation, AutomationConnection, AutomationList } from './automation.model.js';

/** Kept by triggers: counting would read every run of a page of automations. */
const runCount = keptCount(sql`t.account_id`, 'automation_runs', sql`'automation:' || t.id`);
const lastTriggered = sql`(select max(r.started_at) from automation_runs r where r.account_id = t.account_id and r.automation_id = t.id)`;

export const automationTable = table({
  row: modelRow('Automation', Automation, {
    liveEvent: nullable(text),
    liveAfter: text,
    liveUnplaced: listOf(uuid),
    dueAt: nullable(instant),
    attempt: integer,
  }),
  withoutEvents: ['liveEvent', 'liveAfter', 'liveUnplaced'],
  neverTold: ['runCount', 'lastTriggered'],
  list: AutomationList,
  page: AutomationConnection,
  renamed: { webhookUrl: 'ext_webhook_url' },
  computed: { runCount, lastTriggered },
  carried: ['runCount', 'lastTriggered'],
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    search: (words) => contains('t.name', words),
    kind: (kind) => sql`t.kind = ${kind}`,
    status: (status) => sql`t.status = ${status}`,
    active: (active) => sql`t.active = ${active}`,
    folderId: (folder) => sql`t.folder_id = ${folder}`,
  },
});

/** An automation as its record shows it, with what it is kept with. */
export type AutomationRow = RowOf<typeof automationTable.shape>;
