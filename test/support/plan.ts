import { eventually } from './live.js';
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

/**
 * Vacuums and analyzes until every row of these tables can be read from an index alone. A transaction that is open meanwhile, as that of
 * autovacuum, keeps pages from being marked, and the plans would be others.
 */
export async function vacuumed(api: TestServer, tables: string[]): Promise<void> {
  const { database } = api.app;
  await eventually(async () => {
    await database.execute('vacuum analyze');
    const { rows } = await database.execute(
      'select count(*)::int as n from pg_class where oid = any($1::text[]::regclass[]) and relallvisible < relpages',
      [tables],
    );
    return (rows as { n: number }[])[0]!.n === 0;
  }, 30_000);
}
