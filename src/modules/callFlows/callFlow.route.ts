import type { Clock } from '../../kernel/base/clock.js';
import type { FlowNode, GroupNode, TimingNode } from './callFlow.graph.js';
import { isOpen } from './callFlow.hours.js';
import type { Agent } from './roster.service.js';

/** The nodes of a published graph by their ids. */
export const nodesById = (graph: { nodes: readonly unknown[] }): ReadonlyMap<string, FlowNode> =>
  new Map((graph.nodes as FlowNode[]).map((node) => [node.id, node]));

/** Where a timing node leads to at a moment; its zone is the workspace's where it names none. */
export const timed = ({ hours, timezone, next, closedNext }: TimingNode, zone: string, now: Date): string =>
  isOpen(hours, timezone ?? zone, now) ? next : closedNext;

/** Whether somebody is rung: who is off, in a call or without a phone is not. */
export const isRung = (agent: Agent | undefined): agent is Agent & { did: string } => agent?.presence === 'on' && agent.did !== null;

/** A number from 0 to 1, without 1. */
const fraction = ({ bytes }: Pick<Clock, 'bytes'>) => bytes(6).readUIntBE(0, 6) / 2 ** 48;

/** More of a group are not drawn: nobody waits until so many have not answered. */
const mostDrawn = 50;

/** Members drawn by their weights, one after the other. */
function drawn(members: GroupNode['members'], clock: Pick<Clock, 'bytes'>): GroupNode['members'] {
  const left = [...members];
  const order: GroupNode['members'] = [];
  while (left.length > 0 && order.length < mostDrawn) {
    const point = fraction(clock) * left.reduce((sum, { weight }) => sum + (weight ?? 0), 0);
    let sum = 0;
    const nth = left.findIndex(({ weight }) => {
      sum += weight ?? 0;
      return point < sum;
    });
    order.push(...left.splice(Math.max(nth, 0), 1));
  }
  return order;
}

/**
 * The members of a group in the order in which they are rung: all at once in the order of the list; one after the other from the one
 * whose turn it is; or drawn by their weights, where a weight of 0 is not rung unless nobody has more.
 */
export function ringOrder({ mode, members }: GroupNode, turn: number, clock: Pick<Clock, 'bytes'>): string[] {
  const ids = (all: GroupNode['members']) => [...new Set(all.map(({ userId }) => userId))];
  if (mode === 'weighted') return ids(drawn(members, clock));
  if (mode !== 'round_robin') return ids(members);
  const first = turn % members.length;
  return ids([...members.slice(first), ...members.slice(0, first)]);
}
