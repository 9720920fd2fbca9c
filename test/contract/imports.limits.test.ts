import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweep } from '../../src/workers/sweeps.js';
import { importsBy } from '../support/imports.js';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const { create, made, imported, processed, errorsOf } = importsBy(() => acme.owner);

describe('what an import may have', () => {
  const line = (cells: number, cell = '1') => Array(cells).fill(cell).join();
  const header = (columns: number, length = 4) =>
    Array.from({ length: columns }, (_, n) => (n ? `c${n}`.padEnd(length, '_') : 'firstName')).join();

  it('is 500 columns and 10,000 rows', async () => {
    expect((await made({ csv: `${header(500)}\n${line(500)}` })).preview).toMatchObject([{ fields: { firstName: '1' } }]);
    const rows = `firstName\n${'Ada\n'.repeat(10_000)}`;
    expect((await made({ csv: rows })).totalRows).toBe(10_000);
    await expectNothingWritten(api, async () => {
      for (const [body, message] of [
        [{ csv: `${header(501)}\n${line(501)}` }, 'csv must have at most 500 columns'],
        [{ csv: line(2_000_000, 'a') }, 'csv must have at most 500 columns'],
        [{ csv: `${header(501, 200)}\n${line(501)}` }, 'csv must have at most 500 columns'],
        [{ csv: `${rows}Bob` }, 'csv must have at most 10000 rows'],
        [{ csv: `firstName\nAda\n${line(10_002)}` }, 'csv must have lines of at most 10000 cells'],
        [{ csv: `sep=€\nfirstName\nAda\n${line(10_002).replaceAll(',', '€')}` }, 'csv must have lines of at most 10000 cells'],
        [
          { csv: `${header(500, 2000)}\n${`${line(500)}\n`.repeat(100)}` },
          'csv must be at most 64 MiB with the name of its column at each cell',
        ],
        [{ rows: Array.from({ length: 501 }, (_, n) => ({ [`c${n}`]: 1 })) }, 'rows must have at most 500 columns'],
        [{ rows: [{ firstName: 'Ada' }, { firstName: 'x'.repeat(65_536) }] }, 'rows.1 must be at most 64 KB of JSON'],
        [{ rows: [{ firstName: 'Ada' }, { note: '\0' }] }, 'rows.1 must be valid Unicode text without NUL'],
      ] as const) {
        const reply = await create(body);
        expect(reply.body.error).toBe(message);
        expectRefusal(reply, message.includes('KB') ? 413 : 400);
      }
    });
  });

  it('is no row more than others: one with far more cells than there are columns is in error, and the rest imported', async () => {
    const import_ = await imported({ csv: `firstName\nAda\n${line(9000)}\nBob` });
    expect(import_).toMatchObject({ totalRows: 3, createdCount: 2, errorCount: 1 });
  });

  it('and each file counts: ten a minute from one address, through both APIs', async () => {
    const limited = await server({ limits: { general: 1000, graphql: 1000, import: 3 } });
    const { owner } = await limited.seed.account();
    const rows = [{ firstName: 'Ada' }];
    for (let n = 0; n < 2; n++) expect((await owner.post('/imports', { rows })).status).toBe(201);
    const mutation = 'mutation ($rows: [JSONObject!]) { createImport(input: { rows: $rows }) { id } }';
    expect((await owner.gql(mutation, { rows })).errors).toBeUndefined();
    expect((await owner.post('/imports', { rows })).status).toBe(429);
    expect((await owner.gql(mutation, { rows })).status).toBe(429);
    expect((await owner.get('/imports')).status).toBe(200);
    await limited.close();
  });
});

describe('what is read of an import', () => {
  it('is no row that says more than 64 KB of its contact: it is in error, and nobody looks at its cells', async () => {
    const tags = 'a,'.repeat(33_000);
    const long = await made({ csv: `firstName;tags;note\nAda;${tags};\nBob;a;${tags}` });
    const error = 'The columns that are imported must have at most 64 KB in a row';
    expect(long.preview).toEqual([
      { row: 1, fields: {}, error },
      { row: 2, fields: { firstName: 'Bob', tags: ['a'] }, error: null },
    ]);
    expect(await processed(long)).toMatchObject({ createdCount: 1, errorCount: 1 });
    expect(await errorsOf(long)).toMatchObject([{ row: 1, field: null, error }]);
  });

  it('is read for as many previews as a page has, some imports at a time', async () => {
    const mine = await api.seed.account();
    const ids = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => dataOf(await create({ rows: [{ firstName: `A${n}` }] }, mine.owner)).id as string),
    );
    const { data } = await mine.owner.gql('{ imports(first: 30) { nodes { id preview { fields } } } }');
    const read = new Map(data.imports.nodes.map(({ id, preview }: Loose) => [id, preview]));
    expect(ids.map((id) => read.get(id))).toEqual(ids.map((_, n) => [{ fields: { firstName: `A${n}` } }]));
  });
});

describe('an import whose rows are still being written', () => {
  it('is not there, and is forgotten when it is not finished within ten minutes', async () => {
    const mine = await api.seed.account();
    const { id } = dataOf(await mine.owner.post('/imports', { rows: [{ firstName: 'Ada' }] }));
    /** As if it were begun so many minutes ago, by the clock that all processes share. */
    const age = (minutes: number) =>
      api.app.database.execute(
        `update imports set total_rows = 0, leased_until = null, created_at = now() - make_interval(mins => $2::int) where id = $1`,
        [id, minutes],
      );
    await age(9);
    expect((await mine.owner.get(`/imports/${id}`)).status).toBe(404);
    expect((await mine.owner.post(`/imports/${id}/process`)).status).toBe(404);
    expect(dataOf(await mine.owner.get('/imports')).data).toEqual([]);
    const left = async () => (await api.app.database.execute('select 1 from import_rows where import_id = $1', [id])).rows.length;
    await mine.owner.post('/imports', { rows: [{ firstName: 'Bob' }] });
    expect(await left()).toBe(1);
    await age(11);
    await mine.owner.post('/imports', { rows: [{ firstName: 'Cleo' }] });
    expect(await left()).toBe(0);
  });

  it('is not there for its rows in error either', async () => {
    const mine = await api.seed.account();
    const { id } = dataOf(await mine.owner.post('/imports', { csv: 'firstName,lastName\nAda,Lovelace,x\nBob,Smith\n' }));
    const shown = async () => {
      const { data } = await mine.owner.gql(
        '{ allImportErrors { totalCount nodes { row import { id } } } importErrorAggregate { count } }',
      );
      return data;
    };
    expect(await shown()).toEqual({
      allImportErrors: { totalCount: 1, nodes: [{ row: 1, import: { id } }] },
      importErrorAggregate: [{ count: 1 }],
    });
    await api.app.database.execute('update imports set total_rows = 0 where id = $1', [id]);
    expect(await shown()).toEqual({ allImportErrors: { totalCount: 0, nodes: [] }, importErrorAggregate: [{ count: 0 }] });
  });

  it('is forgotten by itself as well, where nobody makes another one', async () => {
    const mine = await api.seed.account();
    const one = async (): Promise<string> => (await made({ rows: [{ firstName: 'Ada' }] }, mine.owner)).id;
    const [late, now] = [await one(), await one()];
    const begun = 'update imports set total_rows = 0, leased_until = now() + make_interval(secs => $2::int) where id = $1';
    await api.app.database.execute(begun, [late, -1]);
    await api.app.database.execute(begun, [now, 60]);
    await sweep(api.app);
    const { rows } = await api.app.database.execute(
      'select import_id from import_rows where account_id = $1 union all select id from imports where account_id = $1',
      [mine.id],
    );
    expect(rows).toEqual([{ import_id: now }, { import_id: now }]);
  });
});

it('a row that is refused for a required custom field takes no place in the plan: the rows behind it have the last two', async () => {
  const trial = await api.seed.account({ plan: 'trial' });
  const field = { entityType: 'contact', fieldKey: 'seats', label: 'Seats', fieldType: 'number', isRequired: true };
  dataOf(await trial.owner.post('/custom-fields', field));
  const times = { createdAt: new Date(), updatedAt: new Date() };
  const data = Array.from({ length: 998 }, () => ({ accountId: trial.id, id: crypto.randomUUID(), firstName: 'Ada', ...times }));
  await api.app.database.prisma.contact.createMany({ data });
  const mapping = { firstName: 'firstName', seats: 'customFields.seats' };
  const rows = [null, 1, 2].map((seats) => ({ firstName: 'Bob', seats }));
  expect(await imported({ rows, mapping }, trial.owner)).toMatchObject({ createdCount: 2, errorCount: 1 });
  expectRefusal(await trial.owner.post('/contacts', { firstName: 'Cid', customFields: {} }), 402);
});

describe('an import whose job is gone', () => {
  it.each(['user', 'api_key'])('goes on in the name of whoever began it: %s', async (kind) => {
    const mine = await api.seed.account();
    const key = await mine.key({ scopes: ['contacts'] });
    const [who, actorId] = kind === 'user' ? [mine.owner, mine.ownerId] : [key, key.record.id];
    const { id } = await imported({ rows: [{ firstName: 'Ada' }] }, who);
    await eventually(async () => !(await api.app.jobs.has('contactImport', mine.id, { importId: id })));
    const { execute } = api.app.database;
    await execute("update import_rows set status = 'pending', contact_id = null where import_id = $1", [id]);
    await execute("update imports set status = 'processing', processed_rows = 0, created_count = 0, completed_at = null where id = $1", [
      id,
    ]);
    const { rows: told } = await toldIn(mine, async () => {
      await sweep(api.app);
      await eventually(async () => dataOf(await key.get(`/imports/${id}`)).status === 'completed');
    });
    expect(told.find(({ name }) => name === 'contact.created')).toMatchObject({ actorKind: kind, actorId });
  });
});
