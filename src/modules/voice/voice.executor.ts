import type { Rung, Verb } from '../../vendors/sms/voice.js';
import type { AgentNode, EndingNode, FlowNode, GroupNode, MenuNode } from '../callFlows/callFlow.graph.js';
import { timed } from '../callFlows/callFlow.route.js';
import type { Ring } from './voice.call.js';

/** What an address asks to be done next: the whole state of a call between two requests, so that one that is repeated does the same. */
export interface Turn {
  /** How many turns there were. */
  n: number;
  do: 'menu' | 'rang' | 'wait' | 'held' | 'recorded' | 'forwarded';
  /** The node. */
  at: string;
  /** Of a menu: how often nothing was chosen. */
  k?: number;
  /** Of somebody who rings: the key of the choice, and the batch of it. */
  c?: string;
  i?: number;
  /** Of a queue: for how many seconds the caller has been held. */
  h?: number;
  /** How many menus in a row nothing was chosen from, with nobody rung between them. */
  s?: number;
}

/** The call that is led through its flow. */
export interface CallInFlow {
  nodes: ReadonlyMap<string, FlowNode>;
  /** The workspace's time zone. */
  zone: string;
  startedAt: Date;
  /** The address of a turn. */
  address(turn: Turn): string;
  /** Where the vendor tells that somebody answered; null where that is none of us. */
  answered(userId: string | null): string;
  /** The number that whoever is rung sees, where that of the caller cannot be shown; else they see the caller's. */
  shownAs?: string;
  /** Who is rung by a node, kept under the key of the choice. */
  rings(key: string, node: AgentNode | GroupNode): Promise<readonly Ring[]>;
}

/** The vendor rings no more phones at once. */
const mostAtOnce = 10;
/** Whoever still walks has gone in circles. */
const mostTurns = 300;
/** How often a caller is led through the menus of a flow who chooses nothing: whoever is not there does not go on for ever. */
const silentRounds = 3;
/** Seconds between two rounds of a queue that rings again. */
const roundPause = 5;
/** Seconds of one wait in a queue. */
const longestWait = 30;
/** Seconds before a circle is begun again. */
const circlePause = 5;
const longestMessage = 120;
const defaults = { timeoutSeconds: 5, retries: 2 };

const texts = {
  hold: 'Please hold.',
  pressOne: 'Please hold, or press one to leave a message.',
  voicemail: 'Nobody can take your call. Please leave a message after the tone.',
  menu: 'Please choose.',
  silence: 'Nothing was chosen. Good bye.',
};

const hangup: Verb = { kind: 'hangup' };

/** What is said and played of a node. */
const spoken = ({ text, audioUrl }: { text?: string | null; audioUrl?: string | null }): Verb[] => [
  ...(audioUrl ? [{ kind: 'play' as const, url: audioUrl }] : []),
  ...(text ? [{ kind: 'say' as const, text }] : []),
];

/** Who rings together, one batch after the other. */
function batchesOf(node: AgentNode | GroupNode, rings: readonly Ring[]): Ring[][] {
  const size = node.kind === 'group' && node.mode === 'simultaneous' ? mostAtOnce : 1;
  return Array.from({ length: Math.ceil(rings.length / size) }, (_, nth) => rings.slice(nth * size, (nth + 1) * size));
}

/** One answer: what is done with a call until it has to be asked about again. Each step answers the node to go on at, if any. */
export class CallFlowExecutor {
  readonly verbs: Verb[] = [];
  readonly #n: number;
  #silent: number;

  constructor(
    private readonly call: CallInFlow,
    { n, s = 0 }: Pick<Turn, 'n' | 's'>,
  ) {
    this.#n = n;
    this.#silent = s;
  }

  /** Goes on at a node, until the caller waits for something or the call ends. */
  async go(at: string | undefined): Promise<void> {
    const seen = new Set<string>();
    let next = this.#n > mostTurns ? undefined : at;
    while (next !== undefined) {
      const node = this.call.nodes.get(next);
      if (!node) break;
      if (seen.has(node.id)) return this.#pause(node.id);
      seen.add(node.id);
      const step = await this.#at(node);
      if (step === waits) return;
      next = step;
    }
    this.verbs.push(hangup);
  }

  /** What became of a turn, by what the vendor tells of it. */
  async take(turn: Turn, form: Readonly<Record<string, string>>): Promise<void> {
    const step = await this.#taken(turn, form);
    if (step !== waits) await this.go(step);
  }

  async #taken(turn: Turn, { Digits: pressed, DialCallStatus: dialled }: Readonly<Record<string, string>>): Promise<Step> {
    const node = this.call.nodes.get(turn.at);
    if (node?.kind === 'menu' && turn.do === 'menu') return this.#chosen(node, turn.k ?? 0, pressed);
    if ((node?.kind === 'agent' || node?.kind === 'group') && turn.do === 'rang') {
      return dialled === 'completed' || dialled === 'answered' ? undefined : this.#unanswered(node, turn);
    }
    if (node?.kind === 'group' && (turn.do === 'wait' || turn.do === 'held')) {
      if (turn.do === 'held' && pressed === '1' && node.queue?.pressOneVoicemail) return this.#voicemail(node.id, undefined);
      if (turn.do === 'wait' || turn.do === 'held') return this.#waited(node, turn.h ?? 0);
    }
    if (turn.do === 'wait') return turn.at;
    return undefined;
  }

  #address(turn: Omit<Turn, 'n' | 's'>): string {
    return this.call.address({ n: this.#n + 1, ...turn, ...(this.#silent > 0 && { s: this.#silent }) });
  }

  /** A circle that nobody is rung in: it is begun again after a moment. */
  #pause(at: string): void {
    this.verbs.push({ kind: 'pause', seconds: circlePause }, { kind: 'redirect', url: this.#address({ do: 'wait', at }) });
  }

  async #at(node: FlowNode): Promise<Step> {
    switch (node.kind) {
      case 'entry':
        return node.next;
      case 'greeting':
        this.verbs.push(...spoken(node));
        return node.next;
      case 'timing':
        return timed(node, this.call.zone, this.call.startedAt);
      case 'menu':
        return this.#menu(node, 0);
      case 'agent':
      case 'group':
        return this.#ring(node);
      default:
        return this.#end(node);
    }
  }

  #end(node: EndingNode): Step {
    if (node.kind === 'voicemail') return this.#voicemail(node.id, node.text);
    if (node.kind === 'forward') {
      const action = this.#address({ do: 'forwarded', at: node.id });
      const numbers = [{ number: node.phoneNumber, answeredUrl: this.call.answered(null) }];
      this.verbs.push({ kind: 'dial', action, callerId: this.call.shownAs, numbers });
      return waits;
    }
    if (node.message) this.verbs.push({ kind: 'say', text: node.message });
    return undefined;
  }

  #voicemail(at: string, text: string | null | undefined): Step {
    this.verbs.push({ kind: 'say', text: text || texts.voicemail });
    this.verbs.push({ kind: 'record', action: this.#address({ do: 'recorded', at }), seconds: longestMessage }, hangup);
    return waits;
  }

  #menu(node: MenuNode, k: number): Step {
    const url = this.#address({ do: 'menu', at: node.id, k });
    const within = spoken(node).length > 0 ? spoken(node) : [{ kind: 'say' as const, text: texts.menu }];
    this.verbs.push({ kind: 'gather', action: url, seconds: node.timeoutSeconds ?? defaults.timeoutSeconds, within });
    this.verbs.push({ kind: 'redirect', url });
    return waits;
  }

  /** A digit that is not on the menu is as none. */
  #chosen(node: MenuNode, k: number, pressed: string | undefined): Step {
    const option = node.options.find(({ digit }) => String(digit) === pressed);
    if (option) this.#silent = 0;
    if (option) return option.next;
    if (k < (node.retries ?? defaults.retries)) return this.#menu(node, k + 1);
    this.#silent += 1;
    if (this.#silent < silentRounds * this.#menus) return node.next;
    this.verbs.push({ kind: 'say', text: texts.silence });
    return undefined;
  }

  /** How many menus there are: through each of them a way without a choice may lead. */
  get #menus(): number {
    return [...this.call.nodes.values()].filter(({ kind }) => kind === 'menu').length;
  }

  /** Rings whoever takes calls; `held` where a queue rings again. */
  async #ring(node: AgentNode | GroupNode, held?: number): Promise<Step> {
    const key = `${this.#n}.${node.id}`;
    const rings = await this.call.rings(key, node);
    if (rings.length > 0) return this.#dial(node, rings, { c: key, i: 0, h: held });
    return node.kind === 'group' && node.queue ? this.#hold(node, held ?? 0) : node.next;
  }

  #dial(node: AgentNode | GroupNode, rings: readonly Ring[], { c, i, h }: Required<Pick<Turn, 'c' | 'i'>> & Pick<Turn, 'h'>): Step {
    this.#silent = 0;
    const numbers = batchesOf(node, rings)[i]!.map(({ userId, did }): Rung => ({ number: did, answeredUrl: this.call.answered(userId) }));
    const action = this.#address({ do: 'rang', at: node.id, c, i, h });
    this.verbs.push({ kind: 'dial', action, seconds: node.ringSeconds, callerId: this.call.shownAs, numbers });
    return waits;
  }

  async #unanswered(node: AgentNode | GroupNode, { c = '', i = 0, h }: Turn): Promise<Step> {
    const rings = await this.call.rings(c, node);
    const batches = batchesOf(node, rings).length;
    if (i + 1 < batches) return this.#dial(node, rings, { c, i: i + 1, h });
    if (node.kind !== 'group' || !node.queue) return node.next;
    return this.#hold(node, h === undefined ? 0 : h + batches * node.ringSeconds);
  }

  /** Holds the caller, as long as the queue does. */
  #hold(node: GroupNode, held: number): Step {
    const { holdSeconds, pressOneVoicemail, repeatRing } = node.queue!;
    const seconds = Math.min(holdSeconds - held, repeatRing ? roundPause : longestWait);
    if (seconds <= 0) return node.next;
    const h = held + seconds;
    if (pressOneVoicemail) {
      const within: Verb[] = [{ kind: 'say', text: texts.pressOne }];
      this.verbs.push({ kind: 'gather', action: this.#address({ do: 'held', at: node.id, h }), seconds, within });
    } else this.verbs.push({ kind: 'say', text: texts.hold }, { kind: 'pause', seconds });
    this.verbs.push({ kind: 'redirect', url: this.#address({ do: 'wait', at: node.id, h }) });
    return waits;
  }

  async #waited(node: GroupNode, held: number): Promise<Step> {
    if (!node.queue || held >= node.queue.holdSeconds) return node.next;
    return node.queue.repeatRing ? this.#ring(node, held) : this.#hold(node, held);
  }
}

/** The caller waits: the call is asked about again. */
const waits = Symbol('waits');
/** The node to go on at; undefined where the call ends. */
type Step = string | undefined | typeof waits;
