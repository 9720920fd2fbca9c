import type { Context } from '../context/context.js';

/** Carries what was found out by doing it, of which nothing is to be kept. */
class TakenBack<T> extends Error {
  constructor(readonly value: T) {
    super('Done and taken back');
  }
}

/** What some work comes to in a unit of work that is taken back: nothing of it is written, told or sent. */
export async function takenBack<T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> {
  try {
    return await ctx.transaction(async (inside): Promise<T> => {
      throw new TakenBack(await work(inside));
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.value as T;
    throw error;
  }
}
