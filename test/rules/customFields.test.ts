import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  onPostgres,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

let n = 0;
/** A field of contacts with a key of its own. */
const field = async (fields: Record<string, unknown> = {}): Promise<Loose> =>
  dataOf(
    await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey: `key${++n}`, label: 'Key', fieldType: 'text', ...fields }),
  );

const createContact = (customFields: object) => acme.owner.post('/contacts', { firstName: 'Ada', customFields });
const cleanup = async (id: string): Promise<Loose> =>
  (await acme.owner.gql(`{ customFieldCleanup(id: "${id}") { id entityType fieldKey status valueCount cleanedCount error completedAt } }`))
    .data.customFieldCleanup;
const remove = (id: string, body?: object, query = '') => acme.owner.del(`/custom-fields/${id}${query}`, body);

describe('the value of a custom field', () => {
  const choices = { choices: ['a', { value: 'b', label: 'Bee' }] };
  const cases: [fieldType: string, options: object | null, good: unknown[], bad: unknown[]][] = [
    ['text', null, ['a'], [1, true, ['a'], {}]],
    ['textarea', null, ['a\nb'], [1]],
    ['number', null, [0, -1.5, '12.50'], ['a', '1e5', true, [1]]],
    ['date', null, ['2028-02-29'], ['2030-02-29', '2030-01-01T00:00:00Z', 20300101]],
    [
      'datetime',
      null,
      ['2030-01-01T10:00:00+02:00', '2030-01-01T10:00Z'],
      ['2030-01-01', '2030-01-01T10:00:00', '2030-02-30T10:00:00Z', 5],
    ],
    ['url', { blockedDomains: ['bad.example'] }, ['https://example.com/a?b'], ['ftp://example.com', 'example', 'https://x.bad.example', 5]],
    ['select', choices, ['a', 'b'], ['c', 'Bee', 'A', ['a'], 1]],
    ['radio', choices, ['a'], ['c']],
    ['multiselect', choices, [['a'], ['b', 'a']], ['a', ['c'], ['a', 'a'], [1]]],
    ['boolean', null, [true, false], ['true', 1]],
    ['phone', null, ['+14155550123', '(415) 555-0123'], ['12', 'call me', 4155550123]],
    ['email', { allowedDomains: ['example.com'] }, ['a@example.com', 'a@mail.Example.com'], ['a', 'a@example.org', 'a@notexample.com']],
  ];

  it.each(cases)('of type %s is checked when a contact is made or changed', async (fieldType, options, good, bad) => {
    const { fieldKey } = await field({ fieldType, options });
    const contact = dataOf(await createContact({ [fieldKey]: good[0], other: { anything: 1 } }));
    for (const value of good) {
      const { customFields } = dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { customFields: { [fieldKey]: value } }));
      expect(customFields).toEqual({ [fieldKey]: value, other: { anything: 1 } });
    }
    await expectNothingWritten(api, async () => {
      for (const value of bad) {
        expectRefusal(await createContact({ [fieldKey]: value }), 400, `customFields.${fieldKey}`);
        expectRefusal(
          await acme.owner.patch(`/contacts/${contact.id}`, { customFields: { [fieldKey]: value } }),
          400,
          `customFields.${fieldKey}`,
        );
      }
    });
    for (const nothing of [null, '', []]) {
      dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { customFields: { [fieldKey]: good[0] } }));
      const { customFields } = dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { customFields: { [fieldKey]: nothing } }));
      expect(customFields).toEqual({ other: { anything: 1 } });
    }
  });
});

describe('custom fields of a record', () => {
  it('are told all that is wrong with them at once, and the same through the other API', async () => {
    const [a, b] = [await field({ fieldType: 'number' }), await field({ fieldType: 'boolean' })];
    const customFields = { [a.fieldKey]: 'x', [b.fieldKey]: 'y' };
    const reply = await createContact(customFields);
    expect(reply.body.details.map((d: Loose) => d.field)).toEqual([`customFields.${a.fieldKey}`, `customFields.${b.fieldKey}`]);
    const input = { firstName: 'Ada', customFields };
    const other = await acme.owner.gql('mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }', { input });
    expectGraphQLRefusal(other, 400, `customFields.${a.fieldKey}`);
  });

  it('cost a creation no statement of their own, once the definitions are known', async () => {
    const without = () => acme.owner.post('/contacts', { firstName: 'Ada' });
    await without();
    expect(await api.statements(without)).toBe(1);
    expect(await api.statements(() => createContact({ x: 1 }))).toBe(1);
  });
});

describe('a required custom field', () => {
  it('is no value when it is blank: of text of every kind', async () => {
    for (const fieldType of ['text', 'textarea', 'url', 'email']) {
      const { id, fieldKey } = await field({ isRequired: true, fieldType });
      for (const blank of [' ', '\t\n', '\u00a0'])
        expectRefusal(await createContact({ [fieldKey]: blank }), 422, `customFields.${fieldKey}`);
      dataOf(await acme.owner.patch(`/custom-fields/${id}`, { isRequired: false }));
      expect(dataOf(await createContact({ [fieldKey]: '  ' })).customFields).toEqual({});
      dataOf(await remove(id));
    }
  });

  it('must have a value when a record is made with custom fields, and keeps it', async () => {
    const { id, fieldKey } = await field({ isRequired: true });
    const at = `customFields.${fieldKey}`;
    await expectNothingWritten(api, async () => {
      for (const given of [{}, { other: 1 }, { [fieldKey]: null }, { [fieldKey]: '' }]) expectRefusal(await createContact(given), 422, at);
    });
    const plain = await acme.contact({ firstName: 'Without custom fields' });
    const contact = dataOf(await createContact({ [fieldKey]: 'set' }));
    expectRefusal(await acme.owner.patch(`/contacts/${contact.id}`, { customFields: { [fieldKey]: null } }), 422, at);
    for (const { id: one } of [plain, contact]) dataOf(await acme.owner.patch(`/contacts/${one}`, { customFields: { other: 1 } }));
    dataOf(await acme.owner.patch(`/custom-fields/${id}`, { isRequired: false }));
    dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { customFields: { [fieldKey]: null } }));
  });
});

it('DELETE /custom-fields/{id} deletes what nothing uses by a bare confirmation too, and not by one of other numbers', async () => {
  for (const body of [{ confirmImpact: true }, { confirmImpact: true, expectedValueCount: 0 }, { confirmImpact: false }]) {
    const { id } = await field({});
    expect(dataOf(await acme.owner.del(`/custom-fields/${id}`, body))).toMatchObject({ deleted: true, valuesQueuedForCleanup: 0 });
  }
  const { id } = await field({});
  const reply = await acme.owner.del(`/custom-fields/${id}`, { confirmImpact: true, expectedValueCount: 1 });
  expect([reply.status, reply.body.code]).toEqual([409, 'impact_confirmation_required']);
  expect((await acme.owner.del(`/custom-fields/${id}?confirmImpact=true`)).status).toBe(200);
});

describe('DELETE /custom-fields/{id}', () => {
  it('deletes at once what nothing uses', async () => {
    const { id } = await field();
    const summary = { dependencyCount: 0, dependencies: [] };
    expect(dataOf(await remove(id))).toEqual({
      id,
      deleted: true,
      cleanupJobId: null,
      valuesQueuedForCleanup: 0,
      dependencySummary: summary,
    });
    expectRefusal(await remove(id), 404);
  });

  it('tells what is affected and asks to confirm just that, in the body or the query', async () => {
    const { id, fieldKey } = await field();
    const contact = dataOf(await createContact({ [fieldKey]: 'a', keep: 1 }));
    await expectNothingWritten(api, async () => {
      const first = await remove(id);
      expectRefusal(first, 409);
      expect(first.body).toMatchObject({
        code: 'impact_confirmation_required',
        impact: { valueCount: 1, dependencyCount: 0, dependencies: [] },
      });
      const wrong = [
        { confirmImpact: true },
        { confirmImpact: true, expectedValueCount: 1 },
        { confirmImpact: true, expectedValueCount: 2, expectedDependencyCount: 0 },
        { confirmImpact: true, expectedValueCount: 1, expectedDependencyCount: 1 },
        { confirmImpact: false, expectedValueCount: 1, expectedDependencyCount: 0 },
      ];
      for (const body of wrong) expect((await remove(id, body)).body.code).toBe('impact_confirmation_required');
      const right = '?confirmImpact=true&expectedValueCount=1&expected_dependency_count=0';
      expectRefusal(await remove(id, { expectedValueCount: 5 }, right), 409);
      expectRefusal(await remove(id, undefined, '?confirmImpact=perhaps'), 400, 'confirmImpact');
      const other = await acme.owner.gql(`mutation { deleteCustomField(id: "${id}") { deletedId } }`);
      expect(other.errors![0].extensions).toMatchObject({ code: 'impact_confirmation_required', status: 409, impact: { valueCount: 1 } });
    });
    const reply = await remove(id, undefined, '?confirmImpact=true&expectedValueCount=1&expectedDependencyCount=0');
    const { cleanupJobId, ...rest } = dataOf(reply);
    expect(rest).toMatchObject({ id, deleted: true, valuesQueuedForCleanup: 1 });
    const done = await eventually(async () => {
      const state = await cleanup(cleanupJobId);
      return state.status === 'completed' && state;
    });
    expect(done).toMatchObject({ id: cleanupJobId, entityType: 'contact', fieldKey, valueCount: 1, cleanedCount: 1, error: null });
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`)).customFields).toEqual({ keep: 1 });
    expect((await field({ fieldKey })).fieldKey).toBe(fieldKey);
  });

  it('takes the values out of deleted records too, and of no other account, kind or key', async () => {
    const { id, fieldKey } = await field();
    const gone = dataOf(await createContact({ [fieldKey]: 'a' }));
    dataOf(await acme.owner.del(`/contacts/${gone.id}`));
    const other = await api.seed.account();
    const theirs = await other.contact({ firstName: 'Bob', customFields: { [fieldKey]: 'b' } });
    const near = dataOf(await createContact({ [`${fieldKey}0`]: 'c' }));
    const { cleanupJobId } = dataOf(await remove(id, { confirmImpact: true, expectedValueCount: 1, expectedDependencyCount: 0 }));
    await eventually(async () => (await cleanup(cleanupJobId)).status === 'completed');
    expect(dataOf(await acme.owner.post(`/contacts/${gone.id}/restore`)).customFields).toEqual({});
    expect(dataOf(await other.owner.get(`/contacts/${theirs.id}`)).customFields).toEqual({ [fieldKey]: 'b' });
    expect(dataOf(await acme.owner.get(`/contacts/${near.id}`)).customFields).toEqual({ [`${fieldKey}0`]: 'c' });
    expectGraphQLRefusal(await other.owner.gql(`{ customFieldCleanup(id: "${cleanupJobId}") { id } }`), 404);
  });
});

describe('what refers to a custom field', () => {
  /** Rows of domains that name the field by its path, as their own services keep them. */
  async function referrers(fieldKey: string) {
    const { prisma } = api.app.database;
    const now = api.clock.now();
    const base = { accountId: acme.id, createdAt: now, updatedAt: now };
    const id = () => api.clock.id();
    const path = `customFields.${fieldKey}`;
    const list = (name: string, filters: object, entityType = 'contact') =>
      prisma.smartList.create({ data: { ...base, id: id(), name, entityType, filters } });
    await list('By filter', { and: [{ field: path, op: 'eq', value: 'a' }] });
    await list('By cf', { cf: { [fieldKey]: 'a' } });
    await list('Of deals', { field: path }, 'deal');
    await list('Another key', { field: `${path}2` });
    const asked = { field: path, op: 'eq', value: 'a' };
    await list("By the deal's contact", { or: [{ field: 'contact', op: 'is', value: { not: asked } }] }, 'deal');
    await list("By the company's contacts", { field: 'company', op: 'is', value: { field: 'contacts', op: 'some', value: asked } }, 'deal');
    await list('Of the company', { field: 'companyRecord', op: 'is', value: asked });
    await list('A word', { field: 'lastName', op: 'eq', value: path });
    const template = { channel: 'email', body: '' };
    for (const [name, entity] of [
      ['Greeting', 'contact'],
      ['Offer', 'deal'],
    ] as const) {
      await prisma.template.create({ data: { ...base, ...template, id: id(), name, mergeFields: [`${entity}.${path}`] } });
    }
    const trigger = { event: 'contact.created', conditions: { customFields: { [fieldKey]: 'a' } } };
    await prisma.workflow.create({ data: { ...base, id: id(), name: 'Welcome', trigger, triggerEvent: 'contact.created' } });
    const actions = [{ type: 'update_field', config: { field: path, value: 'b' } }];
    await prisma.automation.create({ data: { ...base, id: id(), name: 'Nurture', actions } });
    const fields = [{ key: 'q1', mapTo: `contact.${path}` }];
    await prisma.form.create({ data: { ...base, id: id(), name: 'Sign up', fields } });
    await prisma.form.create({ data: { ...base, id: id(), name: 'Archived', fields, archivedAt: now } });
  }

  it('is counted and named, and stays when the field goes', async () => {
    const { id, fieldKey } = await field();
    await referrers(fieldKey);
    const renamed = await acme.owner.patch(`/custom-fields/${id}`, { fieldKey: `${fieldKey}_new` });
    expect([renamed.status, renamed.body.dependencyCount]).toEqual([422, 8]);
    const { body } = await remove(id);
    expect(body.impact).toMatchObject({ valueCount: 0, dependencyCount: 8 });
    const named = body.impact.dependencies.map((d: Loose) => `${d.type} ${d.name}`);
    const lists = ['By cf', 'By filter', "By the company's contacts", "By the deal's contact"].map((name) => `smart_list ${name}`);
    expect(named).toEqual(['automation Nurture', 'form Sign up', ...lists, 'template Greeting', 'workflow Welcome']);
    expectRefusal(await remove(id, { confirmImpact: true, expectedValueCount: 0, expectedDependencyCount: 6 }), 409);
    const reply = dataOf(await remove(id, { confirmImpact: true, expectedValueCount: 0, expectedDependencyCount: 8 }));
    expect(reply).toMatchObject({ cleanupJobId: null, valuesQueuedForCleanup: 0, dependencySummary: { dependencyCount: 8 } });
  });
});

onPostgres(describe)('confirmations in a race', () => {
  const confirmed = { confirmImpact: true, expectedValueCount: 1, expectedDependencyCount: 0 };

  it('answer 409 where a value came in between, and count every value that was written before', async () => {
    for (let round = 0; round < 10; round++) {
      const { id, fieldKey } = await field();
      dataOf(await createContact({ [fieldKey]: 'a' }));
      const [reply, ...writes] = await Promise.all([remove(id, confirmed), ...[1, 2, 3].map(() => createContact({ [fieldKey]: 'b' }))]);
      expect(writes.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect([200, 409]).toContain(reply.status);
      if (reply.status === 409) expect(reply.body.impact.valueCount).toBeGreaterThan(1);
      else await eventually(async () => (await cleanup(reply.body.data.cleanupJobId)).status === 'completed');
    }
  });

  it('let one of two win, and the other finds nothing', async () => {
    const { id, fieldKey } = await field();
    dataOf(await createContact({ [fieldKey]: 'a' }));
    const replies = await Promise.all([1, 2, 3, 4].map(() => remove(id, confirmed)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect(await api.app.database.prisma.customFieldCleanup.count({ where: { fieldKey } })).toBe(1);
  });

  it('give a key to one of many who want it', async () => {
    const fieldKey = `key${++n}`;
    const make = () => acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey, label: 'Key', fieldType: 'text' });
    const replies = await Promise.all([1, 2, 3, 4].map(make));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422]);
  });

  it('wait for the writer that was checked against the definition', async () => {
    const { id, fieldKey } = await field();
    dataOf(await createContact({ [fieldKey]: 'a' }));
    // The sum of what was counted and what was refused is never less than what was there.
    const outcomes = await Promise.all([
      ...Array.from({ length: 6 }, (_, i) => createContact({ [fieldKey]: `${i}` })),
      remove(id, { ...confirmed, expectedValueCount: 4 }),
    ]);
    const reply = outcomes.at(-1)!;
    if (reply.status === 200) expect(reply.body.data.valuesQueuedForCleanup).toBe(4);
    else expectRefusal(reply, 409);
  });
});
