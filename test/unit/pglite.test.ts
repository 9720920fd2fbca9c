import type { PGlite } from '@electric-sql/pglite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { memoryPGlite } from '../../src/kernel/database/pglite.js';

let pg: PGlite;
let calls = 0;

beforeAll(async () => {
  pg = await memoryPGlite();
  const send = pg.execProtocolRaw.bind(pg);
  pg.execProtocolRaw = (...given) => {
    calls++;
    return send(...given);
  };
  await pg.exec('create table people (id int primary key, name text)');
});
afterAll(() => pg.close());
afterEach(() => pg.exec('truncate people'));

const calling = async (work: () => Promise<unknown>) => {
  const before = calls;
  await work();
  return calls - before;
};
const insert = (id: unknown, name: string | null) =>
  pg.query('insert into people (id, name) values ($1, $2) returning id, name', [id, name]);
const names = async () => (await pg.query<{ name: string }>('select name from people order by id')).rows.map(({ name }) => name);

describe('a statement on the embedded database', () => {
  it('goes in two calls, and in one once the database knows it by a name', async () => {
    const ask = () => pg.query('select $1::int + 1 as n', [1]);
    expect([await calling(ask), await calling(ask), await calling(ask), await calling(ask)]).toEqual([2, 2, 1, 1]);
  });

  it('answers alike whichever time it is sent, each with its own values', async () => {
    for (const [id, name] of [
      [1, 'Zoë'],
      [2, null],
      [3, ''],
      [4, '☎'],
    ] as const) {
      expect((await insert(id, name)).rows).toEqual([{ id, name }]);
    }
    for (let time = 0; time < 8; time++) expect(await names()).toEqual(['Zoë', null, '', '☎']);
  });

  it('that is refused says why at any time, and what comes after it is answered', async () => {
    for (let time = 0; time < 4; time++) {
      await expect(pg.query('select * from nowhere')).rejects.toMatchObject({ code: '42P01' });
      await expect(pg.query('select 1 / $1::int as n', [0])).rejects.toMatchObject({ code: '22012' });
      await expect(insert('many', 'A')).rejects.toMatchObject({ code: '22P02' });
      await expect(pg.query('select $1::int', [])).rejects.toMatchObject({ code: '08P01' });
      await pg.query('insert into people values ($1, $2)', [time, 'A']);
      await expect(insert(time, 'B')).rejects.toMatchObject({ code: '23505', constraint: 'people_pkey' });
      expect((await pg.query('select 10 / $1::int as n', [5])).rows).toEqual([{ n: 2 }]);
    }
    expect(await names()).toEqual(['A', 'A', 'A', 'A']);
  });

  it('that failed in a transaction has it refuse others until it is rolled back', async () => {
    for (let time = 0; time < 3; time++) {
      const work = pg.transaction(async (tx) => {
        await tx.query('insert into people values ($1, $2)', [time, 'A']);
        await expect(tx.query('select 1 / $1::int as n', [0])).rejects.toMatchObject({ code: '22012' });
        await tx.query('select name from people order by id');
      });
      await expect(work).rejects.toMatchObject({ code: '25P02' });
      expect(await names()).toEqual([]);
    }
  });

  it('answers the columns that a table has got since', async () => {
    await insert(1, 'A');
    const all = async () => (await pg.query('select * from people')).rows;
    for (let time = 0; time < 3; time++) expect(await all()).toEqual([{ id: 1, name: 'A' }]);
    await pg.query('alter table people add column age int default 7');
    for (let time = 0; time < 3; time++) expect(await all()).toEqual([{ id: 1, name: 'A', age: 7 }]);
    await pg.exec('alter table people drop column age');
    for (let time = 0; time < 3; time++) expect(await all()).toEqual([{ id: 1, name: 'A' }]);
  });

  it('of whatever length is answered, and many different ones are', async () => {
    const long = `select '${'x'.repeat(30_000)}' as x`;
    for (let time = 0; time < 3; time++) expect((await pg.query<{ x: string }>(long)).rows[0]!.x).toHaveLength(30_000);
    for (let time = 0; time < 3; time++) {
      for (let n = 0; n < 400; n++) expect((await pg.query(`select ${n} as n`)).rows).toEqual([{ n }]);
    }
  });
});

describe('an embedded database that has ended itself', () => {
  it('is asked nothing more, not even for the end of what failed', async () => {
    const failure = { severity: 'PANIC', code: '53100' };
    const database = await memoryPGlite();
    const asked: string[] = [];
    database.execProtocolRaw = async (given) => {
      asked.push(String.fromCharCode(given[0]!));
      throw Object.assign(new Error('could not write to file'), failure);
    };
    await expect(database.exec('commit')).rejects.toMatchObject(failure);
    await expect(database.query('select 1')).rejects.toMatchObject(failure);
    expect(asked).toEqual(['Q']);
  });
});
