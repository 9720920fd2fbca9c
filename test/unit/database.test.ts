import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { lockByName, sharedLock } from '../../src/kernel/context/nameLocks.js';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { takeLock } from '../../src/kernel/database/lock.js';
import { sql } from '../../src/kernel/database/sql.js';
import { statementNames } from '../../src/kernel/database/statementNames.js';
import { freshPlace, onEmbedded, type Place } from '../support/database.js';

let place: Place;
let db: Database;
let statements = 0;
const accounts: string[] = [];
beforeAll(async () => {
  place = await freshPlace();
  db = await openDatabase({ url: place.databaseUrl, dataDir: ':memory:', image: place.image, onStatement: () => void statements++ });
  for (const name of ['A', 'B']) accounts.push((await db.prisma.account.create({ data: { name } })).id);
});
afterAll(async () => {
  await db.close();
  await place.drop();
});

const now = new Date('2026-01-02T03:04:05.678Z');
const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const row = (accountId: string, n: number) => ({ accountId, id: uuid(n), createdAt: now, updatedAt: now });

let dir: string;
function inFolder(): void {
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'crm-db-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
}
const open = () => openDatabase({ dataDir: dir, image: place.image });

onEmbedded(describe)('the embedded database on disk', () => {
  inFolder();
  const deadPid = () => spawnSync(process.execPath, ['-e', '']).pid;

  test('keeps its data, refuses a second opener by name, and takes over the lock of a dead process', async () => {
    const first = await open();
    const account = await first.prisma.account.create({ data: { name: 'Acme' } });
    await expect(open()).rejects.toThrow(/in use by another process \(pid \d+\)/);
    await first.close();
    expect(existsSync(join(dir, 'database.lock'))).toBe(false);

    writeFileSync(join(dir, 'database.lock'), `${deadPid()} 1\n`);
    const second = await open();
    expect(await second.prisma.account.findUnique({ where: { id: account.id } })).toMatchObject({ name: 'Acme' });
    expect(readFileSync(join(dir, 'database.lock'), 'utf8')).toMatch(new RegExp(`^${process.pid} `));
    await second.close();
  });

  test('an interrupted initialisation leaves nothing that is taken for a database', async () => {
    mkdirSync(join(dir, 'database.init-1'));
    writeFileSync(join(dir, 'database.init-1', 'PG_VERSION'), '18\n');
    const db = await open();
    expect(await db.isCurrent()).toBe(true);
    await db.close();
    expect(readdirSync(dir)).toEqual(['database']);
  });
});

onEmbedded(describe)('of folders that the embedded database cannot open', () => {
  inFolder();

  test('a damaged directory is refused and left as it is', async () => {
    mkdirSync(join(dir, 'database'));
    writeFileSync(join(dir, 'database', 'precious'), 'rows');
    await expect(open()).rejects.toThrow(/damaged or incomplete and was left untouched/);
    expect(readdirSync(join(dir, 'database'))).toEqual(['precious']);
    expect(existsSync(join(dir, 'database.lock'))).toBe(false);
  });

  test('one of another version of PostgreSQL is refused by name, and not as damage', async () => {
    await (await open()).close();
    const version = join(dir, 'database', 'PG_VERSION');
    const ours = readFileSync(version, 'utf8');
    writeFileSync(version, '17\n');
    const refused = open();
    await expect(refused).rejects.toThrow(`is one of PostgreSQL 17, and this version of the server reads ${ours.trim()} alone`);
    await expect(refused).rejects.not.toThrow('damaged');
    expect(existsSync(join(dir, 'database.lock'))).toBe(false);
    writeFileSync(version, ours);
    await (await open()).close();
  });

  test('one with a file that cannot be reached says which', async () => {
    await (await open()).close();
    const wal = join(dir, 'database', 'pg_wal');
    renameSync(wal, `${wal}.kept`);
    symlinkSync(join(dir, 'nowhere'), wal);
    await expect(open()).rejects.toThrow(/cannot be opened, by the system: ENOENT: .+pg_wal'\. It was left untouched/);
  });

  test('a truncated write-ahead log is refused, not recovered by guessing', async () => {
    await (await open()).close();
    const wal = join(dir, 'database', 'pg_wal');
    const segments = readdirSync(wal).filter((name) => /^[0-9A-F]{24}$/.test(name));
    for (const name of segments) truncateSync(join(wal, name), 0);
    await expect(open()).rejects.toThrow(/damaged or incomplete and was left untouched/);
  });
});

describe('the lock file', () => {
  const file = join(tmpdir(), `crm-lock-${process.pid}`, 'database.lock');
  afterEach(() => rmSync(join(file, '..'), { recursive: true, force: true }));

  test('names the live process that holds it', () => {
    mkdirSync(join(file, '..'));
    const started = readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];
    writeFileSync(file, `${process.ppid} ${started}\n`);
    expect(() => takeLock(file)).toThrow(`pid ${process.ppid}`);
    writeFileSync(file, `${process.ppid} 1\n`);
    takeLock(file)();
    expect(existsSync(file)).toBe(false);
  });

  const elsewhere = `${process.pid} 1 another-boot/pid:[1]\n`;
  const held = (text: string) => {
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
  };

  test('of another container is held as long as somebody touches it, whatever its pid', async () => {
    held(elsewhere);
    const touch = `const touch = () => { const now = new Date(); require('fs').utimesSync(${JSON.stringify(file)}, now, now); };
      setInterval(touch, 200); touch(); console.log('touched')`;
    const holder = spawn(process.execPath, ['-e', touch]);
    await once(holder.stdout, 'data');
    expect(() => takeLock(file)).toThrow('in use by another process');
    expect(readFileSync(file, 'utf8')).toBe(elsewhere);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const release = takeLock(file);
    expect(readFileSync(file, 'utf8')).not.toBe(elsewhere);
    release();
  });

  test('of a process of which the system tells no start time is not that of whoever has its pid now', () => {
    held(`${process.ppid} - -\n`);
    takeLock(file)();
    expect(existsSync(file)).toBe(false);
  });

  test('is touched by its holder even while that one is busy, and left when somebody else has it', async () => {
    const release = takeLock(file);
    const touched = async (pause: (ms: number) => unknown) => {
      const before = statSync(file).mtimeMs;
      for (let i = 0; i < 200 && statSync(file).mtimeMs === before; i++) await pause(50);
      return statSync(file).mtimeMs > before;
    };
    expect(await touched((ms) => new Promise((resume) => setTimeout(resume, ms)))).toBe(true);
    expect(await touched((ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms))).toBe(true);
    writeFileSync(file, elsewhere);
    release();
    expect(readFileSync(file, 'utf8')).toBe(elsewhere);
  });
});

describe('what the database keeps by itself', () => {
  const total = async (accountId: string, kind: string) =>
    Number((await db.prisma.count.aggregate({ where: { accountId, kind }, _sum: { n: true } }))._sum.n ?? 0);

  test('totals stay exact through bulk writes, rollback, soft delete, restore and statements over several accounts', async () => {
    const [a, b] = accounts as [string, string];
    const { contact } = db.prisma;
    await contact.createMany({ data: [1, 2, 3].flatMap((n) => [row(a, n), row(b, n + 3)]) });
    expect([await total(a, 'contacts'), await total(b, 'contacts')]).toEqual([3, 3]);
    await contact.updateMany({ where: { id: { in: [1, 2, 4, 5].map(uuid) } }, data: { deletedAt: now } });
    expect([await total(a, 'contacts'), await total(b, 'contacts')]).toEqual([1, 1]);
    await contact.updateMany({ where: { accountId: a, id: uuid(1) }, data: { deletedAt: null } });
    await contact.updateMany({ data: { firstName: 'Ada' } });
    expect([await total(a, 'contacts'), await total(b, 'contacts')]).toEqual([2, 1]);
    const failing = db.prisma.$transaction(async (tx) => {
      await tx.contact.create({ data: row(a, 9) });
      throw new Error('back');
    });
    await expect(failing).rejects.toThrow('back');
    expect(await total(a, 'contacts')).toBe(2);
    await db.prisma.tag.createMany({
      data: [
        { ...row(a, 1), name: 'x' },
        { ...row(a, 2), name: 'y' },
      ],
    });
    await db.prisma.tag.deleteMany({ where: { accountId: a, name: 'y' } });
    expect(await total(a, 'tags')).toBe(1);
  });

  test('contacts.tag_ids follows contact_tags', async () => {
    const accountId = accounts[1] as string;
    const tags = [11, 12, 13].map(uuid);
    const ids = async () => (await db.prisma.contact.findUniqueOrThrow({ where: { key: { accountId, id: uuid(21) } } })).tagIds;
    await db.prisma.contact.create({ data: row(accountId, 21) });
    await db.prisma.tag.createMany({ data: [11, 12, 13].map((n) => ({ ...row(accountId, n), name: `tag ${n}` })) });
    await db.prisma.contactTag.createMany({
      data: [12, 11].map((n) => ({ accountId, contactId: uuid(21), tagId: uuid(n), createdAt: now })),
    });
    expect(await ids()).toEqual([tags[0], tags[1]]);
    await db.prisma.contactTag.updateMany({ where: { accountId, tagId: uuid(11) }, data: { tagId: uuid(13) } });
    expect(await ids()).toEqual([tags[1], tags[2]]);
    await db.prisma.contactTag.deleteMany({ where: { accountId, contactId: uuid(21), tagId: uuid(12) } });
    expect(await ids()).toEqual([tags[2]]);
  });

  test('generated columns fold case beyond ASCII, and find a phone by its digits', async () => {
    const accountId = accounts[1] as string;
    const data = { ...row(accountId, 22), firstName: 'Éva', email: 'ÉVA@Example.com', phone: '+15550100' };
    const made = await db.prisma.contact.create({ data });
    expect(made.emailLower).toBe(data.email.toLowerCase());
    expect(made.searchText).toBe(' éva  éva@example.com +15550100 15550100');
  });
});

describe('statements and transactions', () => {
  test('every statement is counted once, a transaction with its BEGIN and COMMIT', async () => {
    statements = 0;
    await db.prisma.$transaction(async (tx) => void (await tx.$queryRaw`select 1`));
    expect(statements).toBe(3);
  });

  test('isolation is what was asked for', async () => {
    const level = await db.prisma.$transaction((tx) => tx.$queryRaw`show transaction_isolation`, { isolationLevel: 'Serializable' });
    expect(level).toEqual([{ transaction_isolation: 'serializable' }]);
  });

  test('a commit after a swallowed error is refused, after a rollback to a savepoint it holds', async () => {
    const accountId = accounts[0] as string;
    const bad = { ...row(accountId, 31), companyId: uuid(404) };
    const swallowed = db.prisma.$transaction(async (tx) => void (await tx.contact.create({ data: bad }).catch(() => {})));
    await expect(swallowed).rejects.toThrow('nothing was committed');
    await db.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`savepoint one`;
      await tx.contact.create({ data: bad }).catch(() => {});
      await tx.$executeRaw`rollback to savepoint one`;
      await tx.contact.create({ data: row(accountId, 32) });
    });
    expect(await db.prisma.contact.count({ where: { accountId, id: { in: [uuid(31), uuid(32)] } } })).toBe(1);
  });

  test('a failed script of the job queue leaves the connection usable', async () => {
    await expect(db.execute('begin; select 1 / 0; commit')).rejects.toThrow('division by zero');
    expect((await db.execute('select $1::int as n', [7])).rows).toEqual([{ n: 7 }]);
  });
});

test('a long statement gets no name, and all that have one are bounded', () => {
  const name = statementNames();
  const ask = (sql: string) => name({ sql });
  const long = `select '${'x'.repeat(20_000)}'`;
  expect([long, long].map(ask)).toEqual([undefined, undefined]);
  const texts = Array.from({ length: 200 }, (_, i) => `select '${i} ${'x'.repeat(19_000)}'`);
  const named = texts.filter((text) => [ask(text), ask(text)].includes(undefined) && ask(text) !== undefined);
  expect(named.length).toBeGreaterThan(50);
  expect(named.length).toBeLessThan(110);
});

test('statement names are given on the second use and are bounded', () => {
  const name = statementNames(2);
  const ask = (sql: string) => name({ sql });
  expect(['select 1', 'select 1', 'select 1', 'BEGIN', 'BEGIN'].map(ask)).toEqual([undefined, 's0', 's0', undefined, undefined]);
  expect(['select 2', 'select 2', 'select 3', 'select 3'].map(ask)).toEqual([undefined, 's1', undefined, undefined]);
});

test('a lock that some share is the one that others of the account take alone by its name', async () => {
  const locksOf = (shared: string, alone: string, [one, other] = [accounts[0]!, accounts[0]!]) =>
    db.prisma.$transaction(async (tx) => {
      await tx.$queryRaw(sql`select ${sharedLock(one, shared)}::text`);
      await tx.$queryRaw(lockByName.part(other, { name: alone }));
      return tx.$queryRawUnsafe<{ modes: string[] }[]>(`
        select array_agg(mode order by mode) as modes from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
        group by classid, objid order by 1`);
    });
  const [together, apart] = [[{ modes: ['ExclusiveLock', 'ShareLock'] }], [{ modes: ['ExclusiveLock'] }, { modes: ['ShareLock'] }]];
  expect(await locksOf('names', 'names')).toEqual(together);
  expect(await locksOf('names', 'other names')).toEqual(apart);
  expect(await locksOf('names', 'names', [accounts[0]!, accounts[1]!])).toEqual(apart);
});
