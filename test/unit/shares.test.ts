import { describe, expect, it } from '@jest/globals';
import { unavailable } from '../../src/kernel/base/errors.js';
import { Shares } from '../../src/kernel/base/shares.js';
import { patience } from '../../src/kernel/operations/ownTransaction.js';

const isOutage = (error: unknown) => /no connection/.test(String(error));

/** Work that ends when it is told, and says when it began. */
function works(shares: Shares) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string) =>
    shares.run(name[0]!, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async (name: string) => {
    ends.get(name)!();
    await new Promise((resume) => setImmediate(resume));
  };
  return { begun, run, end };
}

describe('shares', () => {
  it('let each key have so many under way, whatever the others have, and the rest in its order', async () => {
    const { begun, run, end } = works(new Shares(2));
    const done = ['a1', 'a2', 'a3', 'a4', 'b1'].map(run);
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await end('a2');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
    await end('b1');
    await end('a1');
    expect(begun.at(-1)).toBe('a4');
    await end('a3');
    await end('a4');
    expect(await Promise.all(done)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  it('go on after work that failed', async () => {
    const shares = new Shares(1);
    const failed = shares.run('a', () => Promise.reject(new Error('no')));
    const next = shares.run('a', async () => 1);
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe(1);
  });

  it('keep nobody waiting for longer than they say, and pass over who has gone', async () => {
    const { begun, run, end } = works(new Shares(1, { isOutage, patience: 20 }));
    const [first, second] = [run('a1'), run('a2')];
    await expect(second).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 });
    const third = run('a3');
    await end('a1');
    await end('a3');
    expect([begun, await first, await third]).toEqual([['a1', 'a3'], 'a1', 'a3']);
  });

  /** What became of who waited while something took as long as they wait, and failed. */
  async function afterFailure(shares: Shares, message: string): Promise<PromiseSettledResult<number>> {
    let fail = () => {};
    const failing = shares.run('a', () => new Promise<void>((_, refuse) => (fail = () => refuse(new Error(message)))));
    const [ended, late] = [expect(failing).rejects.toThrow(message), Promise.allSettled([shares.run('a', async () => 1)])];
    // No timer is asked meanwhile.
    for (const begun = performance.now(); performance.now() - begun < 21; );
    fail();
    await ended;
    return (await late)[0]!;
  }

  it('refuse who has waited where no connection was to be had for as long: the next would wait as long again', async () => {
    const shares = new Shares(1, { isOutage, patience: 20 });
    expect(await afterFailure(shares, 'no connection')).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    expect(await shares.run('a', async () => 2)).toBe(2);
  });

  it('refuse them too where the timer of two seconds was early, as in a long turn of the event loop', async () => {
    const shares = new Shares(1, { isOutage });
    const failing = shares.run('a', () => new Promise<void>((_, refuse) => setTimeout(refuse, 1900, new Error('no connection'))));
    const late = shares.run('a', async () => 1);
    await expect(failing).rejects.toThrow('no connection');
    await expect(late).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('let who has waited begin where something else failed', async () => {
    expect(await afterFailure(new Shares(1, { isOutage, patience: 20 }), 'not found')).toEqual({ status: 'fulfilled', value: 1 });
  });
});

describe('a turn that did not come', () => {
  it('says for the log, and not to the caller, what it was for', async () => {
    const shares = new Shares(1, { patience: 20, of: 'reads' });
    const { run, end } = works(shares);
    const first = run('a1');
    const refusal = (await run('a2').catch((error: unknown) => error)) as Error;
    expect(refusal.message).toBe('The service is temporarily unavailable');
    expect(refusal.cause).toEqual(new Error('no turn for reads came in time'));
    await end('a1');
    expect(await first).toBe('a1');
  });
});

describe('what a vendor tells once', () => {
  it('is done again where no turn for it came in time', async () => {
    const shares = new Shares(1, { patience: 20 });
    const { run, end } = works(shares);
    const first = run('a1');
    let tries = 0;
    const told = patience()(async () => {
      if (++tries === 3) await end('a1');
      return shares.run('a', async () => 'kept');
    });
    expect(await told).toBe('kept');
    expect([tries, await first]).toEqual([3, 'a1']);
  });

  it('is not where it fails otherwise', async () => {
    let tries = 0;
    const told = patience()(async () => {
      tries++;
      throw unavailable();
    });
    await expect(told).rejects.toThrow();
    expect(tries).toBe(1);
  });
});
