import { elapsed } from '../../kernel/base/clock.js';
import { YieldTimer } from '../../kernel/base/eventLoop.js';
import { jsonSize } from '../../kernel/base/jsonText.js';
import type { Context } from '../../kernel/context/context.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { withoutPeople } from '../actions/action.kinds.js';
import { actionPerformer, readContact } from '../actions/action.service.js';
import type { GraphNode, Plan } from './automation.graph.js';
import { endOfWait, waitOf } from './automation.wait.js';
import { actedOf, actionOf, callRunner, runnerStep, runTriggerOf } from './run.actions.js';
import { beginningOf, seenInFeed } from './run.begin.js';
import { afterWait, decide, type Subject } from './run.decide.js';
import { failWaits } from './run.end.js';
import type { AutomationRunEnd, AutomationStepStatus, AutomationStepType } from './run.model.js';
import { changesOfRun, emitRun } from './run.start.js';
import { type DueRun, type RunRow, type RunState, type StepRow, stepRows } from './run.table.js';

/** The most actions of one transaction, so that it is short. */
export const mostActions = 20;
/** The most steps of one transaction, whose log waits in memory until its end. */
const mostLogged = 500;
/** The characters of steps, inputs included, from which on a transaction takes no more: a branch may log megabytes. */
const mostLoggedCharacters = 1_000_000;
/** The most steps of one run: waits may lead back to where it was. */
const mostSteps = 10_000;

/** How far a burst goes. */
export interface Pace {
  mostActions: number;
  /** The node at which the run is to fail, and why. */
  fault?: { nodeId: string; message: string };
  /** Where it is, for whoever has to know after it. */
  progress?: Progress;
}

/** Where a burst is. */
export interface Progress {
  actions: number;
  nodeId: string | null;
  /** The waits that are over since the run last rested, those of earlier bursts included. */
  passed?: ReadonlySet<string>;
  /** Whether it began to wait for an event, and is to look what came meanwhile. */
  isWaiting?: boolean;
}

/** A step as it is logged. */
interface Step {
  type: keyof typeof AutomationStepType;
  status: keyof typeof AutomationStepStatus;
  output: Record<string, unknown> | null;
  next: string | null;
  error?: string;
}

type Changed = Partial<Omit<RunRow, 'waitingUnplaced'>> & { waitingUnplaced?: string[]; leasedUntil?: null };

/** A run on its way through its plan, in one unit of work. */
export class RunExecutor {
  readonly #nodes: ReadonlyMap<string, GraphNode>;
  readonly #logged: Omit<StepRow, 'id'>[] = [];
  #loggedCharacters = 0;
  #actions = 0;
  #steps: number;
  #goal: string | null;
  /** The waits that are over since the run last rested. */
  readonly #passed: Set<string>;
  /** Whether a wait for an event has begun. */
  #isToLook = false;
  #contact?: Promise<Record<string, unknown> | null>;
  readonly #subject: Subject;
  readonly #perform: ReturnType<typeof actionPerformer>;

  constructor(
    private readonly ctx: Context,
    private readonly run: DueRun,
    private readonly plan: Plan,
    private readonly pace: Pace,
  ) {
    this.#nodes = new Map(plan.nodes.map((node) => [node.id, node]));
    this.#passed = new Set(pace.progress?.passed);
    if (pace.progress) pace.progress.passed = this.#passed;
    this.#steps = run.steps;
    this.#goal = run.goalNodeId;
    this.#perform = actionPerformer(ctx, runTriggerOf(run, run.automationName), () => this.#contactNow());
    this.#subject = { started: run.triggerData, contact: () => this.#contactNow() };
  }

  /** Goes to the next wait or to the end, and keeps where it is; answers whether there is more to do at once. */
  async go(): Promise<boolean> {
    const { run } = this;
    if (run.isDeleted) return this.#cancel('automation_deleted');
    if (run.contactId && !(await this.#contactNow())) return this.#cancel('contact_deleted');
    if (this.plan.kind === 'ext') return this.#callRunner();
    let at = run.currentNodeId;
    if (run.status === 'waiting') {
      const next = await this.#resume(this.#nodes.get(at!)!);
      if (next === undefined) return false;
      this.#passed.add(at!);
      at = next;
    }
    const turn = new YieldTimer();
    while (at !== null) {
      // Steps that neither act nor wait wait for nothing else.
      if (turn.isDue) await turn.take();
      const node: GraphNode = this.#nodes.get(at)!;
      if (this.#steps >= mostSteps) return this.#end('failed', 'too_many_steps', `It took more than ${mostSteps} steps`);
      if (this.#isFull(node)) return this.#pause(node);
      const step = await this.#do(node);
      if (!step) return this.#isToLook;
      if (step.status === 'failed') return this.#end('failed', 'failed', step.error);
      at = step.next;
    }
    return this.#end('success', 'completed');
  }

  /** Whether the transaction has as many steps, as large a log, or as many actions, as it may. Its first step is always done. */
  #isFull({ type }: GraphNode): boolean {
    if (this.#logged.length >= mostLogged || this.#loggedCharacters >= mostLoggedCharacters) return true;
    return type === 'action' && this.#actions >= this.pace.mostActions;
  }

  /** The contact as it is now; read again after an action, which may have changed it. */
  #contactNow() {
    this.#contact ??= readContact(this.ctx, this.run.contactId);
    return this.#contact;
  }

  /** Does a node; undefined where the run waits at it from now on. */
  async #do(node: GraphNode): Promise<Step | undefined> {
    const { progress, fault } = this.pace;
    if (progress) progress.nodeId = node.id;
    const begun = this.ctx.now();
    if (fault?.nodeId === node.id)
      return this.#log(node, begun, { type: node.type, status: 'failed', output: null, next: null, error: fault.message });
    if (node.type === 'wait') return this.#wait(node, begun);
    if (node.type === 'action') {
      this.#actions++;
      if (progress) progress.actions = this.#actions;
      const { status, output } = actedOf(await this.#perform(actionOf(node), this.#steps + 1));
      this.#contact = undefined;
      return this.#log(node, begun, { type: 'action', status, output, next: node.next });
    }
    const { status, output, next } = await decide(this.ctx, node, this.#subject);
    if (node.type === 'goal' && status === 'completed') this.#goal = node.id;
    return this.#log(node, begun, { type: node.type, status, output, next });
  }

  #log({ id: nodeId, config }: Pick<GraphNode, 'id' | 'config'>, startedAt: Date, step: Step): Step {
    const isOver = step.status !== 'waiting';
    const completedAt = isOver ? this.ctx.now() : null;
    this.#loggedCharacters += jsonSize([config, step.output]);
    this.#logged.push({
      automationId: this.run.automationId,
      runId: this.run.id,
      nodeId,
      nth: ++this.#steps,
      type: step.type,
      status: step.status,
      input: config,
      output: step.output,
      error: step.error ?? null,
      startedAt,
      completedAt,
      durationMs: completedAt && elapsed(startedAt, completedAt),
    });
    return step;
  }

  /** Waits at a node, unless what it waits for is past, or can never come. */
  async #wait(node: GraphNode, now: Date): Promise<Step | undefined> {
    const wait = waitOf(node.config)!;
    const waitUntil = endOfWait(wait, now, this.ctx.caller.account.timezone);
    if (waitUntil && waitUntil <= now) return this.#pass(node, now);
    const begins = 'event' in wait ? await beginningOf(this.ctx, this.run, wait) : nowhere;
    if (typeof begins === 'string') return this.#failWait(node, now, begins);
    const waitEvent = 'event' in wait ? wait.event : null;
    this.#log(node, now, { type: 'wait', status: 'waiting', output: { until: waitUntil, event: waitEvent }, next: null });
    const begun = { waitingSince: now, waitingAfter: begins.after, waitingUnplaced: [...begins.unplaced] };
    const resting = { status: 'waiting', currentNodeId: node.id, waitUntil, waitEvent, ...begun, state: null, dueAt: waitUntil } as const;
    if (waitEvent === null) await this.#keep(resting);
    else await this.#announce({ ...resting, dueAt: now });
    return undefined;
  }

  /**
   * Goes on at a wait whose instant is past. One to which the run comes round without having rested fails: versions that were published
   * while they could go round so would act thousands of times at once.
   */
  #pass(node: GraphNode, now: Date): Step {
    if (this.#passed.has(node.id)) return this.#failWait(node, now, 'It came round to this wait at once: its instant is past');
    this.#passed.add(node.id);
    return this.#log(node, now, { type: 'wait', status: 'completed', output: { ended: 'time' }, next: node.next });
  }

  #failWait(node: GraphNode, now: Date, error: string): Step {
    return this.#log(node, now, { type: 'wait', status: 'failed', output: null, next: null, error });
  }

  /** Keeps a wait for an event, to look once that is committed what came meanwhile. */
  async #announce(waiting: Changed): Promise<void> {
    this.#isToLook = true;
    if (this.pace.progress) this.pace.progress.isWaiting = true;
    await this.#write({ ...waiting, tries: 0 });
  }

  /** Ends a wait; undefined where it is not over, or failed. Answers where the run goes on. */
  async #resume(node: GraphNode): Promise<string | null | undefined> {
    const { waitUntil, waitEvent, waitStepId, state, dueAt } = this.run;
    const now = this.ctx.now();
    const isOut = waitUntil !== null && waitUntil <= now;
    // One that has rested may be due at another moment too, as after a fault; so are those that rested before this was kept of them.
    const isBegun = waitEvent !== null && !state?.rested && dueAt?.getTime() !== waitUntil?.getTime();
    const { outcome, restMs } = waitEvent === null ? {} : await seenInFeed(this.ctx, this.run, { isBegun, isOut });
    if (outcome && !outcome.arrived) {
      await failWaits(this.ctx, [outcome.id]);
      return undefined;
    }
    const arrived = state?.arrived ?? outcome?.arrived;
    if (!arrived && (!isOut || restMs)) {
      const rested = waitEvent === null || (restMs && isBegun) ? null : { rested: true };
      return this.#rest(restMs ? new Date(now.getTime() + restMs) : waitUntil, rested);
    }
    const isLate = !arrived && 'event' in waitOf(node.config)!;
    const next = afterWait(node, isLate);
    await this.#settleWait(waitStepId!, 'completed', { ended: arrived ? 'event' : isLate ? 'timeout' : 'time', ...arrived, next });
    return next;
  }

  /** Gives back a run that goes on waiting, until it is looked at again. */
  #rest(dueAt: Date | null, state: RunState | null): undefined {
    this.ctx.update('AutomationRun', this.run, { dueAt, leasedUntil: null, attempt: this.run.attempt + 1, state });
  }

  /** Says in the log what became of the wait that the run was in. */
  async #settleWait(id: string, status: 'completed' | 'cancelled', more: object = {}): Promise<void> {
    const step = await this.ctx.forChange(stepRows, id);
    const completedAt = this.ctx.now();
    const done = { status, output: { ...step.output, ...more }, completedAt, durationMs: elapsed(step.startedAt, completedAt) };
    const record = { ...step, ...this.ctx.update('AutomationStepLog', step, done) };
    const changes = changesBetween(step, record, Object.keys(done));
    await this.ctx.emit({ name: 'automation_step_log.updated', record, changes, logged: false });
  }

  async #cancel(reason: 'automation_deleted' | 'contact_deleted'): Promise<false> {
    if (this.run.waitStepId) await this.#settleWait(this.run.waitStepId, 'cancelled');
    return this.#end('cancelled', reason);
  }

  /** Calls the runner of an ext automation, once. */
  async #callRunner(): Promise<boolean> {
    const begun = this.ctx.now();
    const output = await callRunner(this.ctx, this.run, this.plan);
    this.#log({ id: runnerStep, config: { url: this.plan.extWebhookUrl, workflowId: this.plan.extWorkflowId } }, begun, {
      type: runnerStep,
      status: 'completed',
      output,
      next: null,
    });
    return this.#end('success', 'completed');
  }

  /** Stops before a node, to go on with it in another transaction. */
  async #pause({ id }: GraphNode): Promise<boolean> {
    const resting = { status: 'running', currentNodeId: id, ...noWait, tries: 0 } as const;
    await this.#write({ ...resting, dueAt: this.ctx.now() });
    return true;
  }

  async #end(status: 'success' | 'failed' | 'cancelled', endReason: keyof typeof AutomationRunEnd, error?: string): Promise<false> {
    const completedAt = this.ctx.now();
    const durationMs = elapsed(this.run.startedAt, completedAt);
    await this.#keep({ status, endReason, error: error ?? null, completedAt, durationMs, currentNodeId: null, dueAt: null, ...noWait });
    return false;
  }

  /** Keeps where the run is, and gives it back. */
  #keep(changed: Changed): Promise<void> {
    return this.#write({ ...changed, tries: 0, attempt: this.run.attempt + 1, leasedUntil: null });
  }

  async #write(changed: Changed): Promise<void> {
    const { ctx, run } = this;
    // Their ids are made here: one that is given is looked for among all records.
    const logged: StepRow[] = this.#logged.map((step) => ({ ...step, id: ctx.insert('AutomationStepLog', step).id }));
    const waitStepId = changed.status === 'waiting' ? logged.at(-1)!.id : null;
    const given = { ...changed, waitStepId, steps: this.#steps, goalNodeId: this.#goal };
    const after: RunRow = ctx.update('AutomationRun', run, given);
    for (const step of logged) {
      const record = { ...step, output: withoutPeople(step.output) };
      await ctx.emit({ name: 'automation_step_log.created', record, logged: false });
    }
    const changes = changesOfRun(run, after);
    if (!isNothing(changes)) await emitRun(ctx, 'updated', after, changes);
  }
}

/** Of a wait for a moment, which looks for no event. */
const nowhere = { after: null, unplaced: [] };
const noWait = { waitUntil: null, waitEvent: null, waitingSince: null, waitingAfter: null, waitingUnplaced: [], state: null };
