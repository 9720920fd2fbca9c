import { WebSocket } from 'ws';

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
  children?: number[];
}

interface CpuProfile {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
}

/** The part of the inspector's protocol that profiling takes. */
class Inspector {
  #next = 1;

  private constructor(private readonly socket: WebSocket) {}

  static async connect(port: number): Promise<Inspector> {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[];
    const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl, { maxPayload: 2 ** 30 });
    await new Promise((resume, fail) => socket.once('open', resume).once('error', fail));
    return new Inspector(socket);
  }

  send<T>(method: string, params: object = {}): Promise<T> {
    const id = this.#next++;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resume) => {
      const hear = (data: Buffer) => {
        const answer = JSON.parse(data.toString()) as { id?: number; result: T };
        if (answer.id !== id) return;
        this.socket.off('message', hear);
        resume(answer.result);
      };
      this.socket.on('message', hear);
    });
  }

  close() {
    this.socket.close();
  }
}

/** Profiles the server behind an inspector port while `work` goes on. */
export async function profiled(port: number, work: () => Promise<unknown>): Promise<CpuProfile> {
  const inspector = await Inspector.connect(port);
  await inspector.send('Profiler.enable');
  await inspector.send('Profiler.setSamplingInterval', { interval: 200 });
  await inspector.send('Profiler.start');
  await work();
  const { profile } = await inspector.send<{ profile: CpuProfile }>('Profiler.stop');
  inspector.close();
  return profile;
}

/** The library that a frame belongs to. */
function owner({ url, functionName }: ProfileNode['callFrame']): string {
  const library = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (library) return library;
  if (url.startsWith('node:')) return `node:${url.slice(5).split('/')[url.includes('internal/') ? 1 : 0]}`;
  if (url.includes('/generated/prisma/')) return '@prisma/client';
  if (url.startsWith('wasm')) return 'wasm';
  if (url.includes('/dist/')) return url.replace(/^.*\/dist\//, '');
  return functionName.startsWith('(') ? functionName : 'native and compiled';
}

type Totals = Map<string, number>;

const add = (totals: Totals, name: string, time: number) => totals.set(name, (totals.get(name) ?? 0) + time);

const nameOf = (frame: ProfileNode['callFrame']) =>
  `${owner(frame)}  ${frame.functionName || '(anonymous)'} ${frame.url.split('/').at(-1)}:${frame.lineNumber + 1}`;

/** Time by function with what it calls, a function that calls itself counted once. */
function inclusive(nodes: ProfileNode[], self: ReadonlyMap<number, number>): Totals {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const totals: Totals = new Map();
  const walk = (node: ProfileNode, callers: ReadonlySet<string>): number => {
    const name = nameOf(node.callFrame);
    const inside = new Set(callers).add(name);
    const below = (node.children ?? []).reduce((sum, id) => sum + walk(byId.get(id)!, inside), 0);
    const time = below + (self.get(node.id) ?? 0);
    if (!callers.has(name)) add(totals, name, time);
    return time;
  };
  walk(nodes[0]!, new Set());
  totals.delete(nameOf(nodes[0]!.callFrame));
  return totals;
}

/** How many lines each part of a summary has. */
const [libraries, functions, callers] = [22, 40, 50];

/**
 * Time by library and by function, and by function with what it calls, in percent of the time in which the server did something;
 * in microseconds too where it is told what one request takes.
 */
export function summary({ nodes, samples, timeDeltas }: CpuProfile, requestMs?: number): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const [perOwner, perFunction, perNode] = [new Map(), new Map(), new Map()] as [Totals, Totals, Map<number, number>];
  let busy = 0;
  for (const [i, id] of samples.entries()) {
    const { callFrame } = byId.get(id)!;
    const time = timeDeltas[i]!;
    if (callFrame.functionName === '(idle)') continue;
    busy += time;
    add(perOwner, owner(callFrame), time);
    add(perFunction, nameOf(callFrame), time);
    perNode.set(id, (perNode.get(id) ?? 0) + time);
  }
  const line = ([name, time]: [string, number]) => {
    const micros = requestMs === undefined ? '' : `${((1000 * requestMs * time) / busy).toFixed(1).padStart(7)} µs`;
    return `${((100 * time) / busy).toFixed(1).padStart(5)} %${micros}  ${name}`;
  };
  const top = (totals: Totals, most: number) =>
    [...totals]
      .sort(([, a], [, b]) => b - a)
      .slice(0, most)
      .map(line)
      .join('\n');
  const parts = [top(perOwner, libraries), top(perFunction, functions), top(inclusive(nodes, perNode), callers)];
  return ['by library', 'by function', 'by function with what it calls'].map((title, i) => `${title}\n${parts[i]}`).join('\n\n');
}
