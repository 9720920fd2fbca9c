import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { mailsTo } from '../support/mail.js';
import { aStep, Sequences } from '../support/sequences.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const run = async (document: string, variables: Loose = {}, client = acme.owner): Promise<Loose> => {
  const { data, errors } = await client.gql(document, variables);
  expect(errors).toBeUndefined();
  return data;
};

const some = (n: number) => Promise.all(Array.from({ length: n }, (_, i) => acme.contact({ firstName: `Person ${i}` })));

const bulkEdit = (records: string) => `mutation ($ids: [ID!], $title: String) {
  bulkEditContacts(input: { ids: $ids, changes: { jobTitle: $title } }) { succeeded results { recordId success ${records} } }
}`;

describe('What a bulk operation answers', () => {
  it('leads to each record as it is now', async () => {
    const [ada, bob] = await some(2);
    const ids = [ada!.id, bob!.id.toUpperCase(), 'no id', crypto.randomUUID()];
    const document = bulkEdit('record { __typename id ... on Contact { firstName jobTitle } }');
    const { bulkEditContacts } = await run(document, { ids, title: 'Engineer' });
    expect(bulkEditContacts.results.map(({ record }: Loose) => record)).toEqual([
      { __typename: 'Contact', id: ada!.id, firstName: 'Person 0', jobTitle: 'Engineer' },
      { __typename: 'Contact', id: bob!.id, firstName: 'Person 1', jobTitle: 'Engineer' },
      null,
      null,
    ]);
  });

  it('costs one statement more for all the records, and none where they are not selected', async () => {
    const ids = (await some(30)).map(({ id }) => id);
    let nth = 0;
    const cost = (records: string, those: string[]) =>
      api.statements(() => run(bulkEdit(records), { ids: those, title: `Title ${nth++}` }), { told: true });
    const plain = await cost('', ids);
    expect(await cost('record { ... on Contact { firstName jobTitle } }', ids)).toBe(plain + 1);
    expect(await cost('record { ... on Contact { firstName jobTitle } }', ids.slice(0, 2))).toBeLessThanOrEqual(plain + 1);
  });

  it('leads to deals, and to nothing where they are gone', async () => {
    const deal = await acme.deal();
    const document =
      'mutation ($u: [BulkDealUpdate!]!) { bulkUpdateDeals(input: { updates: $u }) { results { record { ... on Deal { title } } } } }';
    const { bulkUpdateDeals } = await run(document, { u: [{ id: deal.id, title: 'Mill' }] });
    expect(bulkUpdateDeals.results).toEqual([{ record: { title: 'Mill' } }]);
    const [ada] = await some(1);
    const gone = 'mutation ($ids: [ID!]!) { bulkDeleteContacts(input: { ids: $ids }) { results { success record { id } } } }';
    expect((await run(gone, { ids: [ada!.id] })).bulkDeleteContacts.results).toEqual([{ success: true, record: null }]);
  });
});

describe('Tagging a contact', () => {
  const tag = 'mutation ($id: ID!, $tag: ID!) { tagContact(id: $id, input: { tagId: $tag }) { __typename id updatedAt tags { name } } }';
  const untag = 'mutation ($id: ID!, $tag: ID!) { untagContact(id: $id, tagId: $tag) { __typename id tags { name } } }';

  it('answers the contact', async () => {
    const [ada] = await some(1);
    const { id } = await acme.tag('vip');
    const { tagContact } = await run(tag, { id: ada!.id, tag: id });
    expect(tagContact).toMatchObject({ __typename: 'Contact', id: ada!.id, tags: [{ name: 'vip' }] });
    expect(tagContact.updatedAt).toBe(dataOf(await acme.owner.get(`/contacts/${ada!.id}`)).updatedAt);
    expect((await run(untag, { id: ada!.id, tag: id })).untagContact).toEqual({ __typename: 'Contact', id: ada!.id, tags: [] });
    expectGraphQLRefusal(await acme.owner.gql(untag, { id: ada!.id, tag: id }), 404);
  });
});

describe('What enrolling answers', () => {
  it('leads to the contact, the enrollment and the sequence', async () => {
    const sequences = new Sequences(acme, await acme.key());
    const sequence = await sequences.make([aStep(1)]);
    const reader = await sequences.reader();
    const records = 'sequence { id activeCount } details { status reason contact { id email } enrollment { id status endReason } }';
    const ids = { id: sequence, ids: [reader.id, crypto.randomUUID()] };
    const { enroll } = await run(`mutation ($id: ID!, $ids: [ID!]!) { enroll(id: $id, input: { contactIds: $ids }) { ${records} } }`, ids);
    const enrollment = { id: expect.any(String), status: 'active', endReason: null };
    expect(enroll).toEqual({
      sequence: { id: sequence, activeCount: 1 },
      details: [
        { status: 'enrolled', reason: null, contact: reader, enrollment },
        { status: 'skipped', reason: 'not_found', contact: null, enrollment: null },
      ],
    });
    const { unenroll } = await run(
      `mutation ($id: ID!, $ids: [ID!]) { unenroll(id: $id, input: { contactIds: $ids }) { ${records} } }`,
      ids,
    );
    expect(unenroll.sequence).toEqual({ id: sequence, activeCount: 0 });
    const ended = { id: enroll.details[0].enrollment.id, status: 'cancelled', endReason: 'unenrolled' };
    expect(unenroll.details.map((detail: Loose) => detail.enrollment)).toEqual([ended, null]);
  });
});

describe('A mutation that manages its own transactions', () => {
  it.each([
    ['without a key', () => ({})],
    ['under a key', () => ({ 'idempotency-key': crypto.randomUUID() })],
  ])('has done nothing where something that is selected of it is refused: %s', async (_how, headers) => {
    const input = { rows: [{ firstName: 'Ada' }] };
    const create = 'mutation ($input: CreateImportInput!) { createImport(input: $input) { id contacts(first: 500) { nodes { id } } } }';
    expectGraphQLRefusal(await acme.owner.gql(create, { input }, headers()), 400, 'first');
    const email = 'nobody.invited@example.com';
    const invite =
      'mutation ($email: String!) { inviteUser(input: { email: $email }) { id his: tasks(after: "nowhere") { nodes { id } } } }';
    const invited = await acme.owner.gql(invite, { email }, headers());
    // What is wrong is what is asked for, which is 400, and not the invitation, which would be 422.
    expectGraphQLRefusal(invited, 400, 'after');
    expect([invited.data, invited.errors!.map(({ path }) => path)]).toEqual([null, [['inviteUser', 'his']]]);
    const hook = 'input: { url: "https://example.com/hook", events: ["deal.won"] }';
    const register = `mutation { createWebhook(${hook}) { webhook { deliveries(first: 500) { nodes { id } } } } }`;
    const registered = await acme.owner.gql(register, {}, headers());
    expectGraphQLRefusal(registered, 400, 'first');
    expect(registered.errors!.map(({ path }) => path)).toEqual([['createWebhook', 'webhook', 'deliveries']]);
    const { imports, users, webhooks } = await run('{ imports { totalCount } users { nodes { email } } webhooks { totalCount } }');
    expect([imports.totalCount, webhooks.totalCount]).toEqual([0, 0]);
    expect(users.nodes.map((user: Loose) => user.email)).not.toContain(email);
    expect(await mailsTo(api, email)).toEqual([]);
  });
});

describe('A record that the answer of a mutation leads to', () => {
  it('is as the mutations before it left it', async () => {
    const { id: contact } = await acme.contact({ firstName: 'First' });
    const { id } = await acme.deal({ contactId: contact });
    const relations = 'contact { firstName } notes { totalCount }';
    const document = `mutation ($id: ID!, $contact: ID!) {
      before: updateDeal(id: $id, input: { priority: "low" }) { ${relations} }
      updateContact(id: $contact, input: { firstName: "Second" }) { id }
      createNote(input: { body: "n", dealId: $id }) { id }
      after: updateDeal(id: $id, input: { priority: "high" }) { ${relations} }
    }`;
    const { before, after } = await run(document, { id, contact });
    expect(before).toEqual({ contact: { firstName: 'First' }, notes: { totalCount: 0 } });
    expect(after).toEqual({ contact: { firstName: 'Second' }, notes: { totalCount: 1 } });
  });

  it('is so also where no relation leads to it', async () => {
    const sequences = new Sequences(acme, await acme.key());
    const [sequence, reader] = [await sequences.make([aStep(1)]), await sequences.reader({ jobTitle: 'First' })];
    const enroll = 'enroll(id: $sequence, input: { contactIds: [$id] }) { details { contact { jobTitle } } }';
    const change = 'updateContact(id: $id, input: { jobTitle: "Second" }) { id }';
    const document = `mutation ($sequence: ID!, $id: ID!) { before: ${enroll} ${change} after: ${enroll} }`;
    const { before, after } = await run(document, { sequence, id: reader.id });
    expect(before.details).toEqual([{ contact: { jobTitle: 'First' } }]);
    expect(after.details).toEqual([{ contact: { jobTitle: 'Second' } }]);
  });
});

describe('What e-mails to many answer', () => {
  it('lead to the messages and their contacts', async () => {
    const ada = await acme.contact({ email: 'ada.answers@example.com' });
    const document = `mutation ($ids: [ID!]!) {
      sendEmails(input: { contactIds: $ids, subject: "Hi", body: "Hello" }) { results { status contact { email } message { id subject status } } }
    }`;
    const { sendEmails } = await run(document, { ids: [ada.id] });
    const message = { id: expect.any(String), subject: 'Hi', status: 'queued' };
    expect(sendEmails.results).toEqual([{ status: 'queued', contact: { email: ada.email }, message }]);
  });
});

describe('What assigning a line answers', () => {
  const assign = `mutation ($line: ID!, $user: ID) {
    assignLine(lineId: $line, input: { userId: $user }) { vendorLine { status assignments { id lineId user { userId } } } }
  }`;

  it('leads to who has which line now, in GraphQL alone', async () => {
    dataOf(await acme.owner.put('/settings/vendor-line', { apiKey: 'line_answers' }));
    const { userId } = await acme.member();
    const linesAfter = async (line: string, user: string | null) => (await run(assign, { line, user })).assignLine.vendorLine;
    const [line, id] = ['answers-1', expect.any(String)];
    const first = await linesAfter(line, acme.ownerId);
    expect(first).toEqual({ status: 'connected', assignments: [{ id, lineId: line, user: { userId: acme.ownerId } }] });
    const second = await linesAfter(line, userId);
    expect(second.assignments).toEqual([{ id, lineId: line, user: { userId } }]);
    expect(second.assignments[0].id).not.toBe(first.assignments[0].id);
    expect((await linesAfter(line, null)).assignments).toEqual([]);
    const told = dataOf(await acme.owner.put(`/settings/vendor-line/lines/${line}`, { userId }));
    expect(Object.keys(told)).not.toContain('vendorLine');
  });
});

describe('What submitting a form answers', () => {
  const submit = (more: string) => `mutation ($id: ID!) {
    submitForm(id: $id, input: { data: { email: "grace@example.com" } }) { submissionId contactId ${more} }
  }`;

  it('leads to the contact for those who may read it, and is refused to others', async () => {
    const fields = [{ key: 'email', label: 'E-mail', type: 'email', required: true }];
    const { id } = dataOf(await acme.owner.post('/forms', { name: 'Ask', fields }));
    const { submitForm } = await run(submit('contact { id email } submission { id data }'), { id });
    expect(submitForm.contact).toEqual({ id: submitForm.contactId, email: 'grace@example.com' });
    expect(submitForm.submission).toEqual({ id: submitForm.submissionId, data: { email: 'grace@example.com' } });
    expectGraphQLRefusal(await api.anybody().gql(submit('contact { id }'), { id }), 401);
    const key = await acme.key({ permission: 'read-write', scopes: ['forms'] });
    expectGraphQLRefusal(await key.gql(submit('contact { id }'), { id }), 403);
    const other = await api.seed.account({ name: 'Other' });
    expect((await run(submit('contact { id }'), { id }, other.owner)).submitForm.contact).toBeNull();
  });
});

describe('Deleting and archiving', () => {
  const removal = '__typename ... on Removal { recordId recordType }';

  it('answer in one shape what is gone from its list', async () => {
    const make = async (path: string, body: object): Promise<string> => dataOf(await acme.owner.post(path, body)).id;
    const those = {
      deleteContact: ['Contact', (await acme.contact()).id],
      deleteCompany: ['Company', (await acme.company()).id],
      deleteTag: ['Tag', (await acme.tag()).id],
      archiveProduct: ['Product', await make('/products', { name: 'Hours' })],
      archiveForm: ['Form', await make('/forms', { name: 'Old' })],
      archiveTemplate: ['Template', await make('/emails/templates', { name: 'T', channel: 'email', subject: 's', body: 'b' })],
      deleteCustomField: [
        'CustomField',
        await make('/custom-fields', { label: 'Gone', fieldKey: 'gone', entityType: 'deal', fieldType: 'number' }),
      ],
    };
    for (const [mutation, [recordType, recordId]] of Object.entries(those)) {
      const data = await run(`mutation ($id: ID!) { ${mutation}(id: $id) { ${removal} } }`, { id: recordId });
      expect(data[mutation]).toMatchObject({ recordId, recordType });
    }
  });

  it('lead to what can still be read, and to what changed', async () => {
    const { id } = dataOf(await acme.owner.post('/products', { name: 'Hours' }));
    const archive = 'mutation ($id: ID!) { archiveProduct(id: $id) { record { ... on Product { isActive archivedAt } } } }';
    const archived = { isActive: false, archivedAt: expect.any(String) };
    expect((await run(archive, { id })).archiveProduct.record).toEqual(archived);

    const pipeline = await acme.pipeline();
    const [first, second] = pipeline.stages;
    await acme.deal({ pipeline, stageId: second.id });
    const remove = 'mutation ($id: ID!) { deleteStage(id: $id) { recordType movedToStage { id name } pipeline { id stages { id } } } }';
    const { deleteStage } = await run(remove, { id: second.id });
    expect(deleteStage).toMatchObject({ recordType: 'Stage', movedToStage: { id: first.id, name: 'New' }, pipeline: { id: pipeline.id } });
    expect(deleteStage.pipeline.stages).toHaveLength(pipeline.stages.length - 1);
  });
});
