import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const create = (body: unknown, account = acme) => account.owner.post('/forms', body);
const made = async (body: object, account = acme) => dataOf(await create(body, account));
const patch = (id: string, body: unknown) => acme.owner.patch(`/forms/${id}`, body);
const names = async (query: string, account: Account) =>
  dataOf(await account.owner.get(`/forms?${query}`)).data.map((form: { name: string }) => form.name);

const email = { key: 'email', label: 'E-mail', type: 'email', required: true };

const select = (options: unknown) => [{ key: 'a', type: 'select', options }];
const bad: [field: string, body: Loose][] = [
  ...([undefined, null, '', ' ', 5, 'n'.repeat(201)] as unknown[]).map((name): [string, Loose] => ['name', { name }]),
  ...['javascript:alert(1)', 'data:text/html,x', '/thanks', 'ftp://example.com', 'https://example.com/\r\nSet-Cookie: a=b'].map(
    (redirectUrl): [string, Loose] => ['redirectUrl', { redirectUrl }],
  ),
  ...['two words', '-a', 'a--b', 'ä', 's'.repeat(101)].map((slug): [string, Loose] => ['slug', { slug }]),
  ['fields', { fields: { key: 'a' } }],
  ['fields', { fields: Array.from({ length: 101 }, (_, i) => ({ key: `k${i}` })) }],
  ['fields.0.key', { fields: [{ label: 'No key' }] }],
  ['fields.0.key', { fields: [{ key: '__proto__' }] }],
  ['fields.0.key', { fields: [{ key: 'first\nname' }] }],
  ['fields.1.key', { fields: [{ key: 'a' }, { key: 'a' }] }],
  ['fields.0.type', { fields: [{ key: 'a', type: 'file' }] }],
  ['fields.0.required', { fields: [{ key: 'a', required: 'yes' }] }],
  ['fields.0.options', { fields: select([]) }],
  ['fields.0.options', { fields: select(null) }],
  ['fields.0.options.0', { fields: select([' ']) }],
  ['fields.0.options.1', { fields: select(['a  b', 'a\nb']) }],
  ['fields.0.options', { fields: select('small') }],
  ['settings', { settings: [] }],
  ['settings.tags', { settings: { tags: 'lead' } }],
  ['settings.tags', { settings: { tags: Array.from({ length: 101 }, (_, i) => `t${i}`) } }],
  ['settings.tags.0', { settings: { tags: [''] } }],
  ['settings.tags.1', { settings: { tags: ['a', 5] } }],
  ['settings.tags.0', { settings: { tags: ['x'.repeat(101)] } }],
  ['settings.consent', { settings: { consent: 'yes' } }],
  ['settings.consent.required', { settings: { consent: { required: 'yes' } } }],
  ['settings.consent.text', { settings: { consent: { text: 5 } } }],
  ['settings.consent.text', { settings: { consent: { text: 'x'.repeat(2001) } } }],
  ['thankYouMessage', { thankYouMessage: 't'.repeat(2001) }],
  ['isActive', { isActive: 'yes' }],
];

describe('POST /forms', () => {
  it('keeps every field as it was sent', async () => {
    const fields = {
      name: 'n'.repeat(200),
      description: 'd'.repeat(5000),
      slug: 'contact-us-2',
      hyrosTag: 'h'.repeat(200),
      redirectUrl: 'https://example.com/thanks?a=1#top',
      thankYouMessage: 't'.repeat(2000),
      fields: [
        { ...email, options: null },
        { key: 'size', label: 'Size', type: 'select', required: false, options: ['small', 'large'] },
      ],
      settings: { tags: ['lead', 'VIP'], consent: { required: true, text: 'I agree', shown: 'below' }, theme: { deep: [1, null] } },
      isActive: false,
    };
    const reply = await create(fields);
    expect(reply.status).toBe(201);
    expect(reply.body.data).toEqual({
      ...fields,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      submissionCount: 0,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: reply.body.data.createdAt,
      archivedAt: null,
    });
    expect(dataOf(await acme.owner.get(`/forms/${reply.body.data.id}`))).toEqual(reply.body.data);
  });

  it('needs a name and fills in the rest', async () => {
    const form = await made({ name: 'Plain', fields: [{ key: 'note' }], slug: null, settings: null, isActive: null });
    expect(form).toMatchObject({ description: null, slug: null, redirectUrl: null, thankYouMessage: null, settings: {}, isActive: true });
    expect(form.fields).toEqual([{ key: 'note', label: 'note', type: 'text', required: false, options: null }]);
    expect((await made({ name: 'Bare' })).fields).toEqual([]);
  });
});

describe('what is wrong with a form', () => {
  it('answers 422 to whatever is wrong and names it, as PATCH does, and writes nothing', async () => {
    const { id } = await made({ name: 'Good' });
    await expectNothingWritten(api, async () => {
      for (const [field, body] of bad) {
        expectRefusal(await create({ name: 'Bad', ...body }), 422, field);
        if (body.name !== undefined || field !== 'name') expectRefusal(await patch(id, body), 422, field);
      }
      expectRefusal(await create({ name: 'Bad', settings: { k: 'x'.repeat(65 * 1024) } }), 413, 'settings');
    });
  });

  it('answers the same through GraphQL', async () => {
    const document = 'mutation ($input: CreateFormInput!) { createForm(input: $input) { id } }';
    const run = (input: object) => acme.owner.gql(document, { input: { name: 'Bad', ...input } });
    await expectNothingWritten(api, async () => {
      expectGraphQLRefusal(await run({ redirectUrl: 'javascript:alert(1)' }), 422, 'redirectUrl');
      expectGraphQLRefusal(await run({ fields: [{ key: 'a' }, { key: 'a' }] }), 422, 'fields.1.key');
      expectGraphQLRefusal(await run({ settings: { tags: 'lead' } }), 422, 'settings.tags');
    });
  });
});

describe("a form's slug", () => {
  it('is in lower case, and no other form has it that is not archived', async () => {
    const first = await made({ name: 'One', slug: 'Contact' });
    expect(first.slug).toBe('contact');
    expectRefusal(await create({ name: 'Two', slug: 'CONTACT' }), 422, 'slug');
    const other = await made({ name: 'Two' });
    expectRefusal(await patch(other.id, { slug: 'contact' }), 422, 'slug');
    expect(dataOf(await patch(first.id, { slug: 'contact' })).slug).toBe('contact');
    await made({ name: 'Elsewhere', slug: 'contact' }, await api.seed.account());
    dataOf(await acme.owner.del(`/forms/${first.id}`));
    expect(dataOf(await patch(other.id, { slug: 'contact' })).slug).toBe('contact');
    expectRefusal(await patch(first.id, { isActive: true }), 422, 'slug');
    expect(dataOf(await patch(first.id, { isActive: true, slug: null }))).toMatchObject({ isActive: true, archivedAt: null });
  });

  it('goes to one of many who want it at once', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => create({ name: 'Race', slug: 'race' })));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 422)]);
  });
});

describe('PATCH /forms/{id}', () => {
  it('changes what is given; null clears; fields and settings are replaced', async () => {
    const form = await made({ name: 'Old', thankYouMessage: 'Thanks', fields: [email], settings: { tags: ['a'], other: 1 } });
    const changed = dataOf(await patch(form.id, { name: 'New', thankYouMessage: null, fields: [{ key: 'a' }], settings: { tags: ['b'] } }));
    expect(changed).toMatchObject({ name: 'New', thankYouMessage: null, settings: { tags: ['b'] } });
    expect(changed.fields.map((field: Loose) => field.key)).toEqual(['a']);
    await expectNothingWritten(api, async () => {
      expect(dataOf(await patch(form.id, {}))).toEqual(changed);
      expect(dataOf(await patch(form.id, { name: 'New', fields: [{ key: 'a' }] }))).toEqual(changed);
    });
  });

  it('is one look and one write', async () => {
    const { id } = await made({ name: 'Counted' });
    let n = 0;
    expect(await api.statements(async () => dataOf(await patch(id, { name: `Counted ${++n}` })))).toBeLessThanOrEqual(2);
  });
});

describe('DELETE /forms/{id}', () => {
  it('archives: out of the list, inactive, still there by its id, and may be said twice', async () => {
    const { id } = await made({ name: 'Gone' });
    const reply = await acme.owner.del(`/forms/${id}`);
    expect(reply.body).toEqual({ data: { id, archived: true } });
    const kept = dataOf(await acme.owner.get(`/forms/${id}`));
    expect(kept).toMatchObject({ isActive: false, archivedAt: expect.stringMatching(/Z$/) });
    await expectNothingWritten(api, async () => {
      expect(dataOf(await acme.owner.del(`/forms/${id}`))).toEqual({ id, archived: true });
    });
    expect(dataOf(await patch(id, { isActive: true }))).toMatchObject({ isActive: true, archivedAt: null });
  });
});

describe('GET /forms', () => {
  it('lists, searches and filters; archived forms only where they are asked for', async () => {
    const shop = await api.seed.account();
    await made({ name: 'Quote request', slug: 'get-quote' }, shop);
    await made({ name: 'Newsletter', isActive: false }, shop);
    const { id } = await made({ name: 'Old contact' }, shop);
    dataOf(await shop.owner.del(`/forms/${id}`));
    expect(await names('', shop)).toEqual(['Newsletter', 'Quote request']);
    expect(await names('include_archived=true', shop)).toEqual(['Old contact', 'Newsletter', 'Quote request']);
    expect(await names('include_archived=false', shop)).toEqual(['Newsletter', 'Quote request']);
    expect(await names('is_active=true', shop)).toEqual(['Quote request']);
    expect(await names('is_active=false', shop)).toEqual(['Newsletter']);
    expect(await names('is_active=false&include_archived=true', shop)).toEqual(['Old contact', 'Newsletter']);
    expect(await names('search=QUOTE', shop)).toEqual(['Quote request']);
    expect(await names('search=get-q', shop)).toEqual(['Quote request']);
    expect(await names('search=contact', shop)).toEqual([]);
    expect(await names('search=contact&include_archived=1', shop)).toEqual(['Old contact']);
    expect(await names('sort=name&order=asc', shop)).toEqual(['Newsletter', 'Quote request']);
    const { meta } = dataOf(await shop.owner.get('/forms?per_page=1'));
    expect(meta).toMatchObject({ page: 1, per_page: 1, total: 2, totalPages: 2 });
    expect(await names(`per_page=1&cursor=${meta.next_cursor}`, shop)).toEqual(['Quote request']);
    expect(dataOf(await shop.owner.get('/forms?include_archived=true')).meta.total).toBe(3);
    expectRefusal(await shop.owner.get('/forms?is_active=maybe'), 400, 'is_active');
    expect(await api.statements(async () => dataOf(await shop.owner.get('/forms?search=quote')))).toBe(1);
  });
});

describe('forms in GraphQL', () => {
  it('are made, changed, listed, filled in and archived', async () => {
    const shop = await api.seed.account();
    const run = async (text: string, who = shop.owner) => {
      const { data, errors } = await who.gql(text);
      expect(errors).toBeUndefined();
      return data;
    };
    const { createForm } = await run(`mutation { createForm(input: { name: "Ask", fields: [
      { key: "email", type: email, required: true }, { key: "size", type: select, options: ["S"] }] })
      { id isActive fields { key label type required options } } }`);
    expect(createForm.fields[0]).toEqual({ key: 'email', label: 'email', type: 'email', required: true, options: null });
    const { id } = createForm;
    const { submitForm } = await run(
      `mutation { submitForm(id: "${id}", input: { data: { email: "ada@example.com", size: "S" } })
        { submissionId contactId redirectUrl thankYouMessage } }`,
      api.anybody(),
    );
    expect(submitForm).toMatchObject({ submissionId: expect.any(String), contactId: expect.any(String), redirectUrl: null });
    const read = `{ form(id: "${id}") { submissionCount submissions { totalCount nodes { id data form { name } contact { email } } } }
      forms { totalCount nodes { name fields { type } } }
      submissions(filter: { formId: "${id}", contactId: "${submitForm.contactId}" }) { totalCount nodes { id submittedAt } }
      contact(id: "${submitForm.contactId}") { leadScore submissions { nodes { form { id } } } } }`;
    expect(await run(read)).toMatchObject({
      form: {
        submissionCount: 1,
        submissions: {
          totalCount: 1,
          nodes: [{ id: submitForm.submissionId, data: { email: 'ada@example.com', size: 'S' }, contact: { email: 'ada@example.com' } }],
        },
      },
      forms: { totalCount: 1, nodes: [{ name: 'Ask', fields: [{ type: 'email' }, { type: 'select' }] }] },
      submissions: { totalCount: 1, nodes: [{ id: submitForm.submissionId }] },
      contact: { leadScore: 5, submissions: { nodes: [{ form: { id } }] } },
    });
    expect((await run(`mutation { updateForm(id: "${id}", input: { name: "Asked" }) { name } }`)).updateForm.name).toBe('Asked');
    expect((await run(`mutation { archiveForm(id: "${id}") { archived } }`)).archiveForm).toEqual({ archived: true });
    expect((await run('{ forms { totalCount } formAggregate { count } }')).formAggregate).toEqual([{ count: 0 }]);
    const all = 'filter: { includeArchived: true }';
    expect(await run(`{ forms(${all}) { totalCount } formAggregate(${all}) { count } }`)).toEqual({
      forms: { totalCount: 1 },
      formAggregate: [{ count: 1 }],
    });
    expect((await run(`{ form(id: "${id}") { isActive } }`)).form).toEqual({ isActive: false });
  });
});
