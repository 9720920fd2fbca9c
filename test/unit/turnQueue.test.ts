import { describe, expect, it } from '@jest/globals';
import { TurnQueue } from '../../src/kernel/base/turnQueue.js';

/** Work that ends when it is told, and says when it began. */
function works() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      begun.push(name);
      ends.set(name, () => resolve(name));
    });
  const end = async (name: string) => {
    ends.get(name)!();
    await new Promise((resume) => setImmediate(resume));
  };
  return { begun, work, end };
}

describe('a queue by turns', () => {
  it('runs one of a key at a time and so many in all, the keys in turn', async () => {
    const { begun, work, end } = works();
    const queue = new TurnQueue(2);
    const done = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => queue.run(name[0]!, work(name)));
    expect(begun).toEqual(['a1', 'b1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    await end('b1');
    await end('c1');
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
    await end('a2');
    await end('a3');
    await end('b2');
    expect(await Promise.all(done)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'b2']);
  });

  it('goes on after work that failed', async () => {
    const queue = new TurnQueue(1);
    await expect(queue.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await queue.run('a', async () => 1)).toBe(1);
  });
});
