import type { TestServer } from './server.js';

/** The plan of the statement that a read sends outside of a transaction, and whose text says this. */
export async function planOf(api: TestServer, says: string, read: () => Promise<unknown>): Promise<string> {
  const { database } = api.app;
  const { text: send, planned } = database;
  const asked: { text: string; values: unknown[] }[] = [];
  database.text = (query) => {
    asked.push(query);
    return send(query);
  };
  database.planned = (query) => {
    asked.push(query);
    return planned(query);
  };
  await read().finally(() => Object.assign(database, { text: send, planned }));
  const { text, values } = asked.find((query) => query.text.includes(says))!;
  const { rows } = await database.execute(`explain ${text}`, values);
  return (rows as { 'QUERY PLAN': string }[]).map((row) => row['QUERY PLAN']).join('\n');
}
