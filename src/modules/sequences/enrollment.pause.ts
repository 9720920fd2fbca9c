import { check, conflict } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { checkParent } from '../../kernel/context/rows.js';
import { sql } from '../../kernel/database/sql.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { unpark } from '../messages/message.hold.js';
import { emitEnrollment } from './enrollment.service.js';
import { type EnrollmentRow, enrollmentTable } from './enrollment.table.js';
import { heldTimes, putOffTimes } from './enrollment.times.js';
import { getSequence } from './sequence.service.js';

const enrollmentRows = rowsToChange(enrollmentTable);

/** An enrollment that is under way or paused. Throws 404 where it is of another sequence than the path says, 409 where it has ended. */
async function enrollmentForChange(ctx: Context, id: string, sequenceId?: string | null): Promise<EnrollmentRow> {
  const enrollment = await ctx.forChange(enrollmentRows, id);
  checkParent(enrollmentTable.what, enrollment.sequenceId, sequenceId);
  check(enrollment.status === 'active' || enrollment.status === 'paused', () =>
    conflict('status', `is ${enrollment.status}: an ended enrollment cannot change`),
  );
  return enrollment;
}

const tracked = ['status', 'heldAt', 'nextEmailAt'];

/** Decisions, "enrollment": an active one is paused, so that no step of it comes; one that is paused stays so. */
export async function pauseEnrollment(ctx: Context, id: string, sequenceId?: string | null): Promise<EnrollmentRow> {
  const before = await enrollmentForChange(ctx, id, sequenceId);
  if (before.status === 'paused') return before;
  const heldAt = before.heldAt ?? ctx.now();
  const times = putOffTimes(before, ctx.caller.account.timezone);
  const after: EnrollmentRow = ctx.update('Enrollment', before, { ...times, status: 'paused', heldAt, dueAt: null, leasedUntil: null });
  await emitEnrollment(ctx, 'updated', after, changesBetween(before, after, tracked));
  return after;
}

/**
 * Has the next write hold the sequence of an enrollment, before the enrollment, as whoever makes it active or inactive takes them. Where it
 * was read meanwhile it must still be as it was seen, or all is tried again.
 */
function holdSequence(ctx: Context, id: string, isActive?: boolean): void {
  const account = ctx.caller.account.id;
  const own = sql`select e.sequence_id from enrollments e where e.account_id = ${account}::uuid and e.id = ${id}::uuid`;
  const held = sql`select s.is_active from sequences s where s.account_id = ${account}::uuid and s.id = (${own}) for share`;
  const rows =
    isActive === undefined ? sql`select count(*) from (${held}) s` : sql`select 1 from (${held}) s where s.is_active = ${isActive}`;
  // By its name it comes before the enrollment.
  ctx.requireRow(`active sequence of ${id}`, rows);
}

/**
 * Decisions, "enrollment": a paused one goes on where it stood, what is left of it later by the time that it was held. While its
 * sequence is inactive it stays held.
 */
export async function resumeEnrollment(ctx: Context, id: string, sequenceId?: string | null): Promise<EnrollmentRow> {
  holdSequence(ctx, validId(id, 'Enrollment'));
  const before = await enrollmentForChange(ctx, id, sequenceId);
  if (before.status === 'active') return before;
  const { isActive } = await getSequence(ctx, before.sequenceId);
  holdSequence(ctx, before.id, isActive);
  const after: EnrollmentRow = ctx.update('Enrollment', before, { status: 'active', ...(isActive && goingOn(ctx, before)) });
  await emitEnrollment(ctx, 'updated', after, changesBetween(before, after, tracked));
  if (isActive) {
    await unpark(ctx, before.sequenceId, before.id);
    ctx.wake('enrollments');
  }
  return after;
}

/** When an enrollment that was held is due from now on. */
function goingOn(ctx: Context, before: EnrollmentRow) {
  const times = heldTimes(before, ctx.caller.account.timezone, ctx.now());
  return { ...times, heldAt: null, dueAt: times.nextEmailAt };
}
