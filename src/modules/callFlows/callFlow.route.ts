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

/** More of those of a group who take calls are not drawn: nobody waits until so many have not answered. */
const mostDrawn = 50;

type Members = GroupNode['members'];

const ids = (members: Members) => [...new Set(members.map(({ userId }) => userId.toLowerCase()))];

/** Members drawn by their weights, one after the other. */
function drawn(members: Members, clock: Pick<Clock, 'bytes'>): string[] {
  const weights = new Map<string, number>();
  for (const { userId, weight } of members) weights.set(userId.toLowerCase(), (weights.get(userId.toLowerCase()) ?? 0) + (weight ?? 0));
  const order: string[] = [];
  while (weights.size > 0 && order.length < mostDrawn) {
    const left = [...weights];
    const point = fraction(clock) * left.reduce((sum, [, weight]) => sum + weight, 0);
    let sum = 0;
    const next = left.find(([, weight]) => {
      sum += weight;
      return point < sum;
    });
    const [userId] = next ?? left[0]!;
    order.push(userId);
    weights.delete(userId);
  }
  return order;
}

/** How the members of a group are put in order. */
interface Ordering {
  clock: Pick<Clock, 'bytes'>;
  /** Whether somebody is rung now, by their id. */
  isRung(userId: string): boolean;
}

/** Those who are rung drawn by their weights, then those who are not: they have no share of the calls. */
function byWeight(members: Members, { clock, isRung }: Ordering): string[] {
  const rung = ({ userId }: Members[number]) => isRung(userId.toLowerCase());
  return [...drawn(members.filter(rung), clock), ...ids(members.filter((member) => !rung(member)))];
}

/**
 * The members of a group from behind the one before whose turn it is. Turns go around those who are rung: else whoever comes behind
 * members who are not rung would be called first in their turns as well.
 */
function fromTurn(members: Members, turn: number, { isRung }: Ordering): string[] {
  const places = members.flatMap(({ userId }, place) => (isRung(userId.toLowerCase()) ? [place] : []));
  const nth = places.length > 0 ? turn % places.length : 0;
  const first = nth === 0 ? 0 : places[nth - 1]! + 1;
  return ids([...members.slice(first), ...members.slice(0, first)]);
}

/**
 * The members of a group in the order in which they are rung: all at once in the order of the list; one after the other from the one
 * whose turn it is; or drawn by their weights, where a weight of 0 comes after all others.
 */
export function ringOrder({ mode, members }: GroupNode, turn: number, ordering: Ordering): string[] {
  if (mode === 'weighted') return byWeight(members, ordering);
  return mode === 'round_robin' ? fromTurn(members, turn, ordering) : ids(members);
}
