import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLObjectType,
  getIntrospectionQuery,
  getNamedType,
  lexicographicSortSchema,
  parse,
  printSchema,
  printType,
} from 'graphql';
import { documentFaults } from '../../src/rest/endpoints.js';
import { operationIds } from '../../src/rest/openapi.js';
import { withClosedAnswers } from '../support/closed.js';
import { type Account, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { answerFaultsOf, document, expectPublished, faultsOf, operationAt, published } from './published.js';

const committed = (name: string) => readFileSync(join(process.cwd(), 'schema', name), 'utf8');
const addresses = published.endpoints.map(({ address }) => address).sort();

let running: TestServer;
let account: Account;
beforeAll(async () => {
  running = await server();
  account = await running.seed.account();
});
afterAll(() => running.close());

describe('the documents behind the endpoints', () => {
  it('are valid by the schema', () => {
    expect(documentFaults(published.schema, published.endpoints)).toEqual([]);
  });

  it('and one that asks for a field which is not there is told of with its endpoint', () => {
    const wrong = { ...published.endpoints[0]!, address: 'GET /wrong', document: parse('{ contacts { nodes { shoeSize } } }') };
    expect(documentFaults(published.schema, [wrong])).toEqual([expect.stringMatching(/^GET \/wrong: .*shoeSize/)]);
  });
});

describe('the published descriptions', () => {
  /** Types of sequences and enrollments; automations begin runs for who is enrolled in them. */
  const isOurs = (name: string) => /Sequence|Enrollment|Unenroll|^Enroll(Input|Detail|Result|Outcome|Skip)$/.test(name);

  it('call what a sequence has of a contact an enrollment, and leave the word run to workflows and automations', () => {
    const { components, paths } = published.openapi as Loose;
    const schemas = Object.entries(components.schemas).filter(([name]) => isOurs(name));
    const operations = Object.entries(paths).filter(([path]) => path.startsWith('/emails/sequences'));
    const types = Object.values(published.schema.getTypeMap()).filter(({ name }) => isOurs(name));
    const roots = (['Query', 'Mutation', 'Subscription'] as const).flatMap((root) =>
      Object.values((published.schema.getType(root) as GraphQLObjectType).getFields()).filter(
        ({ name, type }) => /sequence/i.test(name) || isOurs(getNamedType(type).name),
      ),
    );
    expect([schemas, operations, types, roots].map((all) => all.length > 5)).toEqual([true, true, true, true]);
    const texts = JSON.stringify([schemas, operations]).match(/"description":"[^"]*"/g)!;
    const told = [
      ...types.flatMap((type) => printType(type).split('"""')),
      ...roots.flatMap(({ description, args }) => [description, ...args.map((arg) => arg.description)]),
    ];
    expect([...texts, ...told].filter((text) => /\bruns?\b(?! of workflows and automations)/i.test(text ?? ''))).toEqual([]);
  });
});

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(published.openapi));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(published.openapi).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
  });

  it('is served without credentials, and is the one that is committed', async () => {
    const reply = await running.anybody().get('/openapi.json');
    expect(reply.status).toBe(200);
    expect(`${JSON.stringify(reply.body, null, 2)}\n`).toBe(committed('openapi.json'));
  });

  it('names exactly the endpoints that are served', () => {
    const named = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(named.sort()).toEqual(addresses);
  });

  it('gives every operation an id of its own, a summary and its errors', () => {
    expect(new Set(operationIds(published.endpoints).values()).size).toBe(published.endpoints.length);
    for (const { address, needs, endpoint } of published.endpoints) {
      const { summary, responses, security } = operationAt(address);
      expect(summary.length).toBeGreaterThan(5);
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['429', '500', '503', ...(needs.public ? [] : ['401', '403'])]));
      expect(security).toHaveLength(needs.public ? 0 : needs.session ? 1 : 2);
      if (endpoint.path.includes('{')) expect(Object.keys(responses)).toContain('404');
    }
  });

  it('refers to nothing that it does not hold', () => {
    const text = JSON.stringify(document);
    const references = new Set([...text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)].map(([, kind, name]) => `${kind}/${name}`));
    const components = document.components as unknown as Record<string, Record<string, unknown>>;
    const missing = [...references].filter((reference) => !components[reference.split('/')[0]!]?.[reference.split('/')[1]!]);
    expect(missing).toEqual([]);
  });

  it('carries the limits of the fields, inherited ones too', () => {
    expect(faultsOf('CreateContactInput', { firstName: 'x'.repeat(101) })).toContain('must NOT have more than 100 characters');
    expect(faultsOf('CreateContactInput', { tags: Array(101).fill('a') })).toContain('must NOT have more than 100 items');
    expect(faultsOf('CreateContactInput', { masterStatus: null })).toContain('must be string');
    expect(faultsOf('CreateTagInput', { color: '#12' })).toContain("must have required property 'name'");
    expect(faultsOf('UpdateTagInput', { color: '#12' })).toContain('must match pattern');
    expect(faultsOf('CreateContactInput', { firstName: null, nonsense: 1 })).toBeUndefined();
  });

  it('tells a record with a field too many or too few from a whole one', async () => {
    const contact = await account.contact();
    expect(faultsOf('Contact', contact)).toBeUndefined();
    expect(faultsOf('Contact', { ...contact, secret: 1 })).toContain('must NOT have additional properties');
    expect(faultsOf('Contact', { ...contact, leadScore: undefined })).toContain('leadScore');
    expect(faultsOf('Contact', { ...contact, createdAt: 'yesterday' })).toContain('date-time');
  });

  it('forbids no member of an answer, which a later release may add; that one is told from a whole record here is by a closed copy', () => {
    const forbids = (value: object) => JSON.stringify(value).match(/"additionalProperties":false/g)?.length ?? 0;
    expect([forbids(document), forbids(withClosedAnswers(document)) > 400]).toEqual([0, true]);
  });

  it('documents the query parameters of lists by their REST names', () => {
    const parameters = operationAt('GET /contacts').parameters!.map((p) => p.name ?? p.$ref!.split('/').at(-1));
    const expected = ['search', 'tags', 'company_id', 'assigned_to', 'min_score', 'sort', 'order', 'page', 'per_page', 'limit', 'cursor'];
    expect(parameters).toEqual(expect.arrayContaining(expected));
    expect(parameters).toHaveLength(new Set(parameters).size);
    expect(parameters).not.toContain('first');
  });
});

it('The document tells what the meta of a list always has from what it has where it is asked for', async () => {
  await account.deal();
  const without = async (path: string, query: string, member: string) => {
    const { body } = await account.owner.get(`${path}?${query}`);
    expect([path, body.data.meta]).toEqual([path, expect.objectContaining({ [member]: expect.anything() })]);
    const { [member]: _, ...meta } = body.data.meta;
    return answerFaultsOf(`GET ${path}`, 200, { data: { ...body.data, meta } });
  };
  expect(await without('/events', '', 'position')).toContain("must have required property 'position'");
  expect(await without('/deals', 'summary=true', 'summary')).toBeUndefined();
  const { meta } = (operationAt('GET /events') as Loose).responses[200].content['application/json'].schema.properties.data.properties;
  expect(meta.properties.position.description).toMatch(/ask after next/);
});

describe('what generators and linters of OpenAPI ask for', () => {
  type Parameter = { name: string; schema?: { type?: string; enum?: string[]; items?: { enum?: string[] } }; style?: string };
  const operations = Object.entries(document.paths).flatMap(([path, rows]) =>
    Object.entries(rows).map(([method, operation]) => ({ at: `${method} ${path}`, operation: operation as Loose })),
  );

  it('has a description of every tag and operation', () => {
    const { tags } = document as Loose;
    expect(tags.filter(({ description }: Loose) => !description)).toEqual([]);
    expect(operations.filter(({ operation }) => !operation.description || !operation.summary).map(({ at }) => at)).toEqual([]);
  });

  it('has a schema for every parameter, and one type for what has two spellings', () => {
    for (const { at, operation } of operations) {
      const own = ((operation.parameters ?? []) as Parameter[]).filter(({ name }) => name);
      expect([at, own.filter(({ schema }) => !schema)]).toEqual([at, []]);
      const listed = own
        .filter(({ schema }) => schema!.enum ?? schema!.items?.enum)
        .map(({ name }) => name.replaceAll('_', '').toLowerCase());
      expect([at, listed.length]).toEqual([at, new Set(listed).size]);
    }
  });

  it('says what a key needs where programs read it, since its scheme has no scopes', () => {
    for (const { at, operation } of operations) {
      for (const scheme of operation.security) expect([at, Object.values(scheme)]).toEqual([at, [[]]]);
      if (operation.security.length > 0) expect([at, operation['x-requires'].role]).toEqual([at, expect.any(String)]);
    }
    expect(operations.find(({ at }) => at === 'post /contacts')!.operation['x-requires']).toEqual({
      permission: 'read-write',
      scopes: ['contacts'],
      role: 'member',
    });
  });
});

it('No page size or number has a default, which would beat or refuse the others; the sizes in words are none that is cut', () => {
  const { components, paths } = document as Loose;
  const operations = Object.values<Loose>(paths).flatMap((methods) => Object.values<Loose>(methods));
  const all = [...Object.values<Loose>(components.parameters), ...operations.flatMap((one): Loose[] => one.parameters ?? [])];
  const paging = all.filter(({ name }) => ['page', 'per_page', 'limit'].includes(name));
  expect(paging.filter(({ schema }) => 'default' in schema)).toEqual([]);
  const said = paging.map(({ name, description }) => [name, Number(/, (\d+) where/.exec(description)?.[1] ?? 0)]);
  expect(said.sort()).toEqual([['limit', 0], ['page', 0], ['per_page', 200], ['per_page', 50]]); // biome-ignore format: one line
});

it('The document asks of callers what the catalog does, endpoint by endpoint', async () => {
  const { body } = await running.anybody().get('/schema/public');
  for (const { method, path, public: isPublic, tier, scope, role, permissions, sessionOnly } of body.data as Loose[]) {
    const key = sessionOnly ? {} : { permission: tier, scopes: scope };
    const asked = isPublic ? undefined : { ...key, role, ...(permissions.length > 0 && { permissions }) };
    expect([method, path, (operationAt(`${method} ${path}`) as Loose)['x-requires']]).toEqual([method, path, asked]);
  }
  expect(operationAt('PUT /settings/vendor-line')).toMatchObject({ 'x-requires': { role: 'member', permissions: ['settings:edit'] } });
});

describe('the published GraphQL schema', () => {
  it('is the one that is committed', () => {
    expect(`${printSchema(lexicographicSortSchema(published.schema))}\n`).toBe(committed('schema.graphql'));
  });
});

it('The GraphQL schema that is served is the committed one, to the last type', async () => {
  const query = getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, schemaDescription: true });
  const { data } = await account.owner.gql(query);
  const served = `${printSchema(lexicographicSortSchema(buildClientSchema(data)))}\n`;
  const typesOf = (sdl: string) => Object.keys(buildSchema(sdl).getTypeMap()).sort();
  expect(typesOf(served)).toEqual(typesOf(committed('schema.graphql')));
  expect(served).toBe(committed('schema.graphql'));
});

it('Every spelling of a query parameter that is taken is a parameter of the document, and no other', () => {
  for (const { endpoint, address, targets, field } of published.endpoints.filter(({ targets }) => targets.size > 0)) {
    const parameters = operationAt(address).parameters as { $ref?: string; name?: string; in?: string }[];
    const named = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name!);
    // What lists share is a component, and so is how they are counted.
    const shared = parameters.flatMap(({ $ref }) => ($ref === '#/components/parameters/count' ? ['count'] : []));
    expect([address, [...named, ...shared].sort()]).toEqual([address, [...targets.keys()].sort()]);
    expect(new Set(named).size).toBe(named.length);
    // The catalogue of events has an end that the server knows.
    if (endpoint.list && field!.args.some(({ name }) => name === 'perPage'))
      expect([address, parameters.map(({ $ref }) => $ref)]).toEqual([
        address,
        expect.arrayContaining(['#/components/parameters/per_page']),
      ]);
  }
  const contacts = (operationAt('GET /companies').parameters as { name?: string }[]).map(({ name }) => name);
  expect(contacts).toEqual(expect.arrayContaining(['hasOpenDeals', 'has_open_deals', 'lifecycleStage', 'ownerId']));
});

describe('GET /schema/public and GET /schema/api-catalog', () => {
  type Entry = Record<string, unknown> & { method: string; path: string; statuses: number[]; rateLimits: string[] };
  const addressesOf = (entries: Entry[]) => entries.map(({ method, path }) => `${method} ${path}`).sort();
  const entryOf = (entries: Entry[], address: string) => entries.find(({ method, path }) => `${method} ${path}` === address);

  it('list exactly the endpoints that are served, themselves among them', async () => {
    const open = await running.anybody().get('/schema/public');
    expectPublished('GET /schema/public', open);
    expect(addressesOf(open.body.data)).toEqual(addresses);
    const full = await account.owner.get('/schema/api-catalog');
    expectPublished('GET /schema/api-catalog', full);
    expect(addressesOf(full.body.data)).toEqual(addresses);
    expect(addresses).toEqual(expect.arrayContaining(['GET /schema/public', 'GET /schema/api-catalog', 'GET /openapi.json']));
    expectRefusal(await running.anybody().get('/schema/api-catalog'), 401);
  });

  it('tell what an endpoint asks of its caller, and the statuses of the document', async () => {
    const { body } = await (await account.key({ permission: 'read' })).get('/schema/api-catalog');
    expect(entryOf(body.data, 'POST /contacts')).toMatchObject({
      ...{ module: 'contacts', scope: ['contacts'], tier: 'read-write', role: 'member', sessionOnly: false, public: false },
      ...{ rateLimits: ['create', 'key'], operationId: 'createContact', operation: 'createContact', parameters: ['Idempotency-Key'] },
    });
    expect(entryOf(body.data, 'POST /api-keys')).toMatchObject({ tier: null, role: 'admin', sessionOnly: true, rateLimits: ['general'] });
    expect(entryOf(body.data, 'POST /auth/login')).toMatchObject({
      public: true,
      tier: null,
      role: null,
      rateLimits: ['login', 'security'],
    });
    expect(entryOf(body.data, 'GET /contacts')?.parameters).toEqual(expect.arrayContaining(['assigned_to', 'per_page', 'cursor']));
    for (const entry of body.data as Entry[]) {
      const statuses = Object.keys(operationAt(`${entry.method} ${entry.path}`).responses).map(Number);
      expect([...entry.statuses].sort()).toEqual(statuses.sort());
    }
  });
});
