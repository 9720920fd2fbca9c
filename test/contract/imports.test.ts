import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

const { create, made, imported, errorsOf, contactsOf } = importsBy(() => acme.owner);

/** Over GraphQL the errors of one import, of all that there are, are counted by field. */
async function errorsByField({ id }: Loose): Promise<void> {
  const where = `where: { import: { id: { eq: "${id}" } } }`;
  const groups = `importErrorAggregate(${where}, groupBy: [{ field: field }]) { key { field } count }`;
  const nested = `import(id: "${id}") { errors(first: 1, filter: { field: "email" }) { totalCount nodes { row field } } }`;
  const { data, errors } = await acme.owner.gql(
    `{ ${groups} ${nested} allImportErrors(${where}, first: 1) { totalCount nodes { row import { id } } } }`,
  );
  expect(errors).toBeUndefined();
  const fields = ['assignedTo', 'customFields.seats', 'doNotContact', 'email', 'firstName', 'phone'];
  expect(data.importErrorAggregate).toEqual(fields.map((field) => ({ key: { field }, count: 1 })));
  expect(data.import.errors).toEqual({ totalCount: 1, nodes: [{ row: expect.any(Number), field: 'email' }] });
  expect(data.allImportErrors).toEqual({ totalCount: 6, nodes: [{ row: 2, import: { id } }] });
}

describe('POST /imports', () => {
  it('keeps the rows and shows how they would be read, and imports nothing yet', async () => {
    const csv = 'First Name,E-Mail,Mobile,Nonsense,Tags\nAda,ADA@example.com,(415) 555-0123,x,"vip, lead"\nBob,nobody,,,\n';
    const told = await toldIn(acme, async () => {
      const import_ = await made({ name: 'people.csv', csv });
      expect(import_).toMatchObject({
        ...{ name: 'people.csv', status: 'pending', mode: 'create', matchOn: null, totalRows: 2, processedRows: 0, progress: 0 },
        mapping: { 'First Name': 'firstName', 'E-Mail': 'email', Mobile: 'phone', Tags: 'tags' },
        preview: [
          { row: 1, fields: { firstName: 'Ada', email: 'ADA@example.com', phone: '+14155550123', tags: ['vip', 'lead'] }, error: null },
          { row: 2, fields: {}, error: 'email must be an e-mail address' },
        ],
      });
      expect(await contactsOf(import_)).toEqual([]);
    });
    expect(told.rows.map((row) => row.name)).toEqual(['import.created']);
  });

  it('refuses what cannot be read, by the name of what is wrong', async () => {
    const rows = [{ name: 'x', email: 'a@example.com' }];
    await expectNothingWritten(api, async () => {
      for (const [body, field] of [
        [{}, 'rows'],
        [{ rows, csv: 'email\na@example.com' }, 'rows'],
        [{ rows: [] }, 'rows'],
        [{ csv: 'email' }, 'csv'],
        [{ csv: 'email\n"a@example.com' }, 'csv'],
        [{ csv: 'email,name\n"a"b,c' }, 'csv'],
        [{ rows: [{ nothing: 1 }] }, 'mapping'],
        [{ rows, mapping: {} }, 'mapping'],
        [{ rows, mapping: { city: 'city' } }, 'mapping.city'],
        [{ rows, mapping: { name: 'password' } }, 'mapping.name'],
        [{ rows, mapping: { name: 'email', email: 'email' } }, 'mapping.email'],
        [{ rows, mode: 'update', matchOn: 'phone' }, 'matchOn'],
        [{ rows, mode: 'replace' }, 'mode'],
        [{ rows: Array.from({ length: 10_001 }, () => ({ email: 'a@example.com' })) }, 'rows'],
      ] as const) {
        const reply = await create(body);
        expectRefusal(reply, 400);
        expect(reply.body.details?.[0].field).toBe(field);
      }
    });
  });

  it('takes bodies of up to 10 MiB, and no other row does', async () => {
    const large = 'x'.repeat(2 * 1024 * 1024);
    expect((await create({ csv: `email,note\na@example.com,${large}` })).status).toBe(201);
    expectRefusal(await create({ csv: 'x'.repeat(11 * 1024 * 1024) }), 413);
    expectRefusal(await acme.owner.post('/contacts', { firstName: large }), 413);
  });
});

describe('a CSV file', () => {
  it.each([
    ['with a byte order mark and CRLF', '\uFEFFfirstName,lastName\r\nAda,Lovelace\r\n'],
    ['with semicolons', 'firstName;lastName\nAda;Lovelace'],
    ['with tabs', 'email\tfirstName\tlastName\n\tAda\tLovelace'],
    ['with a hint for Excel', 'sep=|\r\nfirstName|lastName\r\nAda|Lovelace'],
    ['with CR alone', 'firstName,lastName\rAda,Lovelace\r'],
    ['with quotes, empty lines and blanks', '"firstName" , lastName\n\n"Ada", Lovelace \n,\n'],
  ])('%s is read', async (_what, csv) => {
    const { preview, totalRows } = await made({ csv });
    expect([totalRows, preview[0].fields]).toEqual([1, { firstName: 'Ada', lastName: 'Lovelace' }]);
  });

  it('may hold line breaks and separators in quotes, columns without a name or with the same, and short rows', async () => {
    const csv = 'firstName,,firstName,company\n"A ""b""",x,Second,"Two\nlines, one cell"\nBea\n';
    const mapping = { firstName: 'firstName', 'firstName (2)': 'lastName', 'Column 2': 'source', company: 'company' };
    const { preview } = await made({ csv, mapping });
    expect(preview.map((row: Loose) => row.fields)).toEqual([
      { firstName: 'A "b"', lastName: 'Second', source: 'x', company: 'Two\nlines, one cell' },
      { firstName: 'Bea' },
    ]);
  });

  it('may have numbered columns of the same name before, and loses no cell of them', async () => {
    const csv = 'firstName,Note,Note (2),Note,Note\nAda,a,b,c,d\nBea,e,f,,\n';
    const mapping = { firstName: 'firstName', Note: 'city', 'Note (2)': 'state', 'Note (3)': 'zip', 'Note (4)': 'source' };
    const { preview } = await made({ csv, mapping });
    expect(preview.map((row: Loose) => row.fields)).toEqual([
      { firstName: 'Ada', city: 'a', state: 'b', zip: 'c', source: 'd' },
      { firstName: 'Bea', city: 'e', state: 'f' },
    ]);
    const ahead = { firstName: 'firstName', Note: 'city', 'Note (3)': 'state', 'Note (2)': 'zip' };
    const [row] = (await made({ csv: 'firstName,Note,Note,Note (2)\nAda,a,b,c\n', mapping: ahead })).preview;
    expect(row.fields).toEqual({ firstName: 'Ada', city: 'a', state: 'b', zip: 'c' });
  });

  it('that was exported comes back as it was, cells that look like formulas included', async () => {
    const source = await api.seed.account();
    const fields = {
      firstName: '=1+1',
      lastName: "O'Hara",
      jobTitle: "'=1+1",
      company: "''@x",
      city: "'quoted'",
      email: 'ada@example.com',
      phone: '+14155550123',
      zip: '01234',
      doNotContact: true,
    };
    const before = await source.contact({ ...fields, tags: ['a', 'b'], customFields: { plan: 'gold', seats: 5 } });
    const target = await api.seed.account();
    const import_ = await imported({ csv: (await source.owner.get('/contacts/export')).text }, target.owner);
    expect(await errorsOf(import_, target.owner)).toEqual([]);
    const [after] = await contactsOf(import_, target.owner);
    expect(after).toMatchObject({ ...fields, customFields: { plan: 'gold', seats: 5 } });
    expect(after.tags.map((tag: Loose) => tag.name)).toEqual(before.tags.map((tag: Loose) => tag.name));
  });

  it('with a row that has more cells than columns is imported but for that row', async () => {
    const import_ = await imported({ csv: 'firstName,lastName\nAda,Lovelace\nBob,Smith,more\nCleo,P' });
    expect(import_).toMatchObject({ totalRows: 3, processedRows: 3, createdCount: 2, errorCount: 1, progress: 1 });
    expect(await errorsOf(import_)).toMatchObject([{ row: 2, field: null, error: 'has more than 2 cells', data: { firstName: 'Bob' } }]);
  });
});

describe('POST /imports/{id}/process', () => {
  it('makes a contact of every row as POST /contacts would, and tells of each', async () => {
    const rows = Array.from({ length: 230 }, (_, i) => ({
      firstName: `P${String(i).padStart(3, '0')}`,
      zip: i,
      tags: 'imported',
      unknown: 'x',
    }));
    let import_: Loose;
    const told = await toldIn(acme, async () => {
      import_ = await imported({ rows });
    });
    expect(import_).toMatchObject({
      createdCount: 230,
      updatedCount: 0,
      errorCount: 0,
      processedRows: 230,
      completedAt: expect.any(String),
    });
    const contacts = await contactsOf(import_);
    expect([contacts.length, contacts[7].firstName, contacts[7].zip, contacts[7].tags[0].name]).toEqual([200, 'P007', '7', 'imported']);
    const rowsOf = (name: string) => told.rows.filter((row) => row.name === name);
    expect(rowsOf('contact.created')).toHaveLength(230);
    expect(new Set(told.rows.map((row) => row.actorId))).toEqual(new Set([acme.ownerId]));
    const contactsTold = (list: string[]) => list.filter((line) => line.startsWith('contact.'));
    expect(contactsTold(told.entries)).toEqual(contactsTold(told.events));
    expect(rowsOf('tag.created')).toHaveLength(1);
  });

  it('tells how far it is, and what was done as one batch that has its id', async () => {
    const rows = Array.from({ length: 130 }, (_, i) => ({ firstName: `Batch ${i}` }));
    let import_: Loose = {};
    const told = await toldIn(acme, async () => {
      import_ = await imported({ rows });
    });
    const own = told.rows.filter((row) => row.entityId === import_.id);
    const steps = [25, 50, 75, 100, 125, 130].map((to, nth) => ({ from: nth * 25, to }));
    expect(own.map((row) => row.name)).toEqual([
      ...['import.created', 'import.updated', 'import.started', ...steps.map(() => 'import.updated')],
      ...['import.updated', 'import.completed'],
    ]);
    expect(own.slice(3, 9).map((row) => row.changes)).toEqual(steps.map((step) => ({ processedRows: step, createdCount: step })));
    expect(own[8]!.data).toMatchObject({ progress: 1, status: 'processing' });
    expect(told.entries.filter((line) => line.endsWith(import_.id)).sort()).toEqual(
      ['completed', 'created', 'started'].map((fact) => `import.${fact} ${import_.id}`),
    );
    const contacts = told.rows.filter((row) => row.name === 'contact.created');
    expect(new Set(contacts.map((row) => row.batchId))).toEqual(new Set([import_.id]));
  });
});

describe('an import that an API key begins', () => {
  it('is told as done by that key, from its first row to its last', async () => {
    const key = await acme.key({ scopes: ['contacts'] });
    const rows = Array.from({ length: 520 }, (_, i) => ({ firstName: `Keyed ${i}`, tags: 'keyed' }));
    const told = await toldIn(acme, () => imported({ rows }, key));
    expect(told.rows.filter((row) => row.name === 'contact.created')).toHaveLength(520);
    expect(new Set(told.rows.map(({ actorKind, actorId }) => `${actorKind} ${actorId}`))).toEqual(new Set([`api_key ${key.record.id}`]));
  });
});

describe('rows in error', () => {
  it('imports what is right and keeps what is wrong, row by row', async () => {
    dataOf(await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey: 'seats', label: 'Seats', fieldType: 'number' }));
    const csv = [
      'firstName,email,phone,doNotContact,customFields.seats,assignedTo,tags',
      'Ada,ada@example.com,,yes,5,,',
      'Bob,no address,,,,,',
      'Cleo,,12,,,,',
      'Dora,,,perhaps,,,',
      'Eve,,,,many,,',
      `Finn,,,,,${crypto.randomUUID()},`,
      ',,,,7,,',
      'Gus,,,,,,"one; two"',
    ].join('\n');
    const import_ = await imported({ csv });
    expect(import_).toMatchObject({ totalRows: 8, processedRows: 8, createdCount: 2, errorCount: 6 });
    expect((await errorsOf(import_)).map(({ row, field }) => [row, field])).toEqual([
      [2, 'email'],
      [3, 'phone'],
      [4, 'doNotContact'],
      [5, 'customFields.seats'],
      [6, 'assignedTo'],
      [7, 'firstName'],
    ]);
    const found = await contactsOf(import_);
    expect(found.map((contact) => [contact.firstName, contact.doNotContact, contact.customFields, contact.tags.length])).toEqual([
      ['Ada', true, { seats: 5 }, 0],
      ['Gus', false, {}, 2],
    ]);
    const page = dataOf(await acme.owner.get(`/imports/${import_.id}/errors?limit=2&field=`));
    expect([page.meta.total, page.data.length]).toEqual([6, 2]);
    const next = dataOf(await acme.owner.get(`/imports/${import_.id}/errors?limit=2&cursor=${page.meta.next_cursor}`));
    expect(next.data.map((one: Loose) => one.row)).toEqual([4, 5]);
    await errorsByField(import_);
  });
});

describe('a row whose value is an object', () => {
  it('is one in error, in the preview as well, and the others are imported', async () => {
    const odd = { toString: 1 };
    const rows = [{ firstName: 'A' }, { firstName: 'B', doNotContact: odd }, { firstName: 'C', city: odd }, { firstName: 'D' }];
    const { preview } = await made({ rows });
    expect(preview.map((row: Loose) => row.error?.split(' ')[0] ?? null)).toEqual([null, 'doNotContact', 'city', null]);
    const import_ = await imported({ rows });
    expect(import_).toMatchObject({ createdCount: 2, errorCount: 2 });
    expect((await errorsOf(import_)).map(({ row, field }) => [row, field])).toEqual([
      [2, 'doNotContact'],
      [3, 'city'],
    ]);
  });
});

describe('processing an import', () => {
  it('happens once: 409 afterwards', async () => {
    const import_ = await made({ rows: [{ firstName: 'Once' }] });
    const replies = await Promise.all(Array.from({ length: 3 }, () => acme.owner.post(`/imports/${import_.id}/process`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    await eventually(async () => dataOf(await acme.owner.get(`/imports/${import_.id}`)).status === 'completed');
    expectRefusal(await acme.owner.post(`/imports/${import_.id}/process`), 409);
    expect(await contactsOf(import_)).toHaveLength(1);
  });
});

describe('the plan', () => {
  it('is a limit for each row, and those within it are imported', async () => {
    const small = await api.seed.account({ plan: 'trial' });
    await api.app.database.prisma.count.create({ data: { accountId: small.id, kind: 'contacts', slot: 99, n: 950 } });
    const rows = Array.from({ length: 120 }, (_, i) => ({ firstName: `P${i}`, email: i === 3 ? 'no address' : `p${i}@example.com` }));
    const import_ = await imported({ rows }, small.owner);
    expect(import_).toMatchObject({ createdCount: 50, errorCount: 70 });
    const errors = await errorsOf(import_, small.owner);
    expect(new Set(errors.map(({ error }) => error))).toEqual(
      new Set(['email must be an e-mail address', 'The plan allows 1000 contacts']),
    );
  });
});
