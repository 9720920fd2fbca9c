import { check } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { integer, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { blocked } from './callFlow.blockers.js';
import { graphFaults } from './callFlow.faults.js';
import { type DraftGraph, type FlowNode, type GroupNode, isEnding, personOf, usersOf } from './callFlow.graph.js';
import type { SimulateCallInput, SimulatedRing, Simulation } from './callFlow.model.js';
import { isRung, nodesById, ringOrder, timed } from './callFlow.route.js';
import { getCallFlow } from './callFlow.service.js';
import { type Agent, agentsOf } from './roster.service.js';

const pointers = statement({
  name: 'callFlowPointers',
  takes: { id: uuid },
  row: { nodeId: text, position: integer },
  text: ({ account, id }) => sql`
    select node_id as "nodeId", position from call_flow_pointers where account_id = ${account} and call_flow_id = ${id}`,
});

/** Nodes that a call comes to, and people whom it rings; it is followed no further. Circles of large groups have millions. */
const mostFollowed = 100_000;

/** A group of a draft with those of its members that name somebody. */
const namedOf = (node: GroupNode): GroupNode => ({ ...node, members: node.members.filter((member) => personOf(member?.userId)) });

/** What is known of a node, found out when it is first asked for. */
function remembered<V>(known: Map<string, V>, id: string, find: () => V): V {
  const value = known.get(id) ?? find();
  known.set(id, value);
  return value;
}

/** Members each once, with the sum of their weights. */
function withSummedWeights(members: GroupNode['members']): GroupNode['members'] {
  const weights = new Map<string, number>();
  for (const { userId, weight } of members) weights.set(personOf(userId), (weights.get(personOf(userId)) ?? 0) + (weight ?? 0));
  return [...weights].map(([userId, weight]) => ({ userId, weight }));
}

/** Somebody who calls and whom nobody answers. */
class Caller {
  readonly path: string[] = [];
  readonly rings: SimulatedRing[] = [];
  readonly #digits: string[];

  constructor(
    private readonly ctx: Context,
    private readonly agents: ReadonlyMap<string, Agent>,
    private readonly turns: ReadonlyMap<string, number>,
    { digits, at }: SimulateCallInput,
  ) {
    this.#digits = [...(digits ?? [])];
    this.now = at ?? ctx.now();
  }

  private readonly now: Date;
  /** The nodes that it came to since something was pressed. */
  readonly #since = new Set<string>();
  /** Where timings lead to, and who is rung by groups, by node: a call may come a hundred times to one with tens of thousands of either. */
  readonly #ways = new Map<string, string>();
  readonly #orders = new Map<string, () => string[]>();

  /** Comes to a node; answers whether the call is followed from there: not in circles, where it came to it with as much to press. */
  comesTo({ id }: FlowNode): boolean {
    this.path.push(id);
    const isCircle = this.#since.has(id);
    this.#since.add(id);
    return !isCircle && this.path.length < mostFollowed && this.rings.length < mostFollowed;
  }

  /** Where the caller goes on after a node. */
  after(node: FlowNode): string {
    switch (node.kind) {
      case 'timing':
        return remembered(this.#ways, node.id, () => timed(node, this.ctx.caller.account.timezone, this.now));
      case 'menu': {
        const pressed = this.#digits.shift();
        if (pressed !== undefined) this.#since.clear();
        return node.options.find(({ digit }) => String(digit) === pressed)?.next ?? node.next;
      }
      case 'agent':
        this.#ring(node.id, [personOf(node.userId)]);
        return node.next;
      case 'group':
        this.#ring(node.id, remembered(this.#orders, node.id, () => this.#orderOf(namedOf(node)))());
        return node.next;
      default:
        return (node as { next: string }).next;
    }
  }

  /** Puts the members of a group in order: by their weights they are drawn anew whenever the call comes to it. */
  #orderOf(node: GroupNode): () => string[] {
    const turn = (this.turns.get(node.id) ?? -1) + 1;
    const ordering = { clock: this.ctx.app.clock, isRung: (userId: string) => isRung(this.agents.get(userId)) };
    if (node.mode !== 'weighted') {
      const order = ringOrder(node, turn, ordering);
      return () => order;
    }
    const group = { ...node, members: withSummedWeights(node.members) };
    return () => ringOrder(group, turn, ordering);
  }

  #ring(nodeId: string, userIds: readonly string[]): void {
    for (const userId of userIds.filter(Boolean).slice(0, mostFollowed - this.rings.length)) {
      const agent = this.agents.get(userId);
      const { name = null, did = null, presence = 'off' } = agent ?? {};
      this.rings.push({ nodeId, userId, name, did, presence, rings: isRung(agent) });
    }
  }
}

/**
 * Contract POST /call-flows/{id}/simulate: what would happen by the draft with a call that nobody answers, by who takes calls now.
 * Nothing is kept: whose turn it is in a group stays. 422 where the graph has faults of its own.
 */
export async function simulateCallFlow(ctx: Context, id: string, input: SimulateCallInput): Promise<Simulation> {
  const flow = await getCallFlow(ctx, id);
  const graph = flow.draftGraph as DraftGraph;
  const faults = graphFaults(graph);
  check(faults.length === 0, () => blocked(faults));
  const [agents, kept] = [await agentsOf(ctx, usersOf(graph), flow.phoneNumber), await ctx.rows(pointers, { id: flow.id })];
  const caller = new Caller(ctx, agents, new Map(kept.map(({ nodeId, position }) => [nodeId, position])), input);
  const nodes = nodesById(graph);
  for (let node = nodes.get(String(graph.entryId)); node; node = nodes.get(caller.after(node))) {
    const goesOn = caller.comesTo(node);
    if (isEnding(node.kind)) return { path: caller.path, ringOrder: caller.rings, ending: { nodeId: node.id, kind: node.kind } };
    if (!goesOn) break;
  }
  return { path: caller.path, ringOrder: caller.rings, ending: null };
}
