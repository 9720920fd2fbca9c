import type { Context } from '../../kernel/context/context.js';

/** What automations and workflows themselves tell of: what they start by it would start itself. */
const ownNouns = ['automation_run', 'automation_step_log', 'workflow_run'];

/** Whether an event may start a run, or end a wait: every event of the system but those of runs. */
export const isTrigger = ({ app }: Context, name: string): boolean => {
  const event = app.registry.events.get(name);
  return event !== undefined && !ownNouns.includes(event.of.noun);
};
