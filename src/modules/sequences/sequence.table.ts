import { integer, type RowOf, records } from '../../kernel/database/kinds.js';
import { keptCount, sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { Sequence, SequenceConnection, SequenceList, SequenceStep } from './sequence.model.js';

const sequenceRow = modelRow('Sequence', Sequence);

/** Kept by triggers: counting would read every enrollment of a page of sequences. */
const counted = (status = '') => keptCount(sql`t.account_id`, 'enrollments', sql`'sequence:' || t.id || ${status}::text`);

const counts = { enrolledCount: counted(), completedCount: counted(':completed'), activeCount: counted(':active') };

export const sequenceTable = table({
  row: sequenceRow,
  list: SequenceList,
  page: SequenceConnection,
  toldBy: { 'steps.id': 'steps', 'steps.order': 'steps' },
  neverTold: ['enrolledCount', 'completedCount', 'activeCount'],
  computed: counts,
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    search: (text) => contains('t.name', text),
    isActive: (isActive) => sql`t.is_active = ${isActive}`,
  },
});

/** The steps of the versions that hold now: those before are for the enrollments that follow them. */
export const sequenceStepTable = table({
  row: modelRow('SequenceStep', SequenceStep),
  renamed: { order: 'step_order' },
  live: sql`t.version = (select s.version from sequences s where s.account_id = t.account_id and s.id = t.sequence_id)`,
  sorts: { order: { by: 't.step_order', type: 'integer' } },
  byDefault: ['order', 'asc'],
});

export type SequenceStepRow = RowOf<typeof sequenceStepTable.shape>;

const steps = sql`(
  select coalesce(json_agg(r order by r."order"), '[]') from (select t.account_id, t.id, t.version) p cross join lateral (
    select ${sequenceStepTable.columns} from sequence_steps t
    where t.account_id = p.account_id and t.sequence_id = p.id and t.version = p.version) r)`;

/** Sequences as their record shows them, with their steps. */
export const wholeSequences = sequenceTable.reading(
  {
    ...sequenceRow.shape,
    enrolledCount: integer,
    completedCount: integer,
    activeCount: integer,
    steps: records(sequenceStepTable.shape),
  },
  sql`${sequenceTable.columns}, ${counts.enrolledCount} as "enrolledCount",
  ${counts.completedCount} as "completedCount", ${counts.activeCount} as "activeCount", ${steps} as steps`,
);
export type SequenceRow = RowOf<typeof wholeSequences.shape>;
