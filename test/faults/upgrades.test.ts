import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { freshPlace, type Place } from '../support/database.js';
import { onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import { ServerProcess } from '../support/process.js';

jest.setTimeout(240_000);

/** The migration that is still to come, and what it adds. */
const [migration, table, column] = ['20261127183200_line_free', 'live_calls', 'line_free_at'];
/** How long a process may take to begin what is waited for. */
const patience = 60_000;

let place: Place;
let admin: pg.Client;
const running: ServerProcess[] = [];

function start(): ServerProcess {
  const made = new ServerProcess({ DATABASE_URL: place.databaseUrl!, SECRET_KEY: 's'.repeat(44) });
  running.push(made);
  return made;
}

async function expectServing(server: ServerProcess) {
  expect((await fetch(`${await server.address()}/healthz`)).status).toBe(200);
  const { rows } = await admin.query(
    `select finished_at is not null as done from _prisma_migrations where migration_name = $1 and rolled_back_at is null`,
    [migration],
  );
  expect(rows).toEqual([{ done: true }]);
  await admin.query(`select ${column} from ${table}`);
}

/** Has the migration's script wait in its middle until `held` is empty. */
const hold = () =>
  admin.query(`create table held as select 1 as n;
    create function hold() returns event_trigger language plpgsql as $$ begin
      while exists (select from held) loop perform pg_sleep(0.05); end loop;
    end $$;
    create event trigger hold on ddl_command_start when tag in ('ALTER TABLE') execute function hold()`);

const isHeld = async () =>
  (await admin.query(`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`)).rowCount === 1;

onPostgres(describe)('an upgrade', () => {
  beforeEach(async () => {
    place = await freshPlace();
    admin = new pg.Client(place.databaseUrl);
    await admin.connect();
    await admin.query(`alter table ${table} drop column ${column}`);
    await admin.query('delete from _prisma_migrations where migration_name = $1', [migration]);
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.kill()));
    await admin.end();
    await place.drop();
  });

  it('whose process is killed goes on, and the next process waits for what it comes to', async () => {
    await hold();
    const killed = start();
    await eventually(isHeld, patience);
    await killed.kill();
    const next = start();
    await eventually(() => next.output.includes('"msg":"a migration waits for others"'), patience);
    await admin.query('delete from held');
    await expectServing(next);
  });

  it('waits for who has a table without keeping the others from it, and says who it is', async () => {
    const dump = new pg.Client({ connectionString: place.databaseUrl, application_name: 'dump' });
    await dump.connect();
    try {
      await dump.query(`begin; select from ${table}`);
      const upgrading = start();
      await eventually(() => upgrading.output.includes('"application":"dump"'), patience);
      await admin.query(`set lock_timeout = '20s'`);
      for (let n = 0; n < 3; n++) await admin.query(`select from ${table}`);
      await dump.query('rollback');
      await expectServing(upgrading);
    } finally {
      await dump.end();
    }
  });
});
