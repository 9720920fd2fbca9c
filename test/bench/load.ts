import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** One request of a workload, below the server's address. */
export interface Call {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  body?: object;
  /** A form instead of it, as vendors send them. */
  form?: Record<string, string>;
  headers?: Record<string, string>;
  /** The API key, where it is another than the filled account's. */
  key?: string;
}

export interface Load {
  requests: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

interface Shot {
  url: string;
  key: string;
  calls: Call[];
  /** Which of the calls is the first. */
  from: number;
  seconds: number;
  connections: number;
}

/** Sends the calls in turn over kept connections. Throws when any of them is answered with an error. */
export type Generator = (shot: Shot) => Promise<Load>;

interface Outcome extends Load {
  /** Answers above 399. */
  refused: number;
  /** Connections that failed, and timeouts. */
  broken: number;
}

function succeeded({ refused, broken, ...load }: Outcome): Load {
  if (refused + broken > 0) throw new Error(`${refused} of ${load.requests} requests were refused, ${broken} broke off`);
  if (load.requests === 0) throw new Error('No request was answered');
  return load;
}

const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

/** The headers of a call, where they are others than everybody's. */
export const ownHeaders = ({ key, form, headers }: Call): Record<string, string> => ({
  ...(key && { authorization: `Bearer ${key}` }),
  ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
  ...headers,
});

export const textOf = ({ body, form }: Call): string | undefined =>
  form ? new URLSearchParams(form).toString() : body && JSON.stringify(body);

const lineOf = (call: Call) => {
  const headers = Object.entries(ownHeaders(call)).map(([name, value]) => `${name}=${value}`);
  return `${[call.method, call.path, headers.join('|'), textOf(call) ?? ''].join('\t')}\n`;
};

const wrk: Generator = async ({ url, key, calls, from, seconds, connections }) => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const file = join(folder, 'calls');
    writeFileSync(file, calls.map(lineOf).join(''));
    const headers = Object.entries(headersOf(key)).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const shape = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '30s', '-s', resolve('test/bench/wrk.lua')];
    const { stdout } = await run('wrk', [...shape, ...headers, url, '--', file, String(from % calls.length)]);
    const result = /^RESULT (.*)$/m.exec(stdout)?.[1];
    if (!result) throw new Error(`wrk: ${stdout}`);
    return succeeded(JSON.parse(result) as Outcome);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const autocannon: Generator = async ({ url, key, calls, from, seconds, connections }) => {
  const { default: cannon } = await import('autocannon');
  // Each connection sends its own list in turn, so each begins elsewhere.
  const lists = calls.map((call) => ({
    ...{ method: call.method, path: call.path, body: textOf(call) },
    headers: { ...headersOf(key), ...ownHeaders(call) },
  }));
  let nth = 0;
  const result = await cannon({
    url,
    connections,
    duration: seconds,
    headers: headersOf(key),
    requests: [{ method: 'GET', path: calls[0]!.path }],
    setupClient: (client) => {
      const start = (from + (nth++ * lists.length) / connections) | 0;
      client.setRequests([...lists.slice(start % lists.length), ...lists.slice(0, start % lists.length)]);
    },
  });
  const { latency, requests, non2xx, errors, timeouts } = result;
  const outcome = { requests: requests.total, seconds: result.duration, p50: latency.p50, p99: latency.p99 };
  return succeeded({ ...outcome, refused: non2xx, broken: errors + timeouts });
};

/** wrk where it is installed, since it takes the least of the machine; else autocannon, in this process. */
export async function generator(): Promise<{ name: string; send: Generator }> {
  const version = await run('wrk', ['-v']).catch((error: { stdout?: string; code?: unknown }) => error);
  const name = /wrk \S+/.exec(version.stdout ?? '')?.[0];
  return name ? { name, send: wrk } : { name: 'autocannon', send: autocannon };
}
