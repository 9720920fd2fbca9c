import { check, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { idOf, idsAmong } from '../../kernel/context/rows.js';
import { flag, listOf, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { checkTrial } from '../plans/plan.limits.js';
import { planOfVersion } from './automation.publish.js';
import { automationForChange } from './automation.rows.js';
import type { AutomationEnrollDetail, AutomationEnrollResult, EnrollAutomationInput } from './run.model.js';
import { startRun } from './run.start.js';

// They are held, so that a contact who is deleted meanwhile is deleted with the run: who deletes one takes it for update. Who changes one
// is not waited for. A merge is waited for as well, which may have handed a run on to one of them: that is asked once they are held.
const candidates = statement({
  name: 'contactsToAutomate',
  takes: { ids: listOf(uuid), automation: uuid },
  row: { id: uuid, isIn: flag },
  locks: true,
  text: ({ account, ids, automation }) => sql`
    with held as materialized (
      select c.id from contacts c where c.account_id = ${account} and c.id = any(${ids}) and c.deleted_at is null order by c.id for key share of c)
    select h.id, i.id is not null as "isIn"
    from held h left join contacts_in_automation(${account}, ${automation}, array(select id from held)) i (id) on i.id = h.id`,
});

/** Which of some contacts are there, and whether each is in a run of the automation already. */
export async function whoIsIn(ctx: Context, automation: string, ids: readonly string[]): Promise<Map<string, boolean>> {
  if (ids.length === 0) return new Map();
  return new Map((await ctx.rows(candidates, { ids, automation })).map(({ id, isIn }) => [id, isIn]));
}

/**
 * Contract POST /automations/{id}/bulk-enroll: starts a run for each contact, whatever the trigger asks for. Those who are in one
 * are skipped. 404 for the automation, 422 while it is not active.
 */
export async function enrollInAutomation(ctx: Context, id: string, { contactIds }: EnrollAutomationInput): Promise<AutomationEnrollResult> {
  // Who starts runs of one automation comes one after the other, each seeing whom the others started runs for.
  ctx.lockRows();
  const automation = await automationForChange(ctx, id);
  checkTrial(ctx);
  check(automation.active, () => unprocessable('id', 'not_allowed', 'names an inactive automation: publish it first'));
  const version = automation.publishedVersion!;
  const { startNodeId } = await planOfVersion(ctx, automation.id, version);
  const found = await whoIsIn(ctx, automation.id, idsAmong(contactIds));
  const details: AutomationEnrollDetail[] = [];
  for (const contactId of contactIds) {
    const contact = idOf(contactId);
    const isIn = found.get(contact);
    if (isIn === false) {
      found.set(contact, true);
      const { id: runId } = await startRun(ctx, { automation, version, startNodeId, contactId: contact, causes: ctx.request.causes });
      details.push({ contactId, status: 'enrolled', reason: null, runId });
    } else details.push({ contactId, status: 'skipped', reason: isIn ? 'already_enrolled' : 'not_found', runId: null });
  }
  const enrolled = details.filter(({ status }) => status === 'enrolled').length;
  return { automationId: automation.id, enrolled, skipped: details.length - enrolled, details };
}
