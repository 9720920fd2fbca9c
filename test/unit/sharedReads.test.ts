import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { sql } from '../../src/kernel/database/sql.js';
import { LookupBatcher } from '../../src/kernel/reads/lookupBatcher.js';
import { freshPlace } from '../support/database.js';

let db: Database;
let drop = async () => {};
let statements = 0;

beforeAll(async () => {
  const place = await freshPlace();
  drop = place.drop;
  const { databaseUrl: url, image } = place;
  db = await openDatabase({ url, image, dataDir: ':memory:', onStatement: () => void statements++ });
});
afterAll(async () => {
  await db.close();
  await drop();
});

describe('lookups that are asked for at the same time', () => {
  test('share statements, and each gets its own answer', async () => {
    const reads = new LookupBatcher(db);
    const before = statements;
    const asked = Array.from({ length: 60 }, (_, i) => reads.text(sql`select (${i}::int * 2)::text`));
    expect(await Promise.all(asked)).toEqual(asked.map((_, i) => String(i * 2)));
    expect(statements - before).toBeLessThan(14);
  });

  test('of another kind stand apart', async () => {
    const reads = new LookupBatcher(db);
    const asked = ['a', 'b'].flatMap((word) => [
      reads.text(sql`select upper(${word}::text)`),
      reads.text(sql`select ${word}::text || '!'`),
    ]);
    expect(await Promise.all(asked)).toEqual(['A', 'a!', 'B', 'b!']);
  });

  test('have a statement each where any number may be under way', async () => {
    const reads = new LookupBatcher(db, Number.POSITIVE_INFINITY);
    const before = statements;
    const asked = [1, 2, 3, 4].map((i) => reads.text(sql`select (${i}::int * 2)::text`));
    expect(await Promise.all(asked)).toEqual(['2', '4', '6', '8']);
    expect(statements - before).toBe(4);
  });

  test('fail alone', async () => {
    const reads = new LookupBatcher(db);
    const asked = [1, 2, 0, 3, 4, 5, 0, 6].map((divisor) => reads.text(sql`select (60 / ${divisor}::int)::text`));
    const outcomes = await Promise.allSettled(asked);
    const texts = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'refused'));
    expect(texts).toEqual(['60', '30', 'refused', '20', '15', '12', 'refused', '10']);
  });
});

describe('lookups of which one takes too long', () => {
  beforeAll(async () => {
    await db.execute(`create function in_time(is_slow boolean) returns text language plpgsql as $$
      begin
        if is_slow then raise exception 'ended' using errcode = '57014'; end if;
        return 'in time';
      end $$`);
  });

  test('are asked once more, each by itself and within the share of its account, and fail alone', async () => {
    const turns: string[] = [];
    const reads = new LookupBatcher(db, undefined, (account, read) => {
      turns.push(account);
      return read();
    });
    const before = statements;
    const asked = ['a', 'b', 'c', 'd', 'slow', 'e', 'f', 'g'].map((who) =>
      reads.text(sql`select in_time(${who === 'slow'}::boolean)`, who),
    );
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map(({ status }) => status)).toEqual(asked.map((_, i) => (i === 4 ? 'rejected' : 'fulfilled')));
    // Two by themselves, four together and then one by one, and the last two.
    expect(turns).toEqual(['c', 'd', 'slow', 'e']);
    expect(statements - before).toBe(2 + 1 + 4 + 1);
  });
});
