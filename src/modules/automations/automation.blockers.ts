import { AppError } from '../../kernel/base/errors.js';
import { shortened } from '../../kernel/base/unicode.js';
import type { Context } from '../../kernel/context/context.js';
import { refuseUntold } from '../../kernel/matching/untold.js';
import { actionKinds, checkActions } from '../actions/action.service.js';
import { isTrigger } from '../actions/action.trigger.js';
import {
  type Blocker,
  type Draft,
  type GraphNode,
  isObject,
  nextOf,
  nodesOf,
  type Plan,
  triggerOf,
  wholeNode,
} from './automation.graph.js';
import { mostBranches, mostBranchesOfGraph, mostNodes, nodeTypes } from './automation.model.js';
import { loopsOf, unreachableOf } from './automation.paths.js';
import { isOfCalendar, namesEventAndTime, waitOf } from './automation.wait.js';
import { actionOf } from './run.actions.js';
import { conditionsType } from './run.decide.js';
import { mayEnd } from './run.ways.js';

/** The most blockers that are told at once. */
const mostTold = 100;

const at = (nodeId: string | null, code: Blocker['code'], message: string): Blocker => ({ nodeId, code, message });

/** A draft as the version that it would be, and what stands against publishing it. Takes time in proportion to the graph. */
export async function planOf(ctx: Context, draft: Draft): Promise<{ plan: Plan; blockers: Blocker[] }> {
  const given = nodesOf(draft);
  const isTooLarge = given.nodes.length > mostNodes;
  const nodes = isTooLarge ? [] : given.nodes.map(wholeNode);
  const start = nodes.find(({ id }) => id === given.startNodeId);
  const { event, conditions, isOne } = triggerOf(draft, start);
  const plan: Plan = {
    kind: draft.kind,
    event,
    conditions,
    schedule: draft.schedule,
    timezone: draft.scheduleTimezone,
    startNodeId: given.startNodeId,
    nodes: draft.kind === 'ext' ? [] : nodes,
    extWebhookUrl: draft.extWebhookUrl,
    extWorkflowId: draft.extWorkflowId,
  };
  const isExt = draft.kind === 'ext';
  const found = [...ofTrigger(ctx, plan, isOne), ...(isExt ? ofRunner(ctx, plan) : ofGraph(ctx, given, plan, isTooLarge))];
  found.push(...ofConditions(ctx, plan), ...(await cleanActions(ctx, plan.nodes)));
  return { plan, blockers: found.slice(0, mostTold) };
}

function ofTrigger(ctx: Context, { event }: Plan, isOne: boolean): Blocker[] {
  const places = 'triggerEvent and triggerConditions, trigger, and the config of the start';
  if (!isOne) return [at(null, 'bad_trigger', `${places} must not name different events or conditions`)];
  if (event === null || isTrigger(ctx, event)) return [];
  return [at(null, 'bad_trigger', `${shortened(event, 100)} is no event that starts automations`)];
}

function ofRunner(ctx: Context, { extWebhookUrl }: Plan): Blocker[] {
  if (!extWebhookUrl) return [at(null, 'missing_url', 'an ext automation needs extWebhookUrl')];
  const fault = ctx.app.egress.urlFault(extWebhookUrl);
  return fault ? [at(null, 'bad_url', `extWebhookUrl ${fault}`)] : [];
}

/** What is wrong, as a blocker; what is no fault of the draft is thrown. */
function faultsOf(nodeId: string | null, code: Blocker['code'], read: () => unknown): Blocker[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return [at(nodeId, code, shortened(error.message, 500))];
    throw error;
  }
}

/** Whether a node has more branches than it may. */
const hasTooManyBranches = ({ branches }: GraphNode): boolean => branches.length > mostBranches;

/** Whether nodes have too many branches together; those that have too many by themselves do not count. */
const haveTooManyBranches = (nodes: readonly GraphNode[]): boolean =>
  nodes.reduce((sum, node) => sum + (hasTooManyBranches(node) ? 0 : node.branches.length), 0) > mostBranchesOfGraph;

/**
 * What of the conditions names no field of the record that they are about or a change that no event tells, or compares it with what it
 * cannot be. Branches of which there are too many are not read, and nothing more once as many faults are found as are told.
 */
function ofConditions(ctx: Context, { event, conditions, nodes }: Plan): Blocker[] {
  const eventType = event === null ? undefined : ctx.app.registry.events.get(event)?.of.type;
  const ofTrigger = eventType ? faultsOf(null, 'bad_condition', () => refuseUntold(ctx, eventType, conditions, 'triggerConditions')) : [];
  const found = [...ofTrigger];
  if (haveTooManyBranches(nodes)) return found;
  for (const node of nodes) {
    if (found.length >= mostTold) break;
    if (!hasTooManyBranches(node)) found.push(...ofNodeConditions(ctx, node, eventType));
  }
  return found;
}

function ofNodeConditions(ctx: Context, { id, type, config, branches }: GraphNode, eventType: string | undefined): Blocker[] {
  const own = conditionsType(config, eventType);
  if (type === 'branch')
    return branches.flatMap(({ when }, nth) => faultsOf(id, 'bad_branch', () => refuseUntold(ctx, own, when, `branches.${nth}.when`)));
  const waited = type === 'wait' && typeof config.event === 'string' ? ctx.app.registry.events.get(config.event)?.of.type : undefined;
  const about = waited ?? (type === 'condition' || type === 'goal' ? own : undefined);
  return about ? faultsOf(id, 'bad_condition', () => refuseUntold(ctx, about, config.conditions, 'config.conditions')) : [];
}

/** Gives the actions their cleaned configurations; answers what is wrong with them. */
async function cleanActions(ctx: Context, nodes: GraphNode[]): Promise<Blocker[]> {
  const acting = nodes.filter(({ type, config }) => type === 'action' && isActionType(config.type));
  try {
    const cleaned = await checkActions(
      ctx,
      acting.map((node, nth) => ({ ...actionOf(node), at: String(nth) })),
    );
    for (const [nth, { type, config }] of cleaned.entries()) acting[nth]!.config = { ...acting[nth]!.config, type, config };
    return [];
  } catch (error) {
    if (!(error instanceof AppError) || !error.details) throw error;
    return error.details.map(({ field, message }) => {
      const [nth, ...member] = field.split('.');
      return at(acting[Number(nth)]!.id, 'bad_action', shortened(`${member.join('.')} ${message}`, 500));
    });
  }
}

const isActionType = (type: unknown): boolean => typeof type === 'string' && Object.hasOwn(actionKinds, type);

type Given = ReturnType<typeof nodesOf>;

function ofGraph(ctx: Context, given: Given, { nodes, event }: Plan, isTooLarge: boolean): Blocker[] {
  if (isTooLarge) return [at(null, 'too_many_nodes', `a graph has at most ${mostNodes} nodes`)];
  const { startNodeId } = given;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const shape = given.nodes.flatMap((node, nth) => ofShape(node, nodes[nth]!));
  const tooMany = haveTooManyBranches(nodes) ? [at(null, 'bad_branch', `a graph has at most ${mostBranchesOfGraph} branches`)] : [];
  const whole = [...shape, ...tooMany, ...twinsOf(nodes), ...ofLinks(nodes, byId)];
  const start = startNodeId === null ? undefined : byId.get(startNodeId);
  if (!start)
    return [...whole, at(null, 'missing_start', nodes.length === 0 ? 'it does nothing: it has no node' : 'startNodeId names no node')];
  const triggers = nodes.filter((node) => node.type === 'trigger' && node !== start);
  return [
    ...whole,
    ...triggers.map(({ id }) => at(id, 'bad_trigger', 'a trigger can only be the start')),
    ...nodes.flatMap((node) => ofNode(ctx, node, event)),
    ...unreachableOf(start, nodes, byId).map((id) => at(id, 'unreachable_node', 'no path leads to it')),
    ...loopsOf(nodes, byId).map((id) => at(id, 'endless_loop', 'it leads back to itself without a wait that begins anew')),
  ];
}

/** What of a node is of a wrong type. */
function ofShape(given: Record<string, unknown>, { id, type }: GraphNode): Blocker[] {
  const { config, next, branches } = given;
  const faults = [
    ...(id === '' || id.length > 200 ? ['its id must be a text of 1 to 200 characters'] : []),
    ...(nodeTypes.includes(type) ? [] : [`its type must be one of ${nodeTypes.join(', ')}`]),
    ...(config === undefined || config === null || isObject(config) ? [] : ['its config must be an object']),
    ...(isLink(next) ? [] : ['its next must be the id of a node']),
    ...(branches === undefined || branches === null || areBranches(branches) ? [] : ['its branches must be a list of {when, next}']),
  ];
  return faults.map((message) => at(shortened(id, 200) || null, 'bad_graph', message));
}

const isLink = (value: unknown) => value === undefined || value === null || typeof value === 'string';
const areBranches = (value: unknown) => Array.isArray(value) && value.every((branch) => isObject(branch) && isLink(branch.next));

function twinsOf(nodes: GraphNode[]): Blocker[] {
  const [seen, told] = [new Set<string>(), new Set<string>()];
  for (const { id } of nodes) {
    if (seen.has(id) && id !== '') told.add(id);
    seen.add(id);
  }
  return [...told].map((id) => at(id, 'duplicate_node', 'two nodes have this id'));
}

const ofLinks = (nodes: GraphNode[], byId: ReadonlyMap<string, GraphNode>): Blocker[] =>
  nodes.flatMap((node) => {
    const lost = nextOf(node).filter((id) => !byId.has(id));
    return lost.map((id) => at(node.id, 'unknown_node', `it leads to ${id.slice(0, 100)}, which is no node`));
  });

/** What the config of a node lacks. */
function ofNode(ctx: Context, node: GraphNode, started: string | null): Blocker[] {
  const { id, type, config, branches, next } = node;
  if (hasTooManyBranches(node)) return [at(id, 'bad_branch', `a node has at most ${mostBranches} branches`)];
  if (type === 'condition' && (config.conditions ?? null) === null) return [at(id, 'bad_condition', 'its config needs conditions')];
  if (type === 'branch' && branches.length === 0) return [at(id, 'bad_branch', 'it needs at least one branch')];
  if (type === 'branch' && branches.some(({ when }) => when === null))
    return [at(id, 'bad_branch', 'each branch needs conditions in when; the way of all others is next')];
  if (type === 'action' && !isActionType(config.type))
    return [at(id, 'bad_action', `its config needs a type: ${Object.keys(actionKinds).join(', ')}`)];
  if (type === 'end' && (next !== null || branches.length > 0)) return [at(id, 'bad_end', 'nothing follows an end')];
  return type === 'wait' ? ofWait(ctx, node, started) : [];
}

/** What a wait lacks; without a timeout it must be for an event that may come to a run. */
function ofWait(ctx: Context, { id, config }: GraphNode, started: string | null): Blocker[] {
  const wait = waitOf(config);
  if (!wait) return [at(id, 'bad_wait', 'its config needs a span of at least a second, until, or an event')];
  if (namesEventAndTime(config))
    return [at(id, 'bad_wait', 'its config names an event and a time besides: for how long it waits at most is its timeout')];
  if ('at' in wait && !isOfCalendar(config)) return [at(id, 'bad_wait', 'until is no date-time of the calendar')];
  if (!('event' in wait)) return [];
  const { event, patience } = wait;
  if (!isTrigger(ctx, event)) return [at(id, 'bad_wait', `${shortened(event, 100)} is no event that is waited for`)];
  if (patience || mayEnd(ctx, started, event)) return [];
  const why = `${event} is neither about the record that starts a run nor about its contact`;
  return [at(id, 'endless_wait', `${why}: without a timeout the wait would never end`)];
}
