import { Agent, request } from 'node:http';
import { eventually } from './live.js';

/** How long the event loop of a server kept everything else waiting, in milliseconds. */
export interface Delay {
  p99: number;
  max: number;
}

const figure = (text: string, name: string) =>
  Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(text)?.[1]) * 1000;

// A connection of its own: one that is kept alive would wait behind what it measures.
const agent = new Agent();

function metrics(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/metrics', agent }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      reply.on('end', () => resolve(text));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** The delays since it was last asked: a server's own measurement, which begins again with every answer. */
async function delaySinceLast(port: number): Promise<Delay> {
  const text = await metrics(port);
  return { p99: figure(text, 'p99'), max: figure(text, 'max') };
}

/** The delays of a server while something runs. */
export async function delayOf(port: number, work: () => Promise<unknown>): Promise<Delay> {
  await eventually(async () => (await delaySinceLast(port)).max < 100, 60_000);
  await work();
  return delaySinceLast(port);
}
