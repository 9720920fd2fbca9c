import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type HeldUp, untilWaiting, whileHeldUp, whileLocked } from '../support/heldUp.js';
import { importsBy } from '../support/imports.js';
import { type Account, dataOf, expectRefusal, type Loose, onPostgres, type Reply, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());
beforeEach(async () => {
  acme = await api.seed.account();
});

const becomesNumber: HeldUp = { table: 'custom_fields', columns: 'field_type', rows: "new.field_type = 'number'" };

const field = async (): Promise<Loose> =>
  dataOf(await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey: 'size', label: 'Size', fieldType: 'text' }));

const create = (customFields: object) => acme.owner.post('/contacts', { firstName: 'Ada', customFields });

/** Writes a value while the type of its field becomes a number, which nothing keeps from it. */
async function whileRetyped(id: string, write: () => Promise<Reply>): Promise<Reply> {
  const retype = () => acme.owner.patch(`/custom-fields/${id}`, { fieldType: 'number' });
  const { replies } = await whileHeldUp(api, becomesNumber, retype, write);
  expect(replies[0]!.status).toBe(200);
  return replies[1]!;
}

onPostgres(describe)('a value that waits for a change of its definition goes by what that has become', () => {
  it('of a contact that is made, where the definitions were read before', async () => {
    const { id } = await field();
    dataOf(await create({ other: 1 }));
    expectRefusal(await whileRetyped(id, () => create({ size: 'XL' })), 400, 'customFields.size');
    expect(dataOf(await create({ size: 42 })).customFields).toEqual({ size: 42 });
  });

  it('of a contact that is made, where they are read for it', async () => {
    const { id } = await field();
    api.app.recalled.clear();
    expectRefusal(await whileRetyped(id, () => create({ size: 'XL' })), 400, 'customFields.size');
  });

  it('of a contact that is changed together with its tags', async () => {
    const { id } = await field();
    const contact = dataOf(await create({ other: 1 }));
    const patch = () => acme.owner.patch(`/contacts/${contact.id}`, { customFields: { size: 'XL' }, tags: ['large'] });
    expectRefusal(await whileRetyped(id, patch), 400, 'customFields.size');
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`))).toMatchObject({ customFields: { other: 1 }, tags: [] });
  });

  it('of many contacts that are changed at once', async () => {
    const { id } = await field();
    const contacts = [dataOf(await create({ other: 1 })), dataOf(await create({ other: 1 }))];
    const ids = contacts.map((contact) => contact.id);
    await whileRetyped(id, () => acme.owner.post('/bulk/contacts/edit', { ids, changes: { customFields: { size: 'XL' } } }));
    for (const one of ids) expect(dataOf(await acme.owner.get(`/contacts/${one}`)).customFields).toEqual({ other: 1 });
  });
});

onPostgres(describe)('who is refused for the values of a field', () => {
  it('waits for nobody who writes values: to be told the numbers, or that its type stays', async () => {
    const { id } = await field();
    dataOf(await create({ size: 'XL' }));
    await api.app.database.prisma.$transaction(async (writer) => {
      await writer.$executeRaw`select 1 from pg_advisory_xact_lock_shared(hashtextextended(${acme.id}::text || 'custom_fields', 0))`;
      const asked = await acme.owner.del(`/custom-fields/${id}`);
      expectRefusal(asked, 409);
      expect(asked.body.impact).toMatchObject({ valueCount: 1, dependencyCount: 0 });
      expectRefusal(await acme.owner.patch(`/custom-fields/${id}`, { fieldType: 'number' }), 422, 'fieldType');
    });
  });
});

onPostgres(describe)('an import that is made while a custom field gets another key leads to that', () => {
  const { create } = importsBy(() => acme.owner);
  const rows = [{ firstName: 'Ada', Size: 'XL' }];
  const rename = (id: string) => acme.owner.patch(`/custom-fields/${id}`, { fieldKey: 'extent' });
  const mapping = (key: string) => ({ firstName: 'firstName', Size: `customFields.${key}` });

  it('where its columns are read by their names after the change began', async () => {
    const { id } = await field();
    const becomesExtent: HeldUp = { table: 'custom_fields', columns: 'field_key', rows: "new.field_key = 'extent'" };
    const change = () => rename(id);
    const { replies } = await whileHeldUp(api, becomesExtent, change, () => create({ rows }));
    expect(replies[0]!.status).toBe(200);
    expect(dataOf(replies[1]!).mapping).toEqual(mapping('extent'));
  });

  it('where the change begins before the import is there', async () => {
    const { id } = await field();
    const begun: Promise<Reply>[] = [];
    const make = () => create({ rows, mapping: mapping('size') });
    const reply = await whileLocked(api, 'lock table imports in share mode', make, async (look) => {
      await untilWaiting(1)(look);
      begun.push(rename(id));
      await untilWaiting(2)(look);
    });
    const [renamed] = await Promise.all(begun);
    expect(renamed!.status).toBe(200);
    expect(dataOf(await acme.owner.get(`/imports/${dataOf(reply).id}`)).mapping).toEqual(mapping('extent'));
  });
});
