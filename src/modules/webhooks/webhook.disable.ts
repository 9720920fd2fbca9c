import { dayMs } from '../../kernel/base/durations.js';
import type { Context } from '../../kernel/context/context.js';
import { flag, instant, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { inOwnTransaction } from '../../kernel/operations/ownTransaction.js';
import { mailTries, mailUnlessRefused } from '../../vendors/email/mailJob.js';
import { applyChange, findWebhookForChange } from './webhook.service.js';

/** For so long every attempt must have failed before a delivery whose last attempt fails has its webhook switched off. */
const patienceMs = 5 * dayMs;

/** Whether nothing but failures has come of a webhook for so long that it is switched off. */
export const isHopeless = (failingSince: Date | null | undefined, now: Date): boolean =>
  Boolean(failingSince && now.getTime() - failingSince.getTime() >= patienceMs);

const triedLately = statement({
  name: 'isWebhookTriedLately',
  takes: { webhook: uuid, madeAfter: instant, after: instant, until: instant },
  row: { isTried: flag },
  text: ({ account, webhook, madeAfter, after, until }) => sql`
    select exists (
      select from webhook_deliveries d
      where d.account_id = ${account} and d.webhook_id = ${webhook} and d.created_at > ${madeAfter}
        and d.last_attempt_at > ${after} and d.last_attempt_at <= ${until}) as "isTried"`,
});

/** Whether a webhook was tried one to five days before a moment: else what fails then may be the first after a quiet time. */
export async function wasTriedLately(ctx: Context, webhook: string, at: Date): Promise<boolean> {
  const before = (ms: number) => new Date(at.getTime() - ms);
  // No delivery is under way for longer than three days and some hours.
  const limits = { madeAfter: before(patienceMs + 4 * dayMs), after: before(patienceMs), until: before(dayMs) };
  const [row] = await ctx.rows(triedLately, { webhook, ...limits });
  return row!.isTried;
}

/** All of them, or the one with an address. */
const admins = statement({
  name: 'adminsToTell',
  takes: { email: nullable(text) },
  row: { email: text },
  text: ({ account, email }) => sql`
    select u.email from memberships m join users u on u.id = m.user_id
    where m.account_id = ${account} and m.status = 'active' and m.role in ('owner', 'admin') and u.email = coalesce(${email}, u.email)
    order by u.email limit 100`,
});

/** Switches a webhook off, cancels what waits to be sent to it, and has the owners and admins told by mail. */
export const switchOff = (ctx: Context, id: string): Promise<void> =>
  inOwnTransaction(ctx, async (inside) => {
    inside.lockRows();
    const before = await findWebhookForChange(inside, id);
    if (!before?.isActive || !isHopeless(before.failingSince, inside.now())) return;
    await applyChange(inside, before, { isActive: false, disabledAt: inside.now() });
    const { host } = new URL(before.url);
    for (const { email } of await inside.rows(admins, { email: null }))
      await inside.enqueue('tellOfSwitchedOff', { email, host, id }, mailTries);
  });

interface SwitchedOff {
  email: string;
  host: string;
  id: string;
}

/**
 * The mail that tells of a webhook that was switched off: one job a person, so that a fault repeats no other's. Who was removed meanwhile,
 * or is no admin any more, is told nothing.
 */
export async function tellOfSwitchedOff(ctx: Context, { email, host, id }: SwitchedOff): Promise<void> {
  if ((await ctx.rows(admins, { email })).length === 0) return;
  await mailUnlessRefused(ctx, {
    to: email,
    subject: `The webhook to ${host} was switched off`,
    text: `Every attempt of the last five days to send events to ${host} has failed, so the webhook ${id} was switched off and what waited was cancelled.\n\nOnce the address answers again, switch it on (PATCH /webhooks/manage/${id} with isActive true) and replay what was missed (POST /webhooks/replay with webhookId ${id}, since, and status cancelled, then failed; the same again while it answers hasMore).`,
  });
}
