import { describe, expect, it } from '@jest/globals';
import { type ClientOptions, MessageType } from 'graphql-ws';
import { steady } from '../../src/client/index.js';
import { eventually } from '../support/live.js';
import { TcpProxy } from '../support/proxy.js';
import { keyHolder, lineTo } from '../support/resumeLine.js';

/** Milliseconds between two pings; the line has half of that. */
const keepAlive = 3000;
const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

it('has patience with a line on which messages come before the pong, and leaves it once they stop', async () => {
  const closed: number[] = [];
  const heard: unknown[] = [];
  const { on } = steady({ url: 'ws://nowhere', keepAlive, on: { message: (message) => heard.push(message) } });
  const open = () => on!.opened!({ readyState: 1, CLOSED: 3, close: (code: number) => closed.push(code) });
  const message = { type: MessageType.Next as const, id: '1', payload: {} };
  open();
  on!.ping!(false, undefined);
  for (let n = 0; n < 6; n++) {
    await pause(keepAlive / 10);
    on!.message!(message);
  }
  expect([closed, heard]).toEqual([[], Array(6).fill(message)]);
  await eventually(() => closed.length > 0);
  expect(closed).toEqual([4408]);
  // The next line owes nothing for the one before it.
  open();
  on!.message!(message);
  await pause(keepAlive);
  expect(closed).toEqual([4408]);
});

it('waits for no pong of a line that ended before it came', async () => {
  const closed: string[] = [];
  const { on } = steady({ url: 'ws://nowhere', keepAlive: 100 });
  const open = (name: string) => on!.opened!({ readyState: 1, CLOSED: 3, close: () => closed.push(name) });
  open('first');
  on!.ping!(false, undefined);
  open('second');
  on!.message!({ type: MessageType.ConnectionAck });
  await pause(500);
  expect(closed).toEqual([]);
});

it.each([
  [0, 125, 250],
  [100, 2500, 5000],
])('comes back after attempt %i at another moment than other clients, between %i and %i milliseconds', async (attempt, least, most) => {
  const { retryWait } = steady({ url: 'ws://nowhere' });
  const order: string[] = [];
  const noteAfter = async (name: string, wait: Promise<unknown>) => {
    await wait;
    order.push(name);
  };
  // Timers end in the order of their times, however busy the machine is.
  const between = Array.from({ length: 100 }, (_, n) => least + ((n + 1) * (most - least)) / 101);
  const marks = [least - 5, ...between, most + 5].map((ms, n) => noteAfter(`mark ${n}`, pause(ms)));
  const waits = Array.from({ length: 8 }, () => noteAfter('wait', retryWait!(attempt)));
  await Promise.all([...waits, ...marks]);
  expect([order[0], order.at(-1)]).toEqual(['mark 0', 'mark 101']);
  // They do not end together.
  const places = order.flatMap((name, place) => (name === 'wait' ? [place] : []));
  expect(places.at(-1)! - places[0]!).toBeGreaterThan(8 + 4);
});

describe('a line that is not opened', () => {
  it('is left for another one', async () => {
    const { crm, secret, url } = await keyHolder();
    const proxy = await TcpProxy.before(url);
    proxy.hang();
    const { client, results, watch, sockets } = lineTo(new URL(proxy.through(url)).origin, secret, 1000);
    const stop = watch('subscription ($after: ID) { contactEvents(after: $after, ready: true) { id kind } }');
    await eventually(() => sockets.length === 1 && proxy.connections === 1);
    proxy.forget();
    await eventually(() => results.length === 1);
    expect([results[0].contactEvents.kind, sockets.length]).toEqual(['ready', 2]);
    stop();
    await client.dispose();
    await proxy.close();
    await crm.close();
  });

  it.each([0, Number.POSITIVE_INFINITY])('is waited for where nothing is to be watched: keepAlive %d', async (keepAlive) => {
    const closed: number[] = [];
    class Opening {
      static readonly CLOSED = 3;
      readonly readyState = 0;
      close(code: number) {
        closed.push(code);
      }
    }
    const { webSocketImpl } = steady({ url: 'ws://nowhere', keepAlive, webSocketImpl: Opening } as ClientOptions);
    const line = new (webSocketImpl as typeof Opening)();
    await pause(100);
    expect([line instanceof Opening, closed]).toEqual([true, []]);
  });
});
