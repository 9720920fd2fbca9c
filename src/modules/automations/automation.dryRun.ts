import { YieldTimer } from '../../kernel/base/eventLoop.js';
import { jsonSize } from '../../kernel/base/jsonText.js';
import type { Context } from '../../kernel/context/context.js';
import { restRecordOf } from '../../kernel/model/restRecord.js';
import { checkReferences } from '../../kernel/operations/references.js';
import { runAndRollBack } from '../../kernel/operations/runAndRollBack.js';
import { actionPerformer, errorText, type Outcome } from '../actions/action.service.js';
import { contactLoader } from '../contacts/contact.service.js';
import { resultsAsSeenBy } from '../events/event.redaction.js';
import { planOf } from './automation.blockers.js';
import { recordSample } from './automation.catalog.js';
import type { GraphNode, Plan } from './automation.graph.js';
import { getAutomation } from './automation.service.js';
import type { AutomationRow } from './automation.table.js';
import { endOfWait, waitOf } from './automation.wait.js';
import { actedOf, actionOf, runnerStep, runTriggerOf, within } from './run.actions.js';
import { afterWait, decide, type Subject } from './run.decide.js';
import type { DryRunInput, DryRunResult, DryRunStep } from './run.explain.model.js';
import type { Started } from './run.table.js';

/** The most actions that are tried out: they are one transaction, which holds a connection and what they write. */
const mostTried = 100;

/** The characters of steps, inputs included, from which on no more are tried out: they are one answer. */
const mostCharacters = 10_000_000;

/** What the run would be about: what was given, else the contact where the event is of one, else the event's example. */
async function startedBy(ctx: Context, plan: Plan, { data }: DryRunInput, contactId: string | null): Promise<Started | null> {
  const type = plan.event ? ctx.app.registry.events.get(plan.event)?.of.type : undefined;
  if (!plan.event || !type) return null;
  const started = { event: plan.event, type, changes: null };
  if (data) return { ...started, data: data as Record<string, unknown> };
  const contact = type === 'Contact' && contactId ? await contactLoader(ctx).load(contactId) : null;
  return { ...started, data: contact ? restRecordOf(ctx.app.registry.schema(), type, contact, ctx) : recordSample(ctx, plan.event) };
}

/**
 * Contract POST /automations/{id}/dry-run: the way that a contact would take through the draft, with what each step would do: it is
 * done and taken back, so that nothing is written, told or sent. A wait is over at once, one for an event by that event; where the
 * way comes round to a node again it ends, as it does before the 101st action, and once its steps have ten million characters. 400 for a
 * contact who is not there.
 */
export async function dryRun(ctx: Context, id: string, input: DryRunInput): Promise<DryRunResult> {
  const automation = await getAutomation(ctx, id);
  await checkReferences(ctx, { contactId: 'contact' }, { contactId: input.contactId });
  const { plan, blockers } = await planOf(ctx, automation);
  const contactId = input.contactId?.toLowerCase() ?? null;
  const about = { automationId: automation.id, contactId, blockers };
  if (blockers.length > 0) return { ...about, outcome: 'blocked', steps: [] };
  const steps = await stepsOf(ctx, plan, { automation, contactId, started: await startedBy(ctx, plan, input, contactId) });
  const outputs = await resultsAsSeenBy(
    ctx,
    steps.map(({ output }) => output as Record<string, unknown> | null),
  );
  return {
    ...about,
    outcome: outcomeOf(steps),
    steps: steps.map((step, nth) => ({ ...step, output: outputs[nth]! })),
  };
}

function outcomeOf(steps: readonly DryRunStep[]): DryRunResult['outcome'] {
  const last = steps.at(-1);
  if (last?.status === 'failed') return 'failed';
  if (!last?.next) return 'completed';
  return steps.some(({ nodeId }) => nodeId === last.next) ? 'repeats' : 'limit';
}

interface Trial {
  automation: AutomationRow;
  contactId: string | null;
  started: Started | null;
}

async function stepsOf(ctx: Context, plan: Plan, trial: Trial): Promise<DryRunStep[]> {
  if (plan.kind === 'ext') {
    const output = { url: plan.extWebhookUrl, workflowId: plan.extWorkflowId };
    return [{ nodeId: runnerStep, type: runnerStep, status: 'completed', input: null, output, next: null, error: null, at: ctx.now() }];
  }
  return runAndRollBack(ctx, (outer) => tried(outer, plan, trial));
}

async function tried(outer: Context, plan: Plan, { automation, contactId, started }: Trial): Promise<DryRunStep[]> {
  const [runId, now] = [outer.app.clock.id(), outer.now()];
  const ctx = within(outer, { automation, runId });
  const run = {
    id: runId,
    automationId: automation.id,
    contactId,
    eventId: null,
    triggerEvent: plan.event,
    triggerData: started,
    startedAt: now,
  };
  const perform = actionPerformer(ctx, runTriggerOf(run, automation.name));
  const read = async () => (contactId ? ((await contactLoader(ctx).fresh(contactId)) as Record<string, unknown> | null) : null);
  // Read again after an action, which may have changed it.
  let known: ReturnType<typeof read> | undefined;
  const contact = () => (known ??= read());
  const nodes = new Map(plan.nodes.map((node) => [node.id, node]));
  const [seen, steps] = [new Set<string>(), [] as DryRunStep[]];
  const turn = new YieldTimer();
  let [at, actions, characters] = [now, 0, 0];
  for (let id = plan.startNodeId; id !== null && !seen.has(id); id = steps.at(-1)!.next) {
    if (characters >= mostCharacters) break;
    seen.add(id);
    if (turn.isDue) await turn.take();
    const node = nodes.get(id)!;
    if (node.type === 'action') {
      if (++actions > mostTried) break;
      known = undefined;
    }
    const { ends, ...step } = await stepOf(ctx, node, {
      subject: { started, contact },
      at,
      perform: () => perform(actionOf(node), steps.length + 1),
    });
    steps.push({ nodeId: id, type: node.type, input: node.config, at, ...step });
    characters += jsonSize(steps.at(-1));
    at = ends ?? at;
  }
  return steps;
}

type Foreseen = Pick<DryRunStep, 'status' | 'output' | 'next' | 'error'> & { ends?: Date };

interface Trying {
  subject: Subject;
  /** When it would be done. */
  at: Date;
  perform(): Promise<Outcome>;
}

async function stepOf(ctx: Context, node: GraphNode, { subject, at, perform }: Trying): Promise<Foreseen> {
  try {
    // What an action would make is of nothing: its ids are left out.
    if (node.type === 'action') return { ...actedOf({ ...(await perform()), made: undefined }), next: node.next, error: null };
    if (node.type !== 'wait') return { ...(await decide(ctx, node, subject)), error: null };
  } catch (error) {
    return { status: 'failed', output: null, next: null, error: errorText(error) };
  }
  const wait = waitOf(node.config)!;
  const until = endOfWait(wait, at, ctx.caller.account.timezone);
  const event = 'event' in wait ? wait.event : null;
  const ends = event === null && until ? until : undefined;
  return { status: 'completed', output: { until, event }, next: afterWait(node, false), error: null, ends };
}
