import type { Context } from '../../kernel/context/context.js';
import { contactAfterEvent, type RunTrigger } from '../actions/action.service.js';
import type { RunRow } from './run.table.js';

/** What actions need to know of the run that they are of, be it one that is only tried. */
export type ActingRun = Pick<RunRow, 'id' | 'workflowId' | 'workflowName' | 'contactId' | 'changes'> &
  Pick<RunRow, 'triggerEvent' | 'triggerData' | 'eventId' | 'eventAt' | 'entityType'>;

/** The context in which a run does something: in the name of its workflow, and told with the run behind it. */
export const within = (ctx: Context, { id: runId, workflowId: id, workflowName: name }: ActingRun): Context =>
  ctx.within({ kind: 'workflow', id, runId }, { kind: 'workflow', id, name });

/** What the actions of a run are done for. */
export const runTriggerOf = (run: ActingRun): RunTrigger => ({
  run: { kind: 'workflow', id: run.workflowId, runId: run.id, name: run.workflowName },
  triggeredBy: {
    event: run.triggerEvent,
    eventId: run.eventId,
    at: run.eventAt,
    type: run.entityType,
    data: run.triggerData ?? {},
    changes: run.changes,
  },
  contactId: contactAfterEvent(run.triggerEvent, run.contactId),
});
