import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { drained } from '../../src/graphql/backpressure.js';

const megabyte = 1024 * 1024;
const page = 100 * megabyte;
/** Bytes a millisecond: a little more than what a reader must take at least. */
const pace = 200;
/** Milliseconds in which a reader must take 64 KB. */
const patience = 1000;

/** When a reader was given up, if he was, for whom so much waits after so many milliseconds; he is gone after `gone`. */
async function givenUp(unreadAt: (ms: number) => number, gone: number): Promise<number | null> {
  const begun = performance.now();
  const since = () => performance.now() - begun;
  let at: number | null = null;
  const giveUp = () => {
    at = since();
  };
  const isOpen = () => at === null && since() < gone;
  await drained({ isOpen, unread: () => unreadAt(since()), line: new PassThrough(), giveUp, patience });
  return at;
}

describe('a reader for whom much waits', () => {
  it('is waited for as long as he takes enough of it', async () => {
    expect(await givenUp((ms) => page - pace * Math.floor(ms), 4 * patience)).toBeNull();
  });

  it('is given up once he has taken nothing for long', async () => {
    expect(await givenUp(() => megabyte, 10 * patience)).toBeGreaterThanOrEqual(patience);
    expect(await givenUp((ms) => page - pace * Math.min(ms, 700), 10 * patience)).toBeGreaterThanOrEqual(patience + 300);
  });

  it('is given up where he takes next to nothing', async () => {
    expect(await givenUp((ms) => page - Math.floor(ms), 10 * patience)).toBeGreaterThanOrEqual(patience);
  });

  it('is waited for no longer once he has taken most of it', async () => {
    expect(await givenUp((ms) => (ms < 100 ? megabyte : 0), 10 * patience)).toBeNull();
  });
});
