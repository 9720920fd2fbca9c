import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import pg from 'pg';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { openPool, withSettings } from '../../src/kernel/database/pool.js';
import { postgresAdapter } from '../../src/kernel/database/postgres.js';
import { commitsUnawaited } from '../../src/kernel/database/sql.js';
import { freshPlace, onPostgres, type Place } from '../support/database.js';
import { type Pooler, poolerBefore } from '../support/pooler.js';

const optionsOf = (url: string) =>
  new pg.Client(withSettings(url, ['statement_timeout=5000'])) as unknown as { connectionParameters: object };

describe('the URL of the database', () => {
  it('adds its options to the server’s, which come last', () => {
    const own = '-c search_path=crm -c statement_timeout=0';
    const { connectionParameters } = optionsOf(`postgres://db/crm?options=${encodeURIComponent(own)}`);
    expect(connectionParameters).toMatchObject({ host: 'db', database: 'crm', options: `${own} -c statement_timeout=5000` });
    expect(optionsOf('postgres://db/crm').connectionParameters).toMatchObject({ options: '-c statement_timeout=5000' });
  });

  it('keeps what else it names', () => {
    const { connectionParameters } = optionsOf('postgres://ann:s%40%2Fcret@db:6432/crm%20two?host=%2Frun%2Fpg&application_name=mine');
    expect(connectionParameters).toMatchObject({
      ...{ user: 'ann', password: 's@/cret', port: 6432, database: 'crm two', host: '/run/pg', application_name: 'mine' },
    });
  });
});

/** What PostgreSQL sends: a letter, the length, and what it tells. */
function message(letter: string, ...told: (number | string)[]): Buffer {
  const body = Buffer.concat(told.map((one) => (typeof one === 'string' ? Buffer.from(one) : Buffer.from([0, 0, 0, one]))));
  return Buffer.concat([Buffer.from(letter), Buffer.from([0, 0, 0, body.length + 4]), body]);
}

describe('a connection that PostgreSQL ends with the bytes by which it began', () => {
  const shutDown = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0';
  const bytes = Buffer.concat([message('R', 0), message('K', 1, 2), message('Z', 'I'), message('E', shutDown)]);
  let ending: Server;
  let pool: pg.Pool;
  beforeAll(async () => {
    ending = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(bytes));
    });
    await once(ending.listen(0, '127.0.0.1'), 'listening');
    pool = openPool(`postgres://u:p@127.0.0.1:${(ending.address() as AddressInfo).port}/d`, {});
  });
  afterAll(async () => {
    await pool.end();
    ending.close();
  });

  // An error that nobody listens to would be none of the test's own, and fail it.
  it('fails a statement, and nothing besides', async () => {
    await expect(pool.query('select 1')).rejects.toThrow('not queryable');
  });

  it('fails a transaction, and nothing besides', async () => {
    const adapter = await postgresAdapter(pool).connect();
    await expect(adapter.startTransaction()).rejects.toThrow('not queryable');
  });
});

let place: Place;
let admin: pg.Client;
let db: Database;

async function pids() {
  const { rows } = await admin.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'crm-server' order by pid`,
  );
  return rows.map(({ pid }) => pid);
}
const stateOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code,
  );

onPostgres(describe)('PostgreSQL', () => {
  beforeAll(async () => {
    place = await freshPlace();
    admin = new pg.Client(place.databaseUrl);
    await admin.connect();
    await admin.query('create table words (word text primary key, number int)');
  });
  beforeEach(async () => {
    db = await openDatabase({ url: place.databaseUrl, dataDir: ':memory:' });
    await admin.query('truncate words');
    await db.execute('insert into words values ($1, 1)', ['taken']);
    await db.prisma.$queryRaw`select 1`;
  });
  afterEach(() => db.close());
  afterAll(async () => {
    await admin.end();
    await place.drop();
  });
  describe('and a refused statement', refusedStatements);
  describe('and a lost connection', lostConnections);
  describe('and its settings', ownSettings);
  describe('behind a pooler that drops the settings', behindPooler);
});

function refusedStatements() {
  it('stays open when a statement is refused', async () => {
    const before = await pids();
    expect(before.length).toBe(1);
    for (let n = 0; n < 3; n++) {
      expect(await stateOf(db.execute('insert into words values ($1, 2)', ['taken']))).toBe('23505');
      expect(await stateOf(db.text({ text: 'select ($1::int / 0)::text', values: [1] }))).toBe('22012');
      expect(await stateOf(db.prisma.$executeRaw`insert into words values (${'taken'}, 3)`)).toBe('P2010');
    }
    expect(await pids()).toEqual(before);
  });

  it('stays open when a lock is not to be had', async () => {
    const before = await pids();
    await admin.query('begin');
    await admin.query(`select from words where word = 'taken' for update`);
    const nowait = { text: 'select word from words where word = $1 for update nowait', values: ['taken'] };
    expect(await stateOf(db.text(nowait))).toBe('55P03');
    await admin.query('commit');
    expect(await db.text(nowait)).toBe('taken');
    expect(await pids()).toEqual(before);
  });
}

function lostConnections() {
  it('does not stay in a transaction that a script began and did not end', async () => {
    expect(await stateOf(db.execute(`begin; insert into words values ('taken', 2); commit`))).toBe('23505');
    expect(await db.text({ text: 'select word from words where word = $1', values: ['taken'] })).toBe('taken');
    const { rows } = await admin.query(
      `select state from pg_stat_activity where application_name = 'crm-server' and state like '%aborted%'`,
    );
    expect(rows).toEqual([]);
  });

  it('is given up when what it prepared no longer fits the table', async () => {
    const all = { text: 'select * from words where word = $1', values: ['taken'] };
    for (let n = 0; n < 3; n++) await db.text(all);
    await admin.query('alter table words add column letters int');
    expect(await stateOf(db.text(all))).toBe('0A000');
    for (let n = 0; n < 3; n++) expect(await db.text(all)).toBe('taken');
    await admin.query('alter table words drop column letters');
  });

  it('is given up when PostgreSQL ends it', async () => {
    const [before] = await pids();
    const ending = { text: 'select pg_terminate_backend(pg_backend_pid())::text where $1 = 1', values: [1] };
    expect(await stateOf(db.text(ending))).toBe('57P01');
    expect(await db.text({ text: 'select $1', values: ['here'] })).toBe('here');
    expect(await pids()).not.toContain(before);
  });
}

function ownSettings() {
  it('has the server’s settings whatever the URL says', async () => {
    const url = new URL(place.databaseUrl!);
    url.searchParams.set('options', '-c statement_timeout=0 -c TimeZone=Asia/Tokyo -c work_mem=5MB');
    url.searchParams.set('lock_timeout', '1');
    const odd = await openDatabase({ url: url.href, dataDir: ':memory:' });
    try {
      const names = [
        'statement_timeout',
        'TimeZone',
        'lock_timeout',
        'idle_in_transaction_session_timeout',
        'work_mem',
        'jit',
        'max_parallel_workers_per_gather',
      ];
      const { rows } = await odd.execute('select current_setting(name) as value from unnest($1::text[]) name', [names]);
      expect(rows.map((row) => (row as { value: string }).value)).toEqual(['5s', 'UTC', '2s', '10s', '5MB', 'off', '0']);
    } finally {
      await odd.close();
    }
  });

  it('is one of as many as the process may open, half of them for each kind of statement', async () => {
    const before = (await pids()).length;
    const few = await openDatabase({ url: place.databaseUrl, dataDir: ':memory:', pool: 8 });
    try {
      const slow = { text: 'select $1 || pg_sleep(0.2)::text', values: [''] };
      await Promise.all(Array.from({ length: 12 }, () => [few.text(slow), few.planned(slow)]).flat());
      expect((await pids()).length - before).toBe(8);
    } finally {
      await few.close();
    }
  });

  it('commits without waiting for the disk what says so, and waits for everything else', async () => {
    const unawaited = { text: `select ${commitsUnawaited.text}`, values: [] };
    const setting = { text: "select current_setting('synchronous_commit')", values: [] };
    // The databases of tests wait for no disk by themselves.
    const waiting = await openDatabase({ url: withSettings(place.databaseUrl!, ['synchronous_commit=on']), dataDir: ':memory:' });
    try {
      for (const ask of [waiting.text, waiting.planned]) {
        expect([await ask(unawaited)].flat()).toEqual(['off']);
        expect([await ask(setting)].flat()).toEqual(['on']);
      }
    } finally {
      await waiting.close();
    }
  });
}

function behindPooler() {
  let pooler: Pooler;
  beforeAll(async () => {
    pooler = await poolerBefore(place.databaseUrl!);
  });
  afterAll(() => pooler.close());
  const open = () => openDatabase({ url: pooler.url, dataDir: ':memory:' });

  it('is refused: times would be wrong, and nothing would end a wait', async () => {
    await expect(open()).rejects.toThrow(/statement_timeout = 0, lock_timeout = 0.*"options"/);
  });

  it('is taken where the database has them of its own', async () => {
    await admin.query(`do $$ declare name text = current_database(); begin
      execute format('alter database %I set timezone = ''Etc/UTC''', name);
      execute format('alter database %I set statement_timeout = 5000', name);
      execute format('alter database %I set lock_timeout = 2000', name);
    end $$`);
    const taken = await open();
    expect((await taken.execute('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await taken.close();
  });
}
