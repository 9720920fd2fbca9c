import { describe, expect, test } from '@jest/globals';
import type { Context } from '../../src/kernel/context/context.js';
import { readAnew } from '../../src/kernel/context/loaders.js';
import { batched, loader } from '../../src/kernel/operations/loader.js';

const context = () => ({ belongings: new Map() }) as Context;

/** A batch that answers the length of each key, and the keys of each call. */
function lengths() {
  const calls: string[][] = [];
  const batch = async (_ctx: Context, keys: readonly string[]) => {
    calls.push([...keys]);
    return keys.map((key) => key.length);
  };
  return { calls, batch };
}

describe('a loader', () => {
  test('asks once for what is asked for at one moment, and keeps it', async () => {
    const { calls, batch } = lengths();
    const [lengthLoader, ctx] = [loader(batch), context()];
    const load = (key: string) => lengthLoader(ctx).load(key);
    expect(await Promise.all(['a', 'bc', 'a'].map(load))).toEqual([1, 2, 1]);
    expect(await Promise.all(['bc', 'def'].map(load))).toEqual([2, 3]);
    expect(calls).toEqual([['a', 'bc'], ['def']]);
  });

  test('is one for each context and each batch', async () => {
    const [one, other] = [lengths(), lengths()];
    const [oneLoader, otherLoader] = [loader(one.batch), loader(other.batch)];
    const [mine, yours] = [context(), context()];
    await Promise.all([oneLoader(mine).load('a'), oneLoader(yours).load('a'), otherLoader(mine).load('a')]);
    expect(one.calls).toEqual([['a'], ['a']]);
    expect(other.calls).toEqual([['a']]);
  });

  test('reads anew what may have been changed since', async () => {
    const { calls, batch } = lengths();
    const [lengthLoader, ctx] = [loader(batch), context()];
    await lengthLoader(ctx).load('a');
    readAnew(ctx);
    await lengthLoader(ctx).load('a');
    await lengthLoader(ctx).fresh('a');
    expect(calls).toEqual([['a'], ['a'], ['a']]);
  });
});

describe('a batched call', () => {
  test('is one with those of the same moment, equal ones too, and remembers nothing', async () => {
    const { calls, batch } = lengths();
    const [lengthOf, ctx] = [batched(batch), context()];
    expect(await Promise.all(['a', 'bc', 'a'].map((key) => lengthOf(ctx, key)))).toEqual([1, 2, 1]);
    expect(await lengthOf(ctx, 'a')).toBe(1);
    expect(calls).toEqual([['a', 'bc', 'a'], ['a']]);
  });

  test('is of at most 500 keys', async () => {
    const { calls, batch } = lengths();
    const [lengthOf, ctx] = [batched(batch), context()];
    await Promise.all(Array.from({ length: 501 }, (_, i) => lengthOf(ctx, `${i}`)));
    expect(calls.map((keys) => keys.length)).toEqual([500, 1]);
  });
});
