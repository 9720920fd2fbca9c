import { type GraphNode, nextOf } from './automation.graph.js';
import { isOnce, waitOf } from './automation.wait.js';

type Nodes = ReadonlyMap<string, GraphNode>;

/** The nodes that no path from the start leads to. */
export function unreachableOf(start: GraphNode, nodes: readonly GraphNode[], byId: Nodes): string[] {
  const seen = new Set([start.id]);
  const open = [start];
  for (let node = open.pop(); node; node = open.pop()) {
    for (const id of nextOf(node)) {
      const next = byId.get(id);
      if (!next || seen.has(id)) continue;
      seen.add(id);
      open.push(next);
    }
  }
  return nodes.filter(({ id }) => id !== '' && !seen.has(id)).map(({ id }) => id);
}

/**
 * The nodes that come round to themselves without a wait that begins anew: what is left when nodes that nothing leads to are taken away
 * one after the other, and those that lead nowhere.
 */
export function loopsOf(nodes: readonly GraphNode[], byId: Nodes): string[] {
  const moving = new Map([...byId].filter(([, { type, config }]) => type !== 'wait' || isOnce(waitOf(config))));
  const forward = new Map([...moving].map(([id, node]) => [id, nextOf(node).filter((next) => moving.has(next))]));
  const backward = new Map<string, string[]>([...moving.keys()].map((id) => [id, []]));
  for (const [id, targets] of forward) for (const target of targets) backward.get(target)!.push(id);
  const between = peeled(peeled(new Set(moving.keys()), forward, backward), backward, forward);
  return [...new Set(nodes.map(({ id }) => id))].filter((id) => between.has(id));
}

type Links = ReadonlyMap<string, readonly string[]>;

/** Those of some nodes that are left when each that none of the left leads to is taken away. */
function peeled(from: ReadonlySet<string>, out: Links, into: Links): Set<string> {
  const left = new Set(from);
  const count = new Map([...left].map((id) => [id, into.get(id)!.filter((other) => left.has(other)).length]));
  const open = [...left].filter((id) => count.get(id) === 0);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    left.delete(id);
    for (const next of out.get(id)!) {
      if (!left.has(next)) continue;
      const n = count.get(next)! - 1;
      count.set(next, n);
      if (n === 0) open.push(next);
    }
  }
  return left;
}
