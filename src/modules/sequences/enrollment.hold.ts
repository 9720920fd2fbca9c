import type { Context } from '../../kernel/context/context.js';
import { instant, listOf, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { changeAll } from '../../kernel/operations/changeAll.js';
import { unpark } from '../messages/message.hold.js';
import { putOff } from './enrollment.putOff.js';
import { emitEnrollment } from './enrollment.service.js';
import { enrollmentTable } from './enrollment.table.js';

const { shape: row, columns } = enrollmentTable;

const toHold = statement({
  name: 'enrollmentsToHold',
  takes: { sequence: uuid },
  row: { id: uuid },
  locks: true,
  text: ({ account, sequence }) => sql`
    select t.id from enrollments t
    where t.account_id = ${account} and t.sequence_id = ${sequence} and t.status = 'active' and t.held_at is null order by t.id for update`,
});

const holding = statement({
  name: 'holdEnrollments',
  takes: { ids: listOf(uuid), now: instant },
  row: { ...row, wasNextAt: row.nextEmailAt },
  changes: true,
  text: ({ account, ids, now }) => sql`
    with active as (
      select e.id, e.next_email_at, ${putOff} as put_off from enrollments e where e.account_id = ${account} and e.id = any(${ids}))
    update enrollments t set held_at = ${now}, due_at = null, leased_until = null, counts_from = t.counts_from + a.put_off,
      next_email_at = a.next_email_at + a.put_off, updated_at = ${now}
    from active a where t.account_id = ${account} and t.id = a.id returning ${columns}, a.next_email_at as "wasNextAt"`,
});

/** Holds all enrollments of a sequence that has become inactive. What they were put off by until then stays so when they go on. */
export const hold = (ctx: Context, sequence: string): Promise<void> =>
  changeAll(ctx, {
    find: () => ctx.rows(toHold, { sequence }),
    change: (ids) => ctx.rows(holding, { ids, now: ctx.now() }),
    tell: ({ wasNextAt, ...after }) =>
      emitEnrollment(ctx, 'updated', after, changesBetween({ heldAt: null, nextEmailAt: wasNextAt }, after, ['heldAt', 'nextEmailAt'])),
  });

const toRelease = statement({
  name: 'enrollmentsToRelease',
  takes: { sequence: uuid },
  row: { id: uuid },
  locks: true,
  text: ({ account, sequence }) => sql`
    select t.id from enrollments t
    where t.account_id = ${account} and t.sequence_id = ${sequence} and t.status = 'active' and t.held_at is not null order by t.id for update`,
});

const releasing = statement({
  name: 'releaseEnrollments',
  takes: { ids: listOf(uuid), now: instant },
  row: { ...row, wasHeldAt: instant, wasNextAt: row.nextEmailAt },
  changes: true,
  text: ({ account, ids, now }) => sql`
    with held as (
      select e.id, e.held_at, e.next_email_at from enrollments e where e.account_id = ${account} and e.id = any(${ids}))
    update enrollments t set held_at = null, counts_from = t.counts_from + (${now} - h.held_at),
      next_email_at = h.next_email_at + (${now} - h.held_at), due_at = h.next_email_at + (${now} - h.held_at), updated_at = ${now}
    from held h where t.account_id = ${account} and t.id = h.id
    returning ${columns}, h.held_at as "wasHeldAt", h.next_email_at as "wasNextAt"`,
});

/**
 * Lets the enrollments of a sequence go on that is active again: what is left of them is later by the time that they were held. Mails of
 * steps that were done before go now.
 */
export async function release(ctx: Context, sequence: string): Promise<void> {
  await changeAll(ctx, {
    find: () => ctx.rows(toRelease, { sequence }),
    change: (ids) => ctx.rows(releasing, { ids, now: ctx.now() }),
    tell: ({ wasHeldAt, wasNextAt, ...after }) =>
      emitEnrollment(
        ctx,
        'updated',
        after,
        changesBetween({ heldAt: wasHeldAt, nextEmailAt: wasNextAt }, after, ['heldAt', 'nextEmailAt']),
      ),
  });
  await unpark(ctx, sequence);
  ctx.wake('enrollments');
}
