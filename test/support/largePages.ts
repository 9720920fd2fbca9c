import type { TestServer } from './index.js';

/** Has something done after each answer of the database that is of a kind, while something else is. */
export async function whenever<T>(
  { app: { database } }: TestServer,
  isOne: (answer: string) => boolean,
  then: () => unknown,
  work: () => Promise<T>,
): Promise<T> {
  const { text, planned } = database;
  const told = async (answers: string[]) => {
    for (const answer of answers) if (isOne(answer)) await then();
    return answers;
  };
  Object.assign(database, {
    text: async (query: never) => (await told([await text(query)]))[0],
    planned: async (query: never) => told(await planned(query)),
  });
  try {
    return await work();
  } finally {
    Object.assign(database, { text, planned });
  }
}
