import { text } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { byNumber, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { Import, ImportConnection, ImportError, ImportErrorConnection, ImportErrorList, ImportList } from './import.model.js';

/** An import whose rows are still being written is not there yet. */
export const there = sql`t.total_rows > 0`;

export const importTable = table({
  row: modelRow('Import', Import),
  untold: true,
  list: ImportList,
  page: ImportConnection,
  toldBy: { progress: 'processedRows', startedAt: 'status', completedAt: 'status' },
  computed: { progress: sql`round(t.processed_rows::numeric / greatest(t.total_rows, 1), 4)::float8` },
  carried: ['progress'],
  live: there,
  counted: false,
  sorts: { createdAt: byTime('created_at') },
  byDefault: ['createdAt', 'desc'],
  conditions: { status: (status) => sql`t.status = ${status}` },
});

/** Rows are written before their import is there. */
const ofOneThatIs = sql`exists (select from imports i where i.account_id = t.account_id and i.id = t.import_id and i.total_rows > 0)`;

/** The rows of imports that could not be imported. */
export const importErrorTable = table({
  row: modelRow('ImportRow', ImportError, { importId: text }),
  untold: true,
  list: ImportErrorList,
  page: ImportErrorConnection,
  computed: { error: sql`coalesce(t.error, 'failed')` },
  carried: ['error'],
  live: sql`t.status = 'failed' and ${ofOneThatIs}`,
  counted: false,
  sorts: { row: byNumber('row') },
  byDefault: ['row', 'asc'],
  conditions: { field: (field) => sql`t.field = ${field}` },
});
