import type { Context } from '../context/context.js';

/** Carries what was found out by doing it, of which nothing is to be kept. */
class RolledBack<T> extends Error {
  constructor(readonly value: T) {
    super('Done and rolled back');
  }
}

/** What some work comes to in a unit of work that is rolled back: nothing of it is written, told or sent. */
export async function runAndRollBack<T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> {
  try {
    return await ctx.transaction(async (inside): Promise<T> => {
      throw new RolledBack(await work(inside));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.value as T;
    throw error;
  }
}
