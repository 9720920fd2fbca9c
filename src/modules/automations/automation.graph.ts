import { isDeepStrictEqual } from 'node:util';
import { check, invalidField, unprocessable } from '../../kernel/base/errors.js';
import { type AutomationBlocker, type AutomationFields, mostNodes, type nodeTypes } from './automation.model.js';

export type NodeType = (typeof nodeTypes)[number];

/** A way out of a node: `when` is what must hold for it, or the word by which the node knows it. */
export interface Branch {
  when: unknown;
  next: string | null;
}

/** A node of a graph (decisions, "automation graph"), with everything that may be left out. */
export interface GraphNode {
  id: string;
  type: NodeType;
  config: Record<string, unknown>;
  next: string | null;
  branches: Branch[];
}

/** What a version of an automation is: what starts it, and what its runs do. */
export interface Plan {
  kind: 'native' | 'ext';
  event: string | null;
  conditions: unknown;
  schedule: string | null;
  timezone: string | null;
  startNodeId: string | null;
  nodes: GraphNode[];
  extWebhookUrl: string | null;
  extWorkflowId: string | null;
}

export type Draft = Pick<AutomationFields, Exclude<keyof AutomationFields, 'name' | 'description' | 'folderId' | 'graphVersion'>>;

/** What is wrong with a draft, and at which node; null where it is the automation itself. */
export type Blocker = Pick<AutomationBlocker, 'nodeId' | 'code' | 'message'>;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Given = Partial<Pick<Draft, 'graph' | 'nodes' | 'actions'>>;

const listsOf = ({ graph, nodes, actions }: Given): [field: string, list: unknown][] =>
  Object.entries({ 'graph.nodes': graph?.nodes, nodes, actions }).filter(([, list]) => list !== undefined && list !== null);

/** Throws 400 where the parts of a draft are of other types than they must be. A draft may be unfinished. */
export function checkDraft(draft: Given): void {
  for (const [field, list] of listsOf(draft)) {
    if (!Array.isArray(list)) throw invalidField(field, 'invalid_type', 'must be a list');
    const nth = list.slice(0, mostNodes).findIndex((item) => !isObject(item));
    if (nth >= 0) throw invalidField(`${field}.${nth}`, 'invalid_type', 'must be an object');
  }
}

/** Throws 422 where a draft has more than the most nodes. */
export function checkSize(draft: Given): void {
  for (const [field, list] of listsOf(draft))
    check((list as unknown[]).length <= mostNodes, () => unprocessable(field, 'too_many', `must have at most ${mostNodes} items`));
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);

/** The nodes of a draft as they were given: those of its graph, its own, or its actions one after the other. */
export function nodesOf({ graph, nodes, startNodeId, actions }: Draft): { startNodeId: string | null; nodes: Record<string, unknown>[] } {
  if (graph) {
    const own = (graph.nodes ?? nodes ?? []) as Record<string, unknown>[];
    return { startNodeId: textOf(graph.startNodeId) ?? startNodeId, nodes: own };
  }
  if (nodes) return { startNodeId, nodes };
  const steps = (actions ?? []).map((action, nth, all) => ({
    id: `action-${nth + 1}`,
    type: 'action',
    config: action,
    next: nth + 1 < all.length ? `action-${nth + 2}` : null,
  }));
  return { startNodeId: steps[0]?.id ?? null, nodes: steps };
}

/** A node with everything that it may leave out; what is of a wrong type is left out, and a blocker. */
export const wholeNode = ({ id, type, config, next, branches }: Record<string, unknown>): GraphNode => ({
  id: textOf(id) ?? '',
  type: type as NodeType,
  config: isObject(config) ? config : {},
  next: textOf(next),
  branches: Array.isArray(branches)
    ? branches.filter(isObject).map(({ when, next: to }) => ({ when: when ?? null, next: textOf(to) }))
    : [],
});

/** The nodes that a node leads to. */
export const nextOf = ({ next, branches }: GraphNode): string[] =>
  [next, ...branches.map((branch) => branch.next)].filter((id): id is string => id !== null);

type Said = Partial<Record<'event' | 'conditions', unknown>>;

/**
 * What starts a draft: the event and its conditions, wherever they are said. They are handed on as they are, for whoever says what is
 * wrong with them; `isOne` says whether all places say the same.
 */
export function triggerOf({ triggerEvent, trigger, triggerConditions }: Draft, start: GraphNode | undefined) {
  const places = [
    { event: triggerEvent, conditions: triggerConditions },
    trigger ?? {},
    start?.type === 'trigger' ? start.config : {},
  ] as Said[];
  const said = (member: keyof Said) => places.map((place) => place[member]).filter((value) => value !== null && value !== undefined);
  const [events, conditions] = [said('event'), said('conditions')];
  const isOne = [events, conditions].every(([first, ...more]) => more.every((other) => isDeepStrictEqual(first, other)));
  return {
    event: textOf(events[0]),
    conditions: conditions[0] ?? null,
    isOne: isOne && (events.length === 0 || textOf(events[0]) !== null),
  };
}
