import { expect, it } from '@jest/globals';
import { MessageType } from 'graphql-ws';
import { steady } from '../../src/client/index.js';
import { eventually } from '../support/live.js';

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
