import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { v7 } from 'uuid';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { CommitBatcher, type Write } from '../../src/kernel/writes/commitBatcher.js';
import { addRow } from '../../src/kernel/writes/rowBatches.js';
import { freshPlace } from '../support/database.js';

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
  const unit: Write = { batches: [], locks: new Map() };
  const now = new Date();
  addRow(unit.batches, 'insert', 'tags', { accountId: account, id: v7(), name, createdAt: now, updatedAt: now });
  return unit;
};
const names = async (account: string) => (await db.prisma.tag.findMany({ where: { accountId: account } })).map(({ name }) => name).sort();

describe('units that are written at the same time', () => {
  test('share statements, and each is there when it is said to be', async () => {
    const commits = new CommitBatcher(db);
    const wanted = Array.from({ length: 40 }, (_, i) => `shared ${String(i).padStart(2, '0')}`);
    const before = statements;
    await Promise.all(wanted.map((name) => commits.write(tag(accounts[0]!, name))));
    expect(statements - before).toBeLessThan(10);
    expect(await names(accounts[0]!)).toEqual(wanted);
  });

  test('have a statement each where any number may be under way', async () => {
    const commits = new CommitBatcher(db, Number.POSITIVE_INFINITY);
    const wanted = ['first', 'second', 'third', 'fourth'];
    const before = statements;
    await Promise.all(wanted.map((name) => commits.write(tag(accounts[0]!, name))));
    expect(statements - before).toBe(4);
    expect(await names(accounts[0]!)).toEqual(expect.arrayContaining(wanted));
  });

  test('fail alone: what the database refuses takes no other with it', async () => {
    const commits = new CommitBatcher(db);
    const wanted = ['one', 'two', 'two', 'three', 'four', 'five'];
    const outcomes = await Promise.allSettled(wanted.map((name) => commits.write(tag(accounts[1]!, name))));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await names(accounts[1]!)).toEqual(['five', 'four', 'one', 'three', 'two']);
  });
});
