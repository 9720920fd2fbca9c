import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { drained } from '../../src/graphql/backpressure.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** How often a reader was given up within so many seconds, for whom so much waits at each of them. */
async function givenUp(seconds: number, unreadAt: (second: number) => number): Promise<number> {
  let second = 0;
  let times = 0;
  const giveUp = () => void times++;
  void drained({ isOpen: () => times === 0, unread: () => unreadAt(second), line: new PassThrough(), giveUp });
  for (; second < seconds; second++) await jest.advanceTimersByTimeAsync(1000);
  return times;
}

const megabyte = 1024 * 1024;

describe('a reader for whom much waits', () => {
  it('is waited for as long as he takes some of it', async () => {
    expect(await givenUp(60, (second) => megabyte - 1024 * second)).toBe(0);
  });

  it('is given up after half a minute in which he took nothing', async () => {
    expect(await givenUp(29, () => megabyte)).toBe(0);
    expect(await givenUp(32, () => megabyte)).toBe(1);
    expect(await givenUp(45, (second) => megabyte - 1024 * Math.min(second, 20))).toBe(0);
    expect(await givenUp(55, (second) => megabyte - 1024 * Math.min(second, 20))).toBe(1);
  });
});
