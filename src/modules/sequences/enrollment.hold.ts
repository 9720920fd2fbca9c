import { YieldTimer } from '../../kernel/base/eventLoop.js';
import type { Context } from '../../kernel/context/context.js';
import { instant, integer, listOf, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { changeAll, lockedUpTo } from '../../kernel/operations/changeAll.js';
import { unpark } from '../messages/message.hold.js';
import { emitEnrollment } from './enrollment.service.js';
import { type EnrollmentRow, enrollmentTable } from './enrollment.table.js';
import { heldTimes, putOffTimes, type Times } from './enrollment.times.js';

const { shape: row, columns } = enrollmentTable;

const toRetime = statement({
  name: 'enrollmentsToRetime',
  takes: { ids: listOf(uuid) },
  row,
  text: ({ account, ids }) => sql`select ${columns} from enrollments t where t.account_id = ${account} and t.id = any(${ids})`,
});

const takes = { ids: listOf(uuid), countsFrom: listOf(text), nextEmailAt: listOf(text), now: instant };

/** Enrollments and their new times, as a statement takes them: the clocks of the workspace say these, which the database may not know. */
async function retimed(ctx: Context, ids: string[], timesOf: (row: EnrollmentRow, zone: string, now: Date) => Times) {
  const given = { ids: [] as string[], countsFrom: [] as string[], nextEmailAt: [] as string[], now: ctx.now() };
  const turn = new YieldTimer();
  for (const enrollment of await ctx.rows(toRetime, { ids })) {
    if (turn.isDue) await turn.take();
    const { countsFrom, nextEmailAt } = timesOf(enrollment, ctx.caller.account.timezone, given.now);
    given.ids.push(enrollment.id);
    given.countsFrom.push(countsFrom.toISOString());
    given.nextEmailAt.push(nextEmailAt?.toISOString() ?? '');
  }
  return given;
}

/** Enrollments as they were, each with its new times. */
const withNewTimes = (account: Sql, { ids, countsFrom, nextEmailAt }: Record<Exclude<keyof typeof takes, 'now'>, Sql>): Sql => sql`
  select e.id, e.held_at, e.next_email_at, n.counts_from::timestamptz as counts_from, nullif(n.next_at, '')::timestamptz as next_at
  from enrollments e join unnest(${ids}, ${countsFrom}, ${nextEmailAt}) n(id, counts_from, next_at) on n.id = e.id
  where e.account_id = ${account}`;

const toHold = statement({
  name: 'enrollmentsToHold',
  takes: { sequence: uuid, most: nullable(integer) },
  row: { id: uuid },
  locks: true,
  text: ({ account, sequence, most }) => sql`
    select t.id from enrollments t
    where t.account_id = ${account} and t.sequence_id = ${sequence} and t.status = 'active' and t.held_at is null ${lockedUpTo(most)}`,
});

const holding = statement({
  name: 'holdEnrollments',
  takes,
  row: { ...row, wasNextAt: row.nextEmailAt },
  changes: true,
  text: ({ account, now, ...given }) => sql`
    with active as (${withNewTimes(account, given)})
    update enrollments t set held_at = ${now}, due_at = null, leased_until = null, counts_from = a.counts_from,
      next_email_at = a.next_at, updated_at = ${now}
    from active a where t.account_id = ${account} and t.id = a.id returning ${columns}, a.next_email_at as "wasNextAt"`,
});

/** Holds all enrollments of a sequence that has become inactive. What they were put off by until then stays so when they go on. */
export const hold = (ctx: Context, sequence: string): Promise<void> =>
  changeAll(ctx, {
    find: (most) => ctx.rows(toHold, { sequence, most }),
    change: async (ids) => ctx.rows(holding, await retimed(ctx, ids, putOffTimes)),
    tell: ({ wasNextAt, ...after }) =>
      emitEnrollment(ctx, 'updated', after, changesBetween({ heldAt: null, nextEmailAt: wasNextAt }, after, ['heldAt', 'nextEmailAt'])),
  });

const toRelease = statement({
  name: 'enrollmentsToRelease',
  takes: { sequence: uuid, most: nullable(integer) },
  row: { id: uuid },
  locks: true,
  text: ({ account, sequence, most }) => sql`
    select t.id from enrollments t
    where t.account_id = ${account} and t.sequence_id = ${sequence} and t.status = 'active' and t.held_at is not null ${lockedUpTo(most)}`,
});

const releasing = statement({
  name: 'releaseEnrollments',
  takes,
  row: { ...row, wasHeldAt: instant, wasNextAt: row.nextEmailAt },
  changes: true,
  text: ({ account, now, ...given }) => sql`
    with held as (${withNewTimes(account, given)})
    update enrollments t set held_at = null, counts_from = h.counts_from, next_email_at = h.next_at, due_at = h.next_at, updated_at = ${now}
    from held h where t.account_id = ${account} and t.id = h.id
    returning ${columns}, h.held_at as "wasHeldAt", h.next_email_at as "wasNextAt"`,
});

/**
 * Lets the enrollments of a sequence go on that is active again: what is left of them is later by the time that they were held. Mails of
 * steps that were done before go now.
 */
export async function release(ctx: Context, sequence: string): Promise<void> {
  await changeAll(ctx, {
    find: (most) => ctx.rows(toRelease, { sequence, most }),
    change: async (ids) => ctx.rows(releasing, await retimed(ctx, ids, heldTimes)),
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
