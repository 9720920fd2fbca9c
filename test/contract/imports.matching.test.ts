import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { actingForPerson } from '../../src/modules/auth/auth.acting.js';
import { type Account, type Client, dataOf, expectRefusal, type Loose, server, type TestServer, toldIn } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

async function imported(body: object, who: Client = acme.owner): Promise<Loose> {
  const { id } = dataOf(await who.post('/imports', body));
  dataOf(await who.post(`/imports/${id}/process`));
  await eventually(async () => dataOf(await who.get(`/imports/${id}`)).status === 'completed');
  return dataOf(await who.get(`/imports/${id}`));
}
const errorsOf = async ({ id }: Loose): Promise<Loose[]> => dataOf(await acme.owner.get(`/imports/${id}/errors`)).data;
const found = async (search: string): Promise<Loose[]> =>
  dataOf(await acme.owner.get(`/contacts?search=${encodeURIComponent(search)}`)).data;

describe('an import that makes contacts', () => {
  it('takes null in a row for nothing said, as POST /contacts does', async () => {
    const nothing = { masterStatus: null, optedOutSms: null, optedOutEmail: null, customFields: null, tags: null, city: null };
    const import_ = await imported({ rows: [{ firstName: 'Nil', email: 'nil@create.example', ...nothing }] });
    expect(import_).toMatchObject({ createdCount: 1, errorCount: 0 });
    const { id, createdAt, updatedAt, importId, ...made } = (await found('nil@create.example'))[0]!;
    const asked = dataOf(await acme.owner.post('/contacts', { firstName: 'Nil', email: 'nil@create.example', ...nothing }));
    expect(asked).toMatchObject(made);
  });

  it('refuses null for a custom field that is required, as POST /contacts does', async () => {
    const other = await api.seed.account();
    const field = { entityType: 'contact', fieldKey: 'seats', label: 'Seats', fieldType: 'number', isRequired: true };
    dataOf(await other.owner.post('/custom-fields', field));
    const mapping = { firstName: 'firstName', seats: 'customFields.seats' };
    expectRefusal(await other.owner.post('/contacts', { firstName: 'A', customFields: { seats: null } }), 422, 'customFields.seats');
    const import_ = await imported({ rows: [{ firstName: 'A', seats: null }], mapping }, other.owner);
    expect(import_).toMatchObject({ createdCount: 0, errorCount: 1 });
  });
});

describe('an import that updates', () => {
  it('changes the contacts that it finds and makes none', async () => {
    const ada = await acme.contact({ firstName: 'Ada', email: 'Ada@Update.example', city: 'London', customFields: { a: 1 } });
    const bob = await acme.contact({ firstName: 'Bob', email: 'bob@update.example' });
    const rows = [
      { email: 'ada@UPDATE.example', lastName: 'Lovelace', city: '', customFields: { b: 2 } },
      { email: 'nobody@update.example', lastName: 'Nobody' },
      { email: null, lastName: 'Nameless' },
      { email: bob.email, firstName: 'Bob' },
    ];
    let import_: Loose;
    const told = await toldIn(acme, async () => {
      import_ = await imported({ rows, mode: 'update' });
    });
    expect(import_).toMatchObject({ createdCount: 0, updatedCount: 2, errorCount: 2 });
    expect(told.events.filter((event) => event.startsWith('contact.'))).toEqual([`contact.updated ${ada.id}`]);
    expect(dataOf(await acme.owner.get(`/contacts/${ada.id}`))).toMatchObject({
      lastName: 'Lovelace',
      city: 'London',
      customFields: { a: 1, b: 2 },
    });
    expect((await errorsOf(import_)).map(({ row, error }) => [row, error])).toEqual([
      [2, 'Contact with this email not found'],
      [3, 'email is required to find the contact'],
    ]);
    expect(dataOf(await acme.owner.get(`/contacts?import_id=${import_.id}`)).data).toEqual([]);
  });

  it('finds by phone and by id too', async () => {
    const ada = await acme.contact({ firstName: 'Ada', phone: '+14155550177' });
    await imported({ rows: [{ phone: '(415) 555-0177', city: 'Paris' }], mode: 'update', matchOn: 'phone' });
    const theirs = await (await api.seed.account()).contact();
    const rows = [{ id: ada.id.toUpperCase(), zip: '75001' }, { id: theirs.id, zip: '1' }, { id: 'nonsense', zip: '2' }]; // biome-ignore format: one line
    expect(await imported({ rows, mode: 'update', matchOn: 'id' })).toMatchObject({ updatedCount: 1, errorCount: 2 });
    expect(dataOf(await acme.owner.get(`/contacts/${ada.id}`))).toMatchObject({ city: 'Paris', zip: '75001' });
  });
});

describe('an import of contacts that have refused', () => {
  const refusals = { doNotContact: true, optedOutSms: true, optedOutEmail: true };
  const reason = { doNotContactReason: 'Asked never to be called' };

  it('of a file that is older than that corrects them, and takes nothing of it back', async () => {
    const account = await api.seed.account();
    const { owner } = account;
    const ada = await account.contact({ firstName: 'Ada', email: 'ada@refused.example', phone: '+14155550188' });
    const csv = (await owner.get('/contacts/export')).text.replace('Ada', 'Adele');
    dataOf(await owner.patch(`/contacts/${ada.id}`, { ...refusals, ...reason }));
    expect(await imported({ csv, mode: 'upsert' }, owner)).toMatchObject({ updatedCount: 1, errorCount: 0 });
    const rows = [
      { email: ada.email, doNotContact: false, doNotContactReason: 'None', optedOutSms: 'no', optedOutEmail: '0', city: 'Rome' },
    ];
    expect(await imported({ rows, mode: 'update' }, owner)).toMatchObject({ updatedCount: 1, errorCount: 0 });
    // A row of JSON may say that there is no reason, by itself or with the refusal.
    const without = [{}, { doNotContact: true }].map((row) => ({ email: ada.email, doNotContactReason: null, ...row }));
    expect(await imported({ rows: without, mode: 'update' }, owner)).toMatchObject({ updatedCount: 2, errorCount: 0 });
    expect(dataOf(await owner.get(`/contacts/${ada.id}`))).toMatchObject({ firstName: 'Adele', city: 'Rome', ...refusals, ...reason });
    dataOf(await owner.patch(`/contacts/${ada.id}`, { doNotContact: false }));
    const reply = await owner.post('/email/send', { contactId: ada.id, subject: 'Offer', body: 'Hello' });
    expect([reply.status, reply.body.code]).toEqual([422, 'recipient_opted_out']);
  });

  it('notes who has refused by the file', async () => {
    const account = await api.seed.account();
    const { owner } = account;
    const bob = await account.contact({ firstName: 'Bob', email: 'bob@refused.example' });
    await imported({ rows: [{ email: bob.email, ...refusals, ...reason }], mode: 'update' }, owner);
    expect(dataOf(await owner.get(`/contacts/${bob.id}`))).toMatchObject({ ...refusals, ...reason });
  });

  it('is none where the template is filled in as its example is', async () => {
    const [columns, example] = (await acme.owner.get('/contacts/import/template')).text.split('\r\n');
    expect(columns).toContain('doNotContact,');
    expect(example).not.toMatch(/true|false/);
  });
});

describe('an import that updates or makes', () => {
  it('makes one contact of rows with one address, the later ones changing it', async () => {
    const rows = [
      { email: 'one@upsert.example', firstName: 'First' },
      { email: 'two@upsert.example', firstName: 'Other' },
      { email: 'ONE@upsert.example', lastName: 'Second' },
      { firstName: 'Addressless upsert' },
      { email: 'one@upsert.example', city: 'Third' },
    ];
    expect(await imported({ rows, mode: 'upsert' })).toMatchObject({ createdCount: 3, updatedCount: 2, errorCount: 0 });
    expect(await found('one@upsert')).toMatchObject([{ firstName: 'First', lastName: 'Second', city: 'Third' }]);
    expect(await imported({ rows: rows.slice(0, 2), mode: 'upsert' })).toMatchObject({ createdCount: 0, updatedCount: 2 });
  });

  it('and another of the same rows at the same moment make no double', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => ({ email: `p${i}@race.example`, firstName: `P${i}` }));
    const both = await Promise.all([imported({ rows, mode: 'upsert' }), imported({ rows: [...rows].reverse(), mode: 'upsert' })]);
    expect(both[0].createdCount + both[1].createdCount).toBe(60);
    expect(dataOf(await acme.owner.get('/contacts?search=race.example&per_page=1')).meta.total).toBe(60);
  });
});

describe('a run that was thought dead', () => {
  it('does nothing once another has taken over', async () => {
    const { id } = dataOf(await acme.owner.post('/imports', { rows: [{ firstName: 'Fenced' }, { firstName: 'Fenced' }] }));
    await api.app.database.prisma.import.updateMany({ where: { id }, data: { status: 'processing' } });
    const run = api.app.registry.jobs.get('contactImport')!;
    const one = async () => run((await actingForPerson(api.app, acme.id, acme.ownerId, 'test'))!, { importId: id }, { id, retries: 0 });
    await Promise.all([one(), one(), one()]);
    expect(dataOf(await acme.owner.get(`/imports/${id}`))).toMatchObject({ status: 'completed', createdCount: 2, processedRows: 2 });
    expect(await found('Fenced')).toHaveLength(2);
  });
});

describe('GET /imports', () => {
  it('is one’s own account’s, by status, through both APIs', async () => {
    const other = await api.seed.account();
    const { id } = dataOf(await other.owner.post('/imports', { name: 'mine', rows: [{ firstName: 'A' }] }));
    expect(dataOf(await other.owner.get('/imports?status=pending')).data).toMatchObject([{ id, name: 'mine' }]);
    expect(dataOf(await other.owner.get('/imports?status=completed')).data).toEqual([]);
    expectRefusal(await acme.owner.get(`/imports/${id}`), 404);
    expectRefusal(await acme.owner.get(`/imports/${id}/errors`), 404);
    expectRefusal(await acme.owner.post(`/imports/${id}/process`), 404);
    const document = '{ imports { totalCount nodes { id progress preview { row fields } } } }';
    expect((await other.owner.gql(document)).data.imports).toEqual({
      totalCount: 1,
      nodes: [{ id, progress: 0, preview: [{ row: 1, fields: { firstName: 'A' } }] }],
    });
  });
});
