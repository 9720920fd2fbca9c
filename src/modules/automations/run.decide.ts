import { YieldTimer } from '../../kernel/base/eventLoop.js';
import { jsonSize } from '../../kernel/base/jsonText.js';
import type { Context } from '../../kernel/context/context.js';
import { type ChangedRecord, matcherOf } from '../../kernel/matching/matcher.js';
import { restRecordOf } from '../../kernel/model/restRecord.js';
import type { Branch, GraphNode } from './automation.graph.js';
import type { Started } from './run.table.js';

/** What a step came to, and where the run goes on: nowhere is its end. */
export interface Decision {
  status: 'completed' | 'skipped';
  output: Record<string, unknown> | null;
  next: string | null;
}

/** Whom and what a run is about. */
export interface Subject {
  started: Started | null;
  /** The contact as it is now; null where the run is for nobody, or the contact is gone. */
  contact(): Promise<Record<string, unknown> | null>;
}

/** The type of the record that the conditions of a node are about: that of the event, or the contact where there is none or it says so. */
export const conditionsType = (config: Record<string, unknown>, eventType: string | undefined): string =>
  config.of === 'contact' ? 'Contact' : (eventType ?? 'Contact');

/** What the conditions of a node are evaluated over: a contact as it is now, anything else as the event told it. */
async function recordOfSubject(ctx: Context, type: string, { started, contact }: Subject): Promise<ChangedRecord> {
  const changes = started?.type === type ? started.changes : null;
  if (type !== 'Contact') return { data: started?.data ?? {}, changes };
  const row = await contact();
  return {
    data: row ? restRecordOf(ctx.app.registry.schema(), 'Contact', row, ctx) : (started?.type === 'Contact' && started.data) || {},
    changes,
  };
}

/** Evaluates conditions over what a node is about, which is read once. */
async function evaluatorOf(ctx: Context, node: GraphNode, subject: Subject) {
  const type = conditionsType(node.config, subject.started?.type);
  const record = await recordOfSubject(ctx, type, subject);
  return (given: unknown, at: string, longest?: number) => matcherOf(ctx, type, given, at).evaluate(record, longest);
}

const words = { yes: [true, 'true', 'yes'], no: [false, 'false', 'no'] } as const;

/** The branch of one of the words by which a node knows its ways. */
const branchOf = ({ branches }: GraphNode, which: readonly unknown[]): Branch | undefined =>
  branches.find(({ when }) => which.includes(when));

/** Where a run goes on after a wait: one that is late by the way of the timeout, where there is one, which may be its end. */
export const afterWait = (node: GraphNode, isLate: boolean): string | null => ((isLate && branchOf(node, ['timeout'])) || node).next;

/** Whether conditions hold: on by the branch of the answer, else by `next`, which is the way of what has no branch. */
async function condition(ctx: Context, node: GraphNode, subject: Subject): Promise<Decision> {
  const evaluate = await evaluatorOf(ctx, node, subject);
  const { holds: isMet, conditions } = evaluate(node.config.conditions, 'config.conditions');
  const [yes, no] = [branchOf(node, words.yes), branchOf(node, words.no)];
  const other = isMet ? no : yes;
  const way = isMet ? yes : no;
  // With one branch alone `next` is the other way; with none, those who do not meet the conditions end here.
  const next = way ? way.next : isMet || other ? node.next : null;
  return { status: 'completed', output: { holds: isMet, conditions, next }, next };
}

/** Once the branches of a node have told so many characters, the later ones tell less of each value. */
const mostAtLength = 250_000;
/** The characters of each value that are told then: enough for a whole id or moment. */
const longestBeyond = 40;

/** The first of the branches whose conditions hold, else `next`. */
async function branch(ctx: Context, node: GraphNode, subject: Subject): Promise<Decision> {
  const looked: object[] = [];
  const evaluate = await evaluatorOf(ctx, node, subject);
  const turn = new YieldTimer();
  let size = 0;
  for (const [nth, { when, next }] of node.branches.entries()) {
    // A branch may have 200 conditions, which are read and evaluated.
    if (turn.isDue) await turn.take();
    const longest = size < mostAtLength ? undefined : longestBeyond;
    const { holds: isMet, conditions } = evaluate(when, `branches.${nth}.when`, longest);
    size += jsonSize(conditions);
    looked.push({ branch: nth, holds: isMet, conditions });
    if (isMet) return { status: 'completed', output: { branch: nth, branches: looked, next }, next };
  }
  return { status: 'completed', output: { branch: null, branches: looked, next: node.next }, next: node.next };
}

/** A goal counts where its conditions hold, always where it has none; the run goes on either way. */
async function goal(ctx: Context, node: GraphNode, subject: Subject): Promise<Decision> {
  const evaluate = await evaluatorOf(ctx, node, subject);
  const { holds: isMet, conditions } = evaluate(node.config.conditions ?? null, 'config.conditions');
  return { status: isMet ? 'completed' : 'skipped', output: { reached: isMet, conditions, next: node.next }, next: node.next };
}

/** What a node that neither acts nor waits comes to. */
export async function decide(ctx: Context, node: GraphNode, subject: Subject): Promise<Decision> {
  if (node.type === 'condition') return condition(ctx, node, subject);
  if (node.type === 'branch') return branch(ctx, node, subject);
  if (node.type === 'goal') return goal(ctx, node, subject);
  return { status: 'completed', output: null, next: node.type === 'end' ? null : node.next };
}
