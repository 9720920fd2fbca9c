import { describe, expect, test } from '@jest/globals';
import { BatchQueue } from '../../src/kernel/base/batchQueue.js';
import { pause } from '../../src/kernel/base/eventLoop.js';

/** A queue, and the batches that it served. */
function queueOf(delay?: { ms: number; small: number }, maxInFlight = 1) {
  const batches: number[][] = [];
  const serve = async (batch: number[]) => void batches.push(batch);
  return { batches, queue: new BatchQueue<number>((waiting) => waiting.splice(0), serve, maxInFlight, delay) };
}

describe('requests of a kind', () => {
  test('go at once, and those that come meanwhile go together', async () => {
    const { batches, queue } = queueOf();
    for (const one of [1, 2, 3]) queue.join('kind', one);
    await pause(1);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  test('wait for others where they are few and come in groups', async () => {
    const { batches, queue } = queueOf({ ms: 30, small: 2 });
    queue.join('kind', 1);
    await pause(1);
    for (const one of [2, 3]) queue.join('kind', one);
    expect(batches).toEqual([]);
    await pause(60);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  test('go with the batch before that waits for others', async () => {
    const { batches, queue } = queueOf({ ms: 10, small: 8 }, 2);
    for (const one of [1, 2, 3]) queue.join('kind', one);
    await pause(40);
    queue.join('kind', 4);
    await pause(40);
    expect(batches).toEqual([[1, 2, 3], [4]]);
  });
});
