import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import type { Use } from '../../kernel/context/registry.js';
import { text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows, listRowsOf } from '../../kernel/lists/list.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { checkTrial } from '../plans/plan.limits.js';
import { hold, release } from './enrollment.hold.js';
import type { EnrollmentList } from './enrollment.model.js';
import { type EnrollmentRow, enrollmentTable } from './enrollment.table.js';
import { type CreateSequenceInput, SequenceFields, type SequenceList, type UpdateSequenceInput } from './sequence.model.js';
import { checkSteps, checkWords, comparable, insertSteps } from './sequence.steps.js';
import { type SequenceRow, sequenceTable, wholeSequences } from './sequence.table.js';

/** Contract GET /emails/sequences: newest first, with how many are enrolled. */
export const listSequences = (ctx: Context, args: SequenceList) => listRows<SequenceRow>(ctx, sequenceTable, args);

/** One sequence, or null. */
export const findSequence = (ctx: Context, id: string) => findRow<SequenceRow>(ctx, sequenceTable, id);

/** Contract GET /emails/sequences/{id}: one sequence, or 404. */
export const getSequence = (ctx: Context, id: string) => getRow<SequenceRow>(ctx, sequenceTable, id);

/** Contract GET /emails/sequences/{id}/enrollments: newest first; 404 for the sequence. */
export async function listEnrollmentsOf(ctx: Context, id: string, args: EnrollmentList) {
  const sequence = await getSequence(ctx, id);
  return listRowsOf<EnrollmentRow>(ctx, enrollmentTable, args, { sequenceId: sequence.id });
}

const sequenceRows = rowsToChange(wholeSequences);

/** One sequence with its steps, to be changed, or 404. */
export const sequenceForChange = (ctx: Context, id: string) => ctx.forChange(sequenceRows, id);

const flags = { autoUnenrollOnBounce: true, autoUnenrollOnMeeting: false, autoUnenrollOnReply: true, autoUnenrollOnUnsubscribe: true };
const nobody = { enrolledCount: 0, completedCount: 0, activeCount: 0 };

const statusOf = (isActive: boolean) => (isActive ? 'active' : 'inactive');

/** Contract POST /emails/sequences: 422 for whatever is wrong with a field or a step. */
export async function createSequence(ctx: Context, { steps, ...input }: CreateSequenceInput): Promise<SequenceRow> {
  checkWords(ctx, steps);
  await checkSteps(ctx, steps);
  checkTrial(ctx);
  const given = { ...flags, description: null, ...defined(input), isActive: input.isActive ?? true };
  const own = { ...given, status: statusOf(given.isActive), version: 1, createdBy: ctx.caller.userId } as const;
  const made = ctx.insert('Sequence', own);
  const sequence = { ...made, ...nobody, steps: insertSteps(ctx, made, steps) };
  await ctx.emit({ name: 'sequence.created', record: sequence });
  return sequence;
}

const tracked = [...namesOf(SequenceFields), 'status', 'version'];
const changesOf = (before: SequenceRow, after: SequenceRow): Changes =>
  changesBetween({ ...before, steps: comparable(before.steps) }, { ...after, steps: comparable(after.steps) }, tracked);

/**
 * Contract PATCH /emails/sequences/{id}: other steps are a new version, for enrollments to come. An inactive sequence holds its
 * enrollments; what is left of them is later by that time when it is active again.
 */
export async function updateSequence(ctx: Context, id: string, { steps, ...input }: UpdateSequenceInput): Promise<SequenceRow> {
  ctx.lockRows();
  const before = await sequenceForChange(ctx, id);
  checkWords(ctx, steps ?? [], before.steps);
  const given = defined(input);
  const isActive = given.isActive ?? before.isActive;
  const wanted = { ...before, ...given, status: statusOf(isActive), steps: steps ?? before.steps } as SequenceRow;
  const changes = changesOf(before, wanted);
  if (isNothing(changes)) return before;
  const isResumed = isActive && !before.isActive;
  // What was archived while nobody needed it is missed by whoever needs it again.
  if (changes.steps || isResumed) await checkSteps(ctx, wanted.steps);
  const version = changes.steps ? before.version + 1 : before.version;
  const lines = changes.steps ? insertSteps(ctx, { id: before.id, version }, steps!) : before.steps;
  const saved = { ...ctx.update('Sequence', before, { ...given, status: statusOf(isActive), version }), steps: lines } as SequenceRow;
  await ctx.emit({ name: 'sequence.updated', record: saved, changes: changesOf(before, saved) });
  if (isResumed) await release(ctx, saved.id);
  if (!isActive && before.isActive) await hold(ctx, saved.id);
  return saved;
}

const needing = statement({
  name: 'sequencesNeedingTemplate',
  takes: { template: uuid },
  row: { id: uuid, name: text },
  text: ({ account, template }) => sql`
    select s.id, s.name from sequences s where s.account_id = ${account} and exists (
      select 1 from sequence_steps p where p.account_id = s.account_id and p.sequence_id = s.id and p.template_id = ${template}
        and (s.is_active and p.version = s.version or exists (
          select 1 from enrollments e where e.account_id = s.account_id and e.sequence_id = s.id and e.version = p.version
            and e.status in ('active', 'paused') and e.current_step < p.step_order)))
    order by s.name, s.id limit 20`,
});

/** What needs a template: active sequences, and those whose enrollments still come to a step that sends it, whatever their version. */
export const usesOfTemplate = async (ctx: Context, template: string): Promise<Use[]> =>
  (await ctx.rows(needing, { template })).map(({ id, name }) => ({ type: 'sequence', id, name }));
