import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { MessageType } from 'graphql-ws';
import { steady } from '../../src/client/index.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

it('has patience with a line on which messages come before the pong, and leaves it once they stop', () => {
  const closed: number[] = [];
  const heard: unknown[] = [];
  const { on } = steady({ url: 'ws://nowhere', keepAlive: 100, on: { message: (message) => heard.push(message) } });
  const open = () => on!.opened!({ readyState: 1, CLOSED: 3, close: (code: number) => closed.push(code) });
  const message = { type: MessageType.Next as const, id: '1', payload: {} };
  open();
  on!.ping!(false, undefined);
  for (let n = 0; n < 10; n++) {
    jest.advanceTimersByTime(30);
    on!.message!(message);
  }
  expect([closed, heard]).toEqual([[], Array(10).fill(message)]);
  jest.advanceTimersByTime(50);
  expect(closed).toEqual([4408]);
  // The next line owes nothing for the one before it.
  open();
  on!.message!(message);
  jest.advanceTimersByTime(1000);
  expect(closed).toEqual([4408]);
});

it('waits for no pong of a line that ended before it came', () => {
  const closed: string[] = [];
  const { on } = steady({ url: 'ws://nowhere', keepAlive: 100 });
  const open = (name: string) => on!.opened!({ readyState: 1, CLOSED: 3, close: () => closed.push(name) });
  open('first');
  on!.ping!(false, undefined);
  open('second');
  on!.message!({ type: MessageType.ConnectionAck });
  jest.advanceTimersByTime(1000);
  expect(closed).toEqual([]);
});
