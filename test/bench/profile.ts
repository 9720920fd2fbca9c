import { WebSocket } from 'ws';

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
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

/** Self time by library and by function, in percent of the time in which the server did something. */
export function summary({ nodes, samples, timeDeltas }: CpuProfile, libraries = 22, functions = 30): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const [perOwner, perFunction] = [new Map<string, number>(), new Map<string, number>()];
  let busy = 0;
  samples.forEach((id, i) => {
    const { callFrame } = byId.get(id)!;
    const time = timeDeltas[i]!;
    if (callFrame.functionName === '(idle)' || callFrame.functionName === '(program)') return;
    busy += time;
    const library = owner(callFrame);
    const name = `${library}  ${callFrame.functionName || '(anonymous)'} ${callFrame.url.split('/').at(-1)}:${callFrame.lineNumber + 1}`;
    perOwner.set(library, (perOwner.get(library) ?? 0) + time);
    perFunction.set(name, (perFunction.get(name) ?? 0) + time);
  });
  const top = (map: Map<string, number>, most: number) =>
    [...map]
      .sort(([, a], [, b]) => b - a)
      .slice(0, most)
      .map(([name, time]) => `${((100 * time) / busy).toFixed(1).padStart(5)} %  ${name}`)
      .join('\n');
  return `by library\n${top(perOwner, libraries)}\nby function\n${top(perFunction, functions)}`;
}
