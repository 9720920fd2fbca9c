import { isZone } from '../../kernel/base/timeZones.js';
import { isE164, isWebUrl, phoneKeys } from '../../kernel/model/checks.js';
import { branchesOf, branchName, type DraftGraph, type DraftNode, isEnding, kinds, wordOf } from './callFlow.graph.js';
import { minuteOf } from './callFlow.hours.js';
import type { Blocker, BlockerCode } from './callFlow.model.js';

/** The most blockers that are told at once: tens of thousands of nodes may each have several. */
export const mostTold = 100;

type Found = (code: BlockerCode, message: string) => void;

const isBetween = (value: unknown, least: number, most: number) =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
const isAbsent = (value: unknown) => value === undefined || value === null;
const membersOf = ({ members }: DraftNode) => (Array.isArray(members) ? members : []) as ({ userId?: unknown; weight?: unknown } | null)[];

/** Seconds that a phone may ring: what Twilio takes. */
const ring = [1, 600] as const;
/** Contract "Limits". */
const hold = [10, 300] as const;

const checkRing: Check = ({ ringSeconds }, found) => {
  if (!isBetween(ringSeconds, ...ring)) found('bad_ring_seconds', `ringSeconds must be whole seconds from ${ring[0]} to ${ring[1]}`);
};

type Check = (node: DraftNode, found: Found) => void;

const checkGroup: Check = (node, found) => {
  const { mode, queue } = node as { mode?: unknown; queue?: { holdSeconds?: unknown } | null };
  const members = membersOf(node);
  if (!['simultaneous', 'round_robin', 'weighted'].includes(wordOf(mode)))
    found('bad_graph', 'mode must be simultaneous, round_robin or weighted');
  if (members.length === 0) found('empty_group', 'The group has no members');
  checkRing(node, found);
  if (!isAbsent(queue) && !isBetween(queue.holdSeconds, ...hold))
    found('bad_ring_seconds', `queue.holdSeconds must be whole seconds from ${hold[0]} to ${hold[1]}`);
  if (mode !== 'weighted' || members.length === 0) return;
  const weights = members.map((member) => member?.weight);
  const isWeight = (weight: unknown): weight is number => typeof weight === 'number' && weight >= 0;
  const sum = weights.every(isWeight) ? weights.reduce((all, weight) => all + weight, 0) : Number.NaN;
  // Shares such as 33.3 are binary fractions, whose sum may miss 100 by less than any of them means.
  if (!(Math.abs(sum - 100) < 1e-6)) found('weights_not_100', 'The weights must be numbers that total 100');
};

const checkSpoken: Check = (node, found) => {
  for (const name of ['text', 'audioUrl', 'message'])
    if (!isAbsent(node[name]) && typeof node[name] !== 'string') found('bad_graph', `${name} must be text`);
  if (typeof node.audioUrl === 'string' && node.audioUrl !== '' && !isWebUrl(node.audioUrl))
    found('bad_graph', 'audioUrl must be an http or https address');
};

const checkMenu: Check = (node, found) => {
  checkSpoken(node, found);
  const { options, timeoutSeconds, retries } = node;
  const digits = (Array.isArray(options) ? options : []).map(({ digit }) => String(digit));
  if (digits.length === 0) found('bad_menu', 'The menu offers nothing');
  if (!digits.every((digit) => phoneKeys.includes(digit))) found('bad_menu', 'A digit must be one of 0 to 9, * and #');
  if (new Set(digits).size < digits.length) found('bad_menu', 'Two options have the same digit');
  if (!isAbsent(timeoutSeconds) && !isBetween(timeoutSeconds, 1, 60))
    found('bad_menu', 'timeoutSeconds must be whole seconds from 1 to 60');
  if (!isAbsent(retries) && !isBetween(retries, 0, 10)) found('bad_menu', 'retries must be a whole number from 0 to 10');
};

const checkTiming: Check = ({ hours, timezone }, found) => {
  const spans = (Array.isArray(hours) ? hours : []) as ({ day?: unknown; start?: unknown; end?: unknown } | null)[];
  if (spans.length === 0) found('bad_timing', 'There are no hours');
  const isSpan = (span: (typeof spans)[number]) =>
    span && isBetween(span.day, 0, 6) && minuteOf(span.start) !== undefined && minuteOf(span.end) !== undefined;
  if (!spans.every(isSpan)) found('bad_timing', 'Hours must be a day from 0 to 6 and a start and an end as HH:MM');
  if (!isAbsent(timezone) && !(typeof timezone === 'string' && isZone(timezone))) found('bad_timing', 'timezone must be an IANA time zone');
};

const checkForward: Check = ({ phoneNumber }, found) => {
  if (!isE164(phoneNumber)) found('bad_forward_number', 'phoneNumber must be in E.164 form (+15551234567)');
};

// No object: a kind may be any text, also the name of what every object has.
const checks = new Map<unknown, Check>([
  ['greeting', checkSpoken],
  ['voicemail', checkSpoken],
  ['hangup', checkSpoken],
  ['agent', checkRing],
  ['group', checkGroup],
  ['menu', checkMenu],
  ['timing', checkTiming],
  ['forward', checkForward],
]);

/** The branches of a graph: from and to which node, by their places in the graph. Of 10,000 nodes each object counts. */
interface Branches {
  from: number[];
  to: number[];
}

/** Where a branch leads to that says nothing, and one that names no node. */
const [nowhere, unknown] = [-1, -2];

/** The branches by the nodes that they lead from: a chain for each node, its latest one, and of each the one before. */
interface Chains extends Branches {
  latest: Int32Array;
  before: Int32Array;
}

function chainsOf(count: number, { from, to }: Branches): Chains {
  const latest = new Int32Array(count).fill(-1);
  const before = new Int32Array(from.length);
  for (let nth = 0; nth < from.length; nth++) {
    const node = from[nth]!;
    if (node < 0) continue;
    before[nth] = latest[node]!;
    latest[node] = nth;
  }
  return { from, to, latest, before };
}

/** Which nodes some of them lead to, themselves included, and without what leads through one of them alone. */
function reached(starts: readonly number[], { to, latest, before }: Chains, without = nowhere): Uint8Array {
  const seen = new Uint8Array(latest.length);
  const open = [...starts];
  for (const start of starts) seen[start] = 1;
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (let nth = latest[node]!; nth >= 0; nth = before[nth]!) {
      const next = to[nth]!;
      if (next < 0 || seen[next] || next === without) continue;
      seen[next] = 1;
      open.push(next);
    }
  return seen;
}

type Add = (node: DraftNode | null, code: BlockerCode, message: string) => void;

/**
 * The places of nodes by their ids. Many small maps: one of 10,000 ids grows through large allocations, which makes it ten times
 * slower for each id than one of 1,000.
 */
class Places {
  readonly #parts = Array.from({ length: 64 }, () => new Map<string, number>());

  constructor(nodes: readonly DraftNode[]) {
    nodes.forEach(({ id }, place) => {
      this.#partOf(id).set(id, place);
    });
  }

  /** The place of the node that a branch names. */
  of(id: unknown): number | undefined {
    return typeof id === 'string' ? this.#partOf(id).get(id) : undefined;
  }

  #partOf(id: string): Map<string, number> {
    return this.#parts[id.charCodeAt(id.length - 1) % this.#parts.length] ?? this.#parts[0]!;
  }
}

/** The branches of a graph; what names no node, and nodes that are none, are told. */
function branchesIn({ nodes }: DraftGraph, places: Places, add: Add): Branches {
  const branches: Branches = { from: [], to: [] };
  nodes.forEach((node, from) => {
    if (!kinds.includes(wordOf(node.kind))) add(node, 'bad_graph', `kind must be one of ${kinds.join(', ')}`);
    branchesOf(node).forEach((branch, nth) => {
      const to = isAbsent(branch) ? nowhere : (places.of(branch) ?? unknown);
      if (to === unknown) add(node, 'bad_graph', `${branchName(node, nth)} names no node`);
      branches.from.push(from);
      branches.to.push(to);
    });
  });
  return branches;
}

/** What is reached from the entry, and what comes to an ending. */
interface Reach {
  alive: Uint8Array;
  ending: Uint8Array;
  /** What comes to an ending without a node. */
  endsWithout(node: number): Uint8Array;
}

/** Of each node that is reached the first branch that comes to no ending. */
function checkPaths({ nodes }: DraftGraph, { from, to }: Branches, { alive, ending }: Reach, add: Add): void {
  for (let branch = 0, nth = 0, told = -1; branch < from.length; branch++) {
    const [node, leads] = [from[branch]!, to[branch]!];
    nth = node === from[branch - 1] ? nth + 1 : 0;
    const isLost = leads === nowhere || (leads >= 0 && !ending[leads]);
    if (!isLost || !alive[node] || told === node) continue;
    told = node;
    add(nodes[node]!, 'path_no_ending', `${branchName(nodes[node]!, nth)} reaches no ending`);
  }
}

/** How many branches are followed for the sake of timings: far more than in any graph that people draw. */
const mostFollowed = 10_000_000;

/** The branches of a timing that end only through the timing itself: at the moment of a call it goes the same way again. */
function checkTimings({ nodes }: DraftGraph, { from, to }: Branches, { alive, ending, endsWithout }: Reach, add: Add): void {
  let [timing, aside, followed] = [nowhere, ending, 0];
  for (let branch = 0; branch < from.length; branch++) {
    const [node, leads] = [from[branch]!, to[branch]!];
    if (nodes[node]!.kind !== 'timing' || !alive[node] || leads < 0 || !ending[leads]) continue;
    if (timing !== node) {
      followed += from.length;
      if (followed > mostFollowed) return;
      [timing, aside] = [node, endsWithout(node)];
    }
    if (aside[leads]) continue;
    const name = branchName(nodes[node]!, from[branch - 1] === node ? 1 : 0);
    add(nodes[node]!, 'path_no_ending', `${name} leads only back to this node, which then takes the same branch again`);
  }
}

/** What is wrong with where nodes lead: every branch must name a node and reach an ending, and every node must be reached. */
function pathFaults(graph: DraftGraph): Blocker[] {
  const { entryId, nodes } = graph;
  const found: Blocker[] = [];
  const add: Add = (node, code, message) => {
    if (found.length < mostTold) found.push({ nodeId: node?.id ?? null, code, message });
  };
  const places = new Places(nodes);
  const branches = branchesIn(graph, places, add);
  const start = places.of(entryId);
  if (start === undefined || nodes[start]!.kind !== 'entry') add(null, 'bad_graph', 'entryId must name a node of the kind entry');
  const ends: number[] = [];
  nodes.forEach((node, place) => {
    if (node.kind === 'entry' && place !== start) add(node, 'bad_graph', 'There is another entry');
    if (isEnding(wordOf(node.kind))) ends.push(place);
  });
  if (ends.length === 0) add(null, 'missing_ending', 'There is no voicemail, forward or hangup');
  if (start === undefined) return found;
  const back = chainsOf(nodes.length, { from: branches.to, to: branches.from });
  const reach: Reach = {
    alive: reached([start], chainsOf(nodes.length, branches)),
    ending: reached(ends, back),
    endsWithout: (node) => reached(ends, back, node),
  };
  checkPaths(graph, branches, reach, add);
  checkTimings(graph, branches, reach, add);
  nodes.forEach((node, place) => {
    if (!reach.alive[place]) add(node, 'unreachable_node', 'Nothing leads here');
  });
  return found;
}

/**
 * What keeps a graph from being published, as far as it says so by itself: that of the paths first, and no more than are told. Its time
 * is linear in the nodes.
 */
export function graphFaults(graph: DraftGraph): Blocker[] {
  const found = pathFaults(graph);
  for (const node of graph.nodes) {
    if (found.length >= mostTold) break;
    checks.get(node.kind)?.(node, (code, message) => found.push({ nodeId: node.id, code, message }));
  }
  return found.slice(0, mostTold);
}
