import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import { contract } from '../../src/app.js';
import type { FieldRule } from '../../src/kernel/model/fieldRules.js';
import { pathArguments } from '../../src/kernel/module/routes.js';
import { type Sample, sampleOf } from '../contract/samples.js';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  type GraphQLReply,
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

type Bound = ReturnType<typeof contract>['endpoints'][number];

const inputOf = ({ field }: Bound) => {
  const input = field?.args.find((arg) => arg.name === 'input');
  return input && (getNamedType(input.type) as GraphQLInputObjectType);
};

/** The endpoints that make a record whose id a client may choose. */
const making = contract().endpoints.filter((bound) => (inputOf(bound)?.getFields().id?.extensions.rule as FieldRule | undefined)?.isOwnId);
const cases = making.map((bound) => [bound.field!.name, bound] as const);

/** What answers the record, where it is not the answer itself. */
const inside: Record<string, string> = {
  ...{ createApiKey: 'apiKey', createWebhook: 'webhook' },
  ...{ recordInvoicePayment: 'payment', upsertContact: 'contact' },
};

async function make({ endpoint, field }: Bound, { params = {}, body = {} }: Sample, id: unknown, account = acme): Promise<GraphQLReply> {
  const { name, args } = field!;
  const known = inputOf({ endpoint, field } as Bound)!.getFields();
  const input = Object.fromEntries(Object.entries({ ...(body as object), id }).filter(([key]) => key in known));
  const declared = args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
  const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = inside[name] ? `${inside[name]} { id }` : 'id';
  return account.owner.gql(`mutation (${declared}) { ${name}(${passed}) { ${selection} } }`, { ...pathArguments(endpoint, params), input });
}

const idOf = ({ data, errors }: GraphQLReply, name: string): string => {
  expect(errors).toBeUndefined();
  return inside[name] ? data[name][inside[name]].id : data[name].id;
};

const v7 = () => `01a0${randomUUID().slice(4, 14)}7${randomUUID().slice(15)}`;

/** Refused since the id is taken, in words that tell nothing of what has it. */
function expectTaken(reply: GraphQLReply): void {
  expectGraphQLRefusal(reply, 409, 'id');
  const [{ message, extensions, path }] = reply.errors! as Loose[];
  expect(message).toBe('id is taken already');
  expect(extensions.details).toEqual([{ field: 'id', code: 'taken', message: 'is taken already' }]);
  // As of whatever fails within a mutation.
  expect([reply.data, path.length]).toEqual([null, 1]);
}

it('Every record type with a create lets a client choose the id', () => {
  const names = cases.map(([name]) => name);
  const creates = Object.keys(contract().schema.getMutationType()!.getFields()).filter((name) => /^create[A-Z]/.test(name));
  expect(names).toEqual(expect.arrayContaining(creates));
});

describe.each(cases)('%s', (name, bound) => {
  const sample = (account = acme) => sampleOf(`${bound.endpoint.method} ${bound.endpoint.path}`, account);

  it('makes the record under the id that the client chose, in lower case', async () => {
    for (const id of [randomUUID(), v7().toUpperCase()]) {
      expect(idOf(await make(bound, await sample(), id), name)).toBe(id.toLowerCase());
      expect((await acme.owner.gql(`{ node(id: "${id}") { id } }`)).data.node.id).toBe(id.toLowerCase());
    }
  });

  it('refuses an id that is taken, be it by a record of another type or of another account', async () => {
    const id = randomUUID();
    const other = await api.seed.account();
    const theirs = idOf(await make(bound, await sample(other), randomUUID(), other), name);
    const tag = await acme.tag();
    idOf(await make(bound, await sample(), id), name);
    const next = await sample();
    await expectNothingWritten(api, async () => {
      for (const taken of [id, tag.id as string, acme.id, acme.ownerId, theirs]) expectTaken(await make(bound, next, taken));
    });
  });

  it.each([
    ['no UUID', 'nonsense'],
    ['of version 1', '5b2e6a30-1f0a-11ee-be56-0242ac120002'],
    ['nil', '00000000-0000-0000-0000-000000000000'],
  ])('refuses an id that is %s', async (_what, id) => {
    const reply = await make(bound, await sample(), id);
    expect(reply.errors![0].extensions.details).toEqual([
      { field: 'id', code: 'invalid_format', message: 'must be a UUID of version 4 or 7' },
    ]);
  });
});

describe('an id that a client chose', () => {
  it('is taken by one of two who choose it at once', async () => {
    const id = randomUUID();
    const create = (type: string, input: object) =>
      acme.owner.gql(`mutation ($input: Create${type}Input!) { create${type}(input: $input) { id } }`, { input: { id, ...input } });
    const replies = await Promise.all(Array.from({ length: 8 }, (_, i) => create('Contact', { firstName: `${i}` })));
    const made = replies.filter(({ errors }) => !errors);
    expect(made).toHaveLength(1);
    for (const reply of replies.filter(({ errors }) => errors)) expectTaken(reply);
    expectTaken(await create('Company', { name: 'The same' }));
    const twice = await acme.owner.gql(
      'mutation ($id: ID) { createTag(input: { id: $id, name: "one id" }) { id } createCompany(input: { id: $id, name: "x" }) { id } }',
      { id: randomUUID() },
    );
    expectGraphQLRefusal(twice, 409, 'id');
  });

  it('may stand beside creations without one, each with what belongs to its record', async () => {
    await acme.tag('beside');
    const id = randomUUID();
    const create = (own: string) => `createContact(input: { ${own} firstName: "B", tags: ["beside"] }) { id tags { name } }`;
    const { data } = await acme.owner.gql(`mutation { a: ${create('')} b: ${create(`id: "${id}"`)} c: ${create('')} }`);
    expect([data.a.tags, data.b.tags, data.c.tags]).toEqual(Array.from({ length: 3 }, () => [{ name: 'beside' }]));
    expect(data.b.id).toBe(id);
  });

  it('takes no statement more', async () => {
    const create = (id: () => string | undefined) => () =>
      acme.owner.gql('mutation ($id: ID) { createNote(input: { id: $id, body: "n" }) { id } }', { id: id() });
    expect(await api.statements(create(() => randomUUID()))).toBe(await api.statements(create(() => undefined)));
  });

  it('stays free where it was refused, and where its record is not made for another reason', async () => {
    const id = randomUUID();
    expectGraphQLRefusal(await acme.owner.gql(`mutation { createContact(input: { id: "${id}" }) { id } }`), 400);
    const { data } = await acme.owner.gql(`mutation { createContact(input: { id: "${id}", firstName: "Now" }) { id } }`);
    expect(data.createContact.id).toBe(id);
  });

  it('is nothing to REST, which leaves it out and says so as of any member that it does not know', async () => {
    const id = randomUUID();
    const reply = await acme.owner.post('/contacts', { id, firstName: 'Rest', whatever: 1 });
    expect(dataOf(reply).id).not.toBe(id);
    expect(reply.headers['x-ignored-fields']).toBe('id, whatever');
    const { properties } = JSON.parse(readFileSync('schema/openapi.json', 'utf8')).components.schemas.CreateContactInput;
    expect(properties.id).toBeUndefined();
  });

  it('is no part of a change: an upsert that finds its contact leaves the id as it is', async () => {
    const contact = await acme.contact({ firstName: 'Up', email: 'up@example.com' });
    const { data } = await acme.owner.gql(
      `mutation { upsertContact(input: { id: "${randomUUID()}", email: "up@example.com", firstName: "Down" }) { created contact { id firstName } } }`,
    );
    expect(data.upsertContact).toEqual({ created: false, contact: { id: contact.id, firstName: 'Down' } });
  });
});

describe('an id that a client chose for a record within another', () => {
  const create = (id: string | undefined, ...stageIds: (string | undefined)[]) =>
    acme.owner.gql('mutation ($input: CreatePipelineInput!) { createPipeline(input: $input) { id stages { id } } }', {
      input: { id, name: 'Nested', stages: stageIds.map((own, i) => ({ id: own, name: `Stage ${i}` })) },
    });

  it('is named by its place where it is taken, or chosen twice', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const { data, errors } = await create(undefined, first, undefined, second);
    expect(errors).toBeUndefined();
    expect(data.createPipeline.stages.map(({ id }: Loose) => id)).toEqual([first, expect.any(String), second]);
    const tag = await acme.tag();
    await expectNothingWritten(api, async () => {
      for (const taken of [second.toUpperCase(), tag.id as string, acme.id])
        expectGraphQLRefusal(await create(randomUUID(), undefined, randomUUID(), taken), 409, 'stages.2.id');
      const twice = randomUUID();
      expectGraphQLRefusal(await create(undefined, twice, twice), 409, 'stages.1.id');
    });
  });
});
