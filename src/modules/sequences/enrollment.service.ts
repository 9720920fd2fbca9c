import type { Context } from '../../kernel/context/context.js';
import type { Changes } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { contactLoader } from '../contacts/contact.service.js';
import type { EnrollmentList } from './enrollment.model.js';
import { type EnrollmentRow, enrollmentTable } from './enrollment.table.js';

/** Enrollments of all sequences, newest first. */
export const listEnrollments = (ctx: Context, args: EnrollmentList) => listRows<EnrollmentRow>(ctx, enrollmentTable, args);

/** One enrollment, or null. */
export const findEnrollment = (ctx: Context, id: string) => findRow<EnrollmentRow>(ctx, enrollmentTable, id);

/** One enrollment, or 404. */
export const getEnrollment = (ctx: Context, id: string) => getRow<EnrollmentRow>(ctx, enrollmentTable, id);

/** Tells of a change of an enrollment, with whom it is of. */
export async function emitEnrollment(
  ctx: Context,
  event: 'created' | 'updated',
  enrollment: EnrollmentRow & { contact?: object },
  changes?: Changes,
): Promise<void> {
  const { contactId, contact = await contactLoader(ctx).load(contactId) } = enrollment;
  const record = { ...enrollment, contact };
  await ctx.emit({ name: `enrollment.${event}`, record, changes, contactId });
}
