import { describe, expect, test } from '@jest/globals';
import { BatchQueue } from '../../src/kernel/base/batchQueue.js';
import { pause } from '../../src/kernel/base/eventLoop.js';

/** A queue, and the parties that it served. */
function queueOf(gathering?: { ms: number; small: number }, mostUnderWay = 1) {
  const parties: number[][] = [];
  const serve = async (party: number[]) => void parties.push(party);
  return { parties, queue: new BatchQueue<number>((waiting) => waiting.splice(0), serve, mostUnderWay, gathering) };
}

describe('requests of a kind', () => {
  test('go at once, and those that come meanwhile go together', async () => {
    const { parties, queue } = queueOf();
    for (const one of [1, 2, 3]) queue.join('kind', one);
    await pause(1);
    expect(parties).toEqual([[1], [2, 3]]);
  });

  test('wait for others where they are few and come in groups', async () => {
    const { parties, queue } = queueOf({ ms: 30, small: 2 });
    queue.join('kind', 1);
    await pause(1);
    for (const one of [2, 3]) queue.join('kind', one);
    expect(parties).toEqual([]);
    await pause(60);
    expect(parties).toEqual([[1, 2, 3]]);
  });

  test('go with the party before that waits for others', async () => {
    const { parties, queue } = queueOf({ ms: 10, small: 8 }, 2);
    for (const one of [1, 2, 3]) queue.join('kind', one);
    await pause(40);
    queue.join('kind', 4);
    await pause(40);
    expect(parties).toEqual([[1, 2, 3], [4]]);
  });
});
