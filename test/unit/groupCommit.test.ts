import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { v7 } from 'uuid';
import { pause } from '../../src/kernel/base/eventLoop.js';
import { Shares } from '../../src/kernel/base/shares.js';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { sql } from '../../src/kernel/database/sql.js';
import { GroupCommit, type Write } from '../../src/kernel/writes/groupCommit.js';
import type { LockMode } from '../../src/kernel/writes/locks.js';
import { addRow, statementsOf } from '../../src/kernel/writes/rowBatches.js';
import { freshPlace, onPostgres } from '../support/database.js';

let db: Database;
let drop = async () => {};
let statements = 0;
let accounts: string[];

beforeAll(async () => {
  const place = await freshPlace();
  drop = place.drop;
  const { databaseUrl: url, image } = place;
  db = await openDatabase({ url, image, dataDir: ':memory:', onStatement: () => void statements++ });
  accounts = await Promise.all(['A', 'B'].map(async (name) => (await db.prisma.account.create({ data: { name } })).id));
});
afterAll(async () => {
  await db.close();
  await drop();
});

const tag = (account: string, name: string): Write => {
  const unit: Write = { batches: [], locks: [] };
  const now = new Date();
  addRow(unit.batches, 'insert', 'tags', { accountId: account, id: v7(), name, createdAt: now, updatedAt: now });
  return unit;
};
const renamed = (account: string, id: string, name: string): Write => {
  const unit: Write = { batches: [], locks: [] };
  addRow(unit.batches, 'update', 'tags', { accountId: account, id, name });
  return unit;
};
const names = async (account: string) => (await db.prisma.tag.findMany({ where: { accountId: account } })).map(({ name }) => name).sort();

describe('units that are written at the same time', () => {
  test('share statements, and each is there when it is said to be', async () => {
    const commits = new GroupCommit(db);
    const wanted = Array.from({ length: 40 }, (_, i) => `shared ${String(i).padStart(2, '0')}`);
    const before = statements;
    await Promise.all(wanted.map((name) => commits.write(tag(accounts[0]!, name))));
    expect(statements - before).toBeLessThan(10);
    expect(await names(accounts[0]!)).toEqual(wanted);
  });

  test('have a statement each where any number may be under way', async () => {
    const commits = new GroupCommit(db, Number.POSITIVE_INFINITY);
    const wanted = ['first', 'second', 'third', 'fourth'];
    const before = statements;
    await Promise.all(wanted.map((name) => commits.write(tag(accounts[0]!, name))));
    expect(statements - before).toBe(4);
    expect(await names(accounts[0]!)).toEqual(expect.arrayContaining(wanted));
  });

  test('are apart where each takes the same for itself, and share a statement where they share it', async () => {
    const commits = new GroupCommit(db, 1);
    const holding = (name: string, exclusive: string[]): Write => {
      const locks = ['a', 'b'].map((name) => ({
        name,
        mode: 'shared' as const,
        own: sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`,
      }));
      return { ...tag(accounts[0]!, name), locks, exclusive: new Set(exclusive) };
    };
    const written = async (units: Write[]) => {
      const before = statements;
      // The first goes alone, the others wait for it.
      await Promise.all(units.map((unit) => commits.write(unit)));
      return statements - before - 1;
    };
    expect(await written([holding('x0', []), holding('x1', []), holding('x2', []), holding('x3', [])])).toBe(1);
    expect(await written([holding('y0', ['c']), holding('y1', ['a']), holding('y2', ['a']), holding('y3', ['b'])])).toBe(2);
    expect(await names(accounts[0]!)).toEqual(expect.arrayContaining(['x1', 'x2', 'x3', 'y1', 'y2', 'y3']));
  });

  test('share statements for changes too, but for those of one row, which follow each other', async () => {
    const [account] = accounts as [string];
    const commits = new GroupCommit(db, 1);
    const made = ['c1', 'c2', 'c3'].map((name) => tag(account, name));
    await Promise.all(made.map((unit) => commits.write(unit)));
    const [c1, c2, c3] = made.map(({ batches }) => batches[0]!.rows[0]!.id as string) as [string, string, string];
    const before = statements;
    // The first goes alone, and the last two cannot go together.
    const changes = [renamed(account, c1, 'd1'), renamed(account, c2, 'd2'), renamed(account, c3, 'd3'), renamed(account, c2, 'e2')];
    await Promise.all(changes.map((unit) => commits.write(unit)));
    expect(statements - before).toBe(3);
    expect(await names(account)).toEqual(expect.arrayContaining(['d1', 'd3', 'e2']));
    expect(await names(account)).not.toContain('d2');
  });

  test('fail alone: what the database refuses takes no other with it', async () => {
    const commits = new GroupCommit(db);
    const wanted = ['one', 'two', 'two', 'three', 'four', 'five'];
    const outcomes = await Promise.allSettled(wanted.map((name) => commits.write(tag(accounts[1]!, name))));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await names(accounts[1]!)).toEqual(['five', 'four', 'one', 'three', 'two']);
  });
});

test('units for which nobody waits go together from the first one on', async () => {
  const commits = new GroupCommit(db);
  const wanted = ['patient 1', 'patient 2', 'patient 3'];
  const before = statements;
  await Promise.all(wanted.map((name) => commits.write({ ...tag(accounts[0]!, name), mayWait: true })));
  expect(statements - before).toBe(1);
  expect(await names(accounts[0]!)).toEqual(expect.arrayContaining(wanted));
});

test.each([true, false])('units of one account keep to its share of connections where all of them fail, may wait: %s', async (mayWait) => {
  const share = new Shares(2);
  let [underWay, most, sent] = [0, 0, 0];
  const held = {
    async text(): Promise<string> {
      sent++;
      most = Math.max(most, ++underWay);
      await pause(5);
      underWay--;
      throw Object.assign(new Error('could not obtain lock'), { code: '55P03' });
    },
  };
  const commits = new GroupCommit(held, undefined, (account, write) => share.run(account, write));
  const units = Array.from({ length: 32 }, (_, i) => ({ ...tag(accounts[0]!, `held ${i}`), mayWait }));
  const outcomes = await Promise.allSettled(units.map((unit) => commits.write(unit)));
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
  // They went together first, and then each by itself.
  expect(sent).toBeGreaterThan(32);
  expect(most).toBe(2);
});

const several = async (n: number) =>
  Promise.all(Array.from({ length: n }, async (_, i) => (await db.prisma.account.create({ data: { name: `many ${i}` } })).id));
/** A unit that takes a lock of its account, and makes sure of something. */
const sure = (account: string, name: string, isThere = true, mode: LockMode = 'shared'): Write => ({
  ...tag(account, name),
  locks: [
    { name: 'a lock', own: sql`pg_advisory_xact_lock_shared(hashtextextended(${account}::text || ${'a lock'}::text, 0))`, mode },
    {
      name: 'an account',
      own: sql`still_there((select count(*) from (select 1 from (select name from accounts where id = ${account}::uuid) v where ${isThere ? 'yes' : 'no'} = 'yes') held))`,
      mode,
    },
  ],
});
const statementsOfAll = async (commits: GroupCommit, units: Write[]) => {
  const before = statements;
  const outcomes = await Promise.allSettled(units.map((unit) => commits.write(unit)));
  return { sent: statements - before, outcomes: outcomes.map(({ status }) => status) };
};

describe('units of several accounts', () => {
  test('share a statement, each with what it takes, and its text with any number of others', async () => {
    const [all, texts] = [await several(7), new Set<string>()];
    const noted = {
      text: (query: { text: string; values: unknown[] }) => {
        if (query.text.includes('lock_timeout')) texts.add(query.text);
        return db.text(query);
      },
    };
    const commits = new GroupCommit(noted, 1);
    for (const some of [all, all.slice(0, 4)]) {
      const { sent, outcomes } = await statementsOfAll(
        commits,
        some.map((account) => sure(account, `with ${some.length}`)),
      );
      expect([sent, new Set(outcomes)]).toEqual([2, new Set(['fulfilled'])]);
    }
    expect(texts.size).toBe(1);
    for (const [i, account] of all.entries()) expect(await names(account)).toEqual(i < 4 ? ['with 4', 'with 7'] : ['with 7']);
  });

  test('fail alone, and go without others for a moment after that', async () => {
    const all = await several(4);
    const commits = new GroupCommit(db, 1);
    const units = () => all.map((account, i) => sure(account, v7(), i !== 2));
    // The first, the others together, and each of these by itself.
    expect(await statementsOfAll(commits, units())).toEqual({ sent: 5, outcomes: ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'] });
    expect(await statementsOfAll(commits, units())).toEqual({ sent: 4, outcomes: ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'] });
    expect(await Promise.all(all.map(async (account) => (await names(account)).length))).toEqual([2, 2, 0, 2]);
  });
});

describe('what units of several accounts wait for', () => {
  // The embedded database has one connection: nobody has a lock while another writes.
  onPostgres(test)('is not what one of them waits for', async () => {
    const [a, b, c] = (await several(3)) as [string, string, string];
    const commits = new GroupCommit(db, 1);
    const settled: string[] = [];
    const write = (account: string, name: string) => commits.write(sure(account, name)).then(() => void settled.push(name));
    let all: Promise<void>[] = [];
    await db.prisma.$transaction(async (tx) => {
      await tx.$queryRaw(sql`select pg_advisory_xact_lock(hashtextextended(${b}::text || ${'a lock'}::text, 0))::text`);
      all = [write(a, 'first'), write(a, 'a'), write(b, 'b'), write(c, 'c')];
      await Promise.all([all[0], all[1], all[3]]);
      expect(settled).not.toContain('b');
    });
    await Promise.all(all);
    expect([...settled].sort()).toEqual(['a', 'b', 'c', 'first']);
  });

  test('is only each other: what changes something, takes it alone or is large goes by itself', async () => {
    const [a, b, c] = (await several(3)) as [string, string, string];
    const commits = new GroupCommit(db, 1);
    const first = tag(a, 'first');
    await commits.write(first);
    const large = tag(b, 'large');
    for (let i = 0; i < 20; i++) addRow(large.batches, 'insert', 'tags', { ...large.batches[0]!.rows[0]!, id: v7(), name: `large ${i}` });
    const units = [
      renamed(a, first.batches[0]!.rows[0]!.id as string, 'changed'),
      large,
      { ...sure(c, 'alone'), exclusive: new Set(['x']) },
    ];
    expect((await statementsOfAll(commits, [tag(a, 'before'), ...units])).sent).toBe(4);
    expect([await names(a), (await names(b)).length, await names(c)]).toEqual([['before', 'changed'], 21, ['alone']]);
  });
});

test('units that are written at the same time fail alone where one of them is too large for an index, whatever the database calls that', async () => {
  const account = (await db.prisma.account.create({ data: { name: 'C' } })).id;
  const commits = new GroupCommit(db, 1);
  const tooLarge = randomBytes(20_000).toString('hex');
  const wanted = ['one', 'two', tooLarge, 'three', 'four'];
  const outcomes = await Promise.allSettled(wanted.map((name) => commits.write(tag(account, name))));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(await names(account)).toEqual(['four', 'one', 'three', 'two']);
});

test('a unit writes a record before what refers to it, also where it names other columns than those before', () => {
  const unit: Write = { batches: [], locks: [] };
  const add = (table: string, row: Record<string, unknown>) => addRow(unit.batches, 'insert', table, row);
  add('contacts', { id: 'a', firstName: 'A' });
  add('contact_tags', { contactId: 'a', tagId: 't' });
  add('contacts', { firstName: 'B', id: 'b' });
  add('contact_tags', { contactId: 'b', tagId: 't' });
  const order = statementsOf(unit.batches).map((batches) => batches.map(({ layout, rows }) => [layout.table, rows.length]));
  expect(order).toEqual([
    [
      ['contacts', 1],
      ['contact_tags', 1],
    ],
    [
      ['contacts', 1],
      ['contact_tags', 1],
    ],
  ]);
});

test('a statement carries two million characters of a table at most, and a larger row by itself', () => {
  const unit: Write = { batches: [], locks: [] };
  const add = (id: string, size: number) => addRow(unit.batches, 'insert', 'messages', { id, body: 'x'.repeat(size) });
  for (let i = 0; i < 10; i++) add(`small ${i}`, 300_000);
  add('large', 5_000_000);
  add('last', 1);
  const order = statementsOf(unit.batches).map((batches) => batches.map(({ rows }) => rows.length));
  expect(order).toEqual([[6], [4], [1], [1]]);
});

test('units go together as far as their rows come to two million characters', async () => {
  const commits = new GroupCommit(db, 1);
  const note = (): Write => {
    const unit: Write = { batches: [], locks: [] };
    const now = new Date();
    addRow(unit.batches, 'insert', 'notes', {
      ...{ accountId: accounts[0]!, id: v7(), body: 'x'.repeat(900_000), createdAt: now, updatedAt: now },
    });
    return unit;
  };
  const before = statements;
  await Promise.all(Array.from({ length: 5 }, () => commits.write(note())));
  expect(statements - before).toBe(3);
  expect(await db.prisma.note.count({ where: { accountId: accounts[0]! } })).toBe(5);
});
