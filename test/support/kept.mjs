import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { memoryPGlite } = await import(pathToFileURL(new URL('../../dist/src/kernel/database/pglite.js', import.meta.url).pathname).href);

/** One that was emptied too often is full of old versions of the catalog's rows. */
const mostUses = 30;
/** Who still has a transaction open when its server is closed does not get it back for the next one. */
const patienceMs = 2000;
/** Nobody else is at it then: all the rest is work, which takes as long as the machine does. */
const workMs = 15_000;

/** What tests write to. Migrations, and the queues of jobs, each a table of its own, stay. */
const ourTables = `
  select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('public', 'pgboss') and c.relkind = 'r' and c.oid <> all ('{_prisma_migrations, pgboss.version, pgboss.queue}'::regclass[])`;

/** Changes whenever a test changed anything but rows: a table, an index, a trigger, a function, a constraint, statistics, settings. */
const shapeOfAll = `
  select md5(concat(
    (select string_agg(concat_ws(' ', c.oid, c.relname, c.relnatts, c.relchecks, c.reloptions), ',' order by c.oid)
     from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'public'),
    (select concat_ws(' ', count(*), max(xmin::text::bigint)) from pg_proc),
    (select concat_ws(' ', count(*), max(xmin::text::bigint)) from pg_constraint c where connamespace = 'public'::regnamespace),
    (select concat_ws(' ', count(*), max(t.xmin::text::bigint)) from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = 'public'::regnamespace),
    (select concat_ws(' ', count(*), max(a.xmin::text::bigint)) from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace),
    (select count(*) from pg_statistic s join pg_class c on c.oid = s.starelid where c.relnamespace = 'public'::regnamespace),
    (select concat_ws(' ', count(*), max(xmin::text::bigint)) from pg_db_role_setting)
  )) as shape`;

const within = (ms, work) => Promise.race([work, new Promise((_, reject) => setTimeout(reject, ms, new Error('busy')).unref())]);

const tablesOf = async (pg) => (await pg.query(ourTables)).rows.map(({ name }) => name);

const shapeOf = async (pg) => (await pg.query(shapeOfAll)).rows[0].shape;

/** What the migrations wrote, which no emptying may take: `[table, rows as JSON]`. */
async function rowsOf(pg) {
  const rows = [];
  for (const name of await tablesOf(pg)) {
    const { rows: found } = await pg.query(`select json_agg(t)::text as json from ${name} t`);
    if (found[0].json) rows.push([name, found[0].json]);
  }
  return rows;
}

/** Puts the rows back as they were at the beginning; false where more than rows was changed. */
async function empty({ pg, shape, rows }) {
  await within(patienceMs, pg.exec('rollback'));
  await pg.exec('discard all');
  if ((await shapeOf(pg)) !== shape) return false;
  await pg.exec(`truncate ${await tablesOf(pg)} restart identity`);
  await pg.exec('set session_replication_role = replica');
  for (const [name, json] of rows) await pg.query(`insert into ${name} select * from json_populate_recordset(null::${name}, $1)`, [json]);
  for (const text of ['reset session_replication_role', "set time zone 'UTC'", 'checkpoint', 'vacuum pg_class']) await pg.exec(text);
  return true;
}

/** Those that no server has. */
const idle = [];

/**
 * An empty, migrated embedded database. They go from one server to the next one of a worker: to empty one takes a tenth of the time
 * that another one needs to start, which was more than the tests of many a file. To close it gives it back.
 */
export async function takeDatabase(image) {
  for (let kept = idle.pop(); kept; kept = idle.pop()) {
    if (kept.uses < mostUses && (await within(patienceMs + workMs, empty(kept)).catch(() => false))) return lend(kept);
    await kept.close().catch(() => {});
  }
  const pg = await memoryPGlite(new Blob([readFileSync(image)]));
  return lend({ pg, shape: await shapeOf(pg), rows: await rowsOf(pg), close: pg.close.bind(pg), uses: 0 });
}

function lend(kept) {
  kept.uses += 1;
  let isLent = true;
  kept.pg.close = async () => {
    if (isLent) idle.push(kept);
    isLent = false;
  };
  return kept.pg;
}

/** Open ones have timers, by which a process that has nothing else to do would stay. */
export const closeDatabases = () => Promise.all(idle.splice(0).map(({ close }) => close()));

// So it is with a worker that was told to end; without workers the global teardown does it.
process.on('removeListener', (event) => {
  if (event === 'message') void closeDatabases();
});
