import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphQLField, type GraphQLInputObjectType, getNamedType, isObjectType } from 'graphql';
import { contract } from '../../src/app.js';
import { pathArguments } from '../../src/kernel/module/routes.js';
import type { BoundEndpoint } from '../../src/rest/endpoints.js';
import { references } from '../contract/references.js';
import { pathOf, type Sample, sampleOf } from '../contract/samples.js';
import { placesOf } from '../support/badValues.js';
import { type Account, dataOf, expectNothingWritten, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let home: Account;
let abroad: Account;
beforeAll(async () => {
  api = await server();
  home = await api.seed.account({ name: 'Home' });
  abroad = await api.seed.account({ name: 'Abroad' });
});
afterAll(() => api.close());

const { endpoints } = contract();
const same = { 'x-request-id': 'the-same' };
const idArgs = (field: GraphQLField<unknown, unknown>) =>
  field.args.filter((arg) => getNamedType(arg.type).name === 'ID' && arg.name !== 'after');
const callerOf = ({ needs }: BoundEndpoint, sample: Sample) => sample.as ?? (needs.public ? api.anybody() : home.owner);
const byAddress = (wanted: BoundEndpoint[]) => wanted.map((bound) => [bound.address, bound] as const);

/** The body without the other names that REST takes for a field: they are not of the schema. */
function inputFor(field: GraphQLField<unknown, unknown>, { body = {} }: Sample) {
  const input = field.args.find((arg) => arg.name === 'input');
  const names = input ? (getNamedType(input.type) as GraphQLInputObjectType).getFields() : {};
  return Object.fromEntries(Object.entries(body).filter(([name]) => name in names));
}

/** The endpoint's operation through GraphQL, with the path's parameters and the body as its variables. */
function throughGraphQL(bound: BoundEndpoint, sample: Sample, params: Record<string, string>) {
  const { field, endpoint } = bound;
  const declared = field!.args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
  const passed = field!.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isObjectType(getNamedType(field!.type)) ? '{ __typename }' : '';
  const kind = endpoint.method === 'GET' ? 'query' : 'mutation';
  const document = `${kind} (${declared}) { ${endpoint.operation}(${passed}) ${selection} }`;
  return callerOf(bound, sample).gql(document, { ...params, input: inputFor(field!, sample) }, same);
}

// What is public is everybody's by its id.
const withIds = endpoints.filter(
  ({ field, endpoint, needs }) => endpoint.operation && !endpoint.list && !needs.public && idArgs(field!).length > 0,
);

describe.each(byAddress(withIds))('the operation of %s', (_address, bound) => {
  it('answers a record of another account through GraphQL like one that does not exist', async () => {
    const [own, foreign] = [await sampleOf(bound.address, home), await sampleOf(bound.address, abroad)];
    await expectNothingWritten(api, async () => {
      for (const { name } of idArgs(bound.field!)) {
        const params = pathArguments(bound.endpoint, own.params!);
        const ask = (value: string) => throughGraphQL(bound, own, { ...params, [name]: value });
        const [theirs, nobodys] = [await ask(pathArguments(bound.endpoint, foreign.params!)[name]!), await ask(crypto.randomUUID())];
        expect(theirs.errors?.map((error) => error.extensions.code)).toEqual([expect.stringMatching(/^(line_)?not_found$/)]);
        expect({ data: theirs.data, errors: theirs.errors }).toEqual({ data: nobodys.data, errors: nobodys.errors });
      }
    });
    expect((await throughGraphQL(bound, own, pathArguments(bound.endpoint, own.params!))).errors).toBeUndefined();
  });
});

/** The ids that a body may refer to by. */
const referencesOf = (bound: BoundEndpoint) => {
  const input = bound.field?.args.find((arg) => arg.name === 'input');
  const places = input ? placesOf(getNamedType(input.type) as never) : [];
  const inOne = places.filter(({ type, path }) => getNamedType(type).name === 'ID' && path.length === 1);
  // Of many records that each stand for themselves, a foreign one fails alone: bulk.contacts.test.ts says how.
  return inOne.filter(({ rule }) => JSON.stringify(rule.schema).includes('"uuid"'));
};
/** Where a foreign record is one of many, and told of in the answer alone: emails.bulk.test.ts says how. */
const told = ['POST /email/send-bulk'];
const referring = endpoints.filter((bound) => referencesOf(bound).length > 0 && !told.includes(bound.address));

/** Which account to enter is no reference of one account to another's records. */
const elsewhere = new Set(['accountId']);

/** A query string with this id in the place of what it says of a field, however that is spelled there. */
function asking(query = '', name: string, id: string): string {
  const asked = new URLSearchParams(query);
  asked.delete(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  asked.set(name, id);
  return String(asked);
}

describe.each(byAddress(referring))('the body of %s', (_address, bound) => {
  it('refers to a record of another account as to one that does not exist', async () => {
    const { endpoint } = bound;
    for (const { path, type } of referencesOf(bound).filter((place) => !elsewhere.has(place.path[0]!))) {
      const name = path[0]!;
      const idOf = references[name];
      if (!idOf) throw new Error(`test/contract/references.ts does not know what ${name} of ${bound.address} refers to`);
      const own = await sampleOf(bound.address, home);
      const theirs = await idOf(abroad);
      const send = (id: string) => {
        const value = String(type).startsWith('[') ? [id] : id;
        if (endpoint.method === 'GET')
          return callerOf(bound, own).get(pathOf(endpoint.path, { ...own, query: asking(own.query, name, id) }), same);
        return callerOf(bound, own).send(endpoint.method, pathOf(endpoint.path, own), { ...own.body, [name]: value }, same);
      };
      await expectNothingWritten(api, async () => {
        const [foreign, nobodys] = [await send(theirs), await send(crypto.randomUUID())];
        expect([400, 404]).toContain(foreign.status);
        expect(foreign.text).toBe(nobodys.text);
      });
      expect((await send(await idOf(home, own.body))).status).toBeLessThan(300);
    }
  });
});

describe('a list', () => {
  it.each([
    ['company_id', () => references.companyId!(abroad)],
    ['assigned_to', async () => abroad.ownerId],
    ['tag', async () => (await abroad.contact({ firstName: 'T', tags: ['Secret tag'] })) && 'Secret tag'],
    ['cf[secret]', async () => (await abroad.contact({ firstName: 'T', customFields: { secret: 'x' } })) && 'x'],
    ['search', async () => (await abroad.contact({ firstName: 'Unheardof' })) && 'Unheardof'],
  ])('filtered by %s of another account is empty', async (name, value) => {
    const reply = dataOf(await home.owner.get(`/contacts?${name}=${encodeURIComponent(await value())}`));
    expect([reply.data, reply.meta.total]).toEqual([[], 0]);
  });

  it('shows records of its own account only, through either API', async () => {
    const foreign = await abroad.contact({ firstName: 'Foreign', tags: ['Foreign tag'] });
    for (const path of [
      '/contacts?per_page=200',
      '/tags?per_page=200',
      '/api-keys?per_page=200',
      '/contacts/duplicates',
      '/contacts/export',
    ]) {
      const { status, text } = await home.owner.get(path);
      expect([path, status, text.includes(foreign.id), text.includes('Foreign')]).toEqual([path, 200, false, false]);
    }
    const { data } = await home.owner.gql('{ contacts(first: 200) { nodes { id } } tags(first: 200) { nodes { name } } }');
    expect(JSON.stringify(data)).not.toMatch(new RegExp(`${foreign.id}|Foreign tag`));
  });

  it('keeps two callers apart that ask at the same moment', async () => {
    const ask = (account: Account) =>
      account.owner.gql('{ me { workspace { id } } contacts(first: 200) { totalCount nodes { id tags { id } } } }');
    const [a, b] = [await ask(home), await ask(abroad)];
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i % 2 ? abroad : home)));
    expect(replies.map((reply) => reply.data)).toEqual(replies.map((_, i) => (i % 2 ? b : a).data));
  });
});

describe('what is not a caller’s to write', () => {
  it('is left as it is, whatever the body says', async () => {
    const contact = await home.contact();
    const theirs = {
      id: crypto.randomUUID(),
      accountId: abroad.id,
      account_id: abroad.id,
      deletedAt: '2020-01-01T00:00:00Z',
      leadScore: 99,
    };
    const more = { tagIds: [crypto.randomUUID()], searchText: 'x', emailLower: 'x', mergedIntoId: crypto.randomUUID(), optedOutSms: null };
    const reply = await home.owner.patch(`/contacts/${contact.id}`, { ...theirs, ...more });
    expect(reply.status === 200 ? reply.body.data : contact).toEqual(contact);
    const { errors } = await home.owner.gql('mutation ($input: CreateContactInput!) { createContact(input: $input) { id } }', {
      input: { firstName: 'Ada', accountId: abroad.id },
    });
    expect(errors?.[0].extensions).toMatchObject({ code: 'invalid_request', status: 400 });
  });
});

describe('the database itself', () => {
  it('refuses a link from one account to another', async () => {
    const [own, theirs] = [await home.contact(), await references.companyId!(abroad)];
    const link = api.app.database.execute('update contacts set company_id = $1 where id = $2', [theirs, own.id]);
    await expect(link).rejects.toThrow(/foreign key/);
    const tag: Loose = await abroad.tag();
    const carry = 'insert into contact_tags (account_id, contact_id, tag_id, created_at) values ($1, $2, $3, now())';
    await expect(api.app.database.execute(carry, [home.id, own.id, tag.id])).rejects.toThrow(/foreign key/);
  });
});
