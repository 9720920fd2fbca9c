import { afterAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Alone } from '../support/alone.js';
import { dataOf, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';

jest.setTimeout(120_000);

let house: Alone | undefined;
afterAll(() => house?.end());

const importOf = async (id: string): Promise<Loose> => dataOf(await house!.caller.get(`/imports/${id}`));

/** Ends the server within a run of its only import, which nobody lets make a contact; the next one takes it up at once. */
async function killWithinRun(outside: pg.Client): Promise<void> {
  await eventually(async () => {
    const { rows } = await outside.query("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'");
    return rows.length > 0;
  }, 30_000);
  await house!.process.kill();
  // What waits in the database for the one that is dead would be taken for a run of the next one.
  await outside.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`);
  await outside.query(
    "update pgboss.job set started_on = started_on - interval '1 minute' where name = 'contactImport' and state = 'active'",
  );
  await house!.start();
}

onPostgres(it)('an import in whose middle the server died three times has failed, and may be begun anew', async () => {
  house = await Alone.begin();
  const outside = new pg.Client(house.databaseUrl);
  await outside.connect();
  const rows = Array.from({ length: 30 }, (_, n) => ({ firstName: `P${n}` }));
  const { id } = dataOf(await house.caller.post('/imports', { rows }));
  const holder = new pg.Client(house.databaseUrl);
  await holder.connect();
  await holder.query('begin');
  await holder.query('lock table contacts in share mode');
  dataOf(await house.caller.post(`/imports/${id}/process`));
  for (let n = 0; n < 3; n++) await killWithinRun(outside);
  const failed = await eventually(async () => {
    const seen = await importOf(id);
    return seen.status === 'failed' && seen;
  }, 30_000);
  expect(failed).toMatchObject({ processedRows: 0, error: 'The server ended three times in the middle of it without getting on' });
  await holder.query('commit');
  await Promise.all([holder.end(), outside.end()]);
  expect(dataOf(await house.caller.post(`/imports/${id}/process`))).toMatchObject({ status: 'processing', error: null });
  await eventually(async () => (await importOf(id)).status === 'completed', 30_000);
  expect(await importOf(id)).toMatchObject({ processedRows: 30, createdCount: 30, error: null });
});
