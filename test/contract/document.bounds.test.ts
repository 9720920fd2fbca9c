import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type Client, type Loose, type Reply, server, type TestServer } from '../support/index.js';
import { bodyFaultsOf, document, operationAt, published } from './published.js';
import { pathOf, type Sample, sampleOf } from './samples.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** A component in the place of its reference; of several schemas the first, since the rest are other names. */
function followed(schema: Loose): Loose {
  if (schema.$ref)
    return schema.$ref
      .split('/')
      .slice(1)
      .reduce((at: Loose, name: string) => at[name], document);
  return schema.allOf ? followed(schema.allOf[0]) : schema;
}

type Broken = [what: string, value: unknown];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is less than a schema allows, in the place of a value. */
function* below({ minimum, minLength, minItems }: Loose, at: string): Generator<Broken> {
  if (minimum !== undefined) yield [`${at}: ${minimum - 1}`, minimum - 1];
  if (minLength !== undefined) yield [`${at}: ${minLength - 1} characters`, 'x'.repeat(minLength - 1)];
  if (minItems !== undefined) yield [`${at}: no items`, []];
}

/** A value with one thing that is less than its schema allows, or without one member that it requires, in each way there is. */
function* broken(given: Loose, value: unknown, at: string): Generator<Broken> {
  const schema = followed(given);
  yield* below(schema, at);
  if (Array.isArray(value) && value.length > 0)
    for (const [what, first] of broken(schema.items ?? {}, value[0], `${at}.0`)) yield [what, [first, ...value.slice(1)]];
  if (!isObject(value)) return;
  for (const name of schema.required ?? []) {
    const { [name]: _, ...rest } = value;
    yield [`${at} without ${name}`, rest];
  }
  for (const [name, member] of Object.entries<Loose>(schema.properties ?? {}))
    for (const [what, inner] of broken(member, value[name], `${at}.${name}`)) yield [what, { ...value, [name]: inner }];
}

/** Rows that each stand for themselves fail alone. */
const isRefused = ({ status, body }: Reply) => [400, 422, 428].includes(status) || (body.data?.summary ?? body.data)?.failed > 0;

const { endpoints } = published;
const bodyOf = (address: string) => (operationAt(address) as Loose).requestBody?.content['application/json'].schema as Loose | undefined;
const writes = endpoints.filter(({ endpoint, address }) => !endpoint.forgiving && bodyOf(address));
let count = 0;

describe.each(writes.map((bound) => [bound.address, bound] as const))('%s', (address, { endpoint, needs }) => {
  it('refuses less than the document asks for, and the document allows what it takes', async () => {
    const sample = await sampleOf(address, acme);
    const caller: Client = sample.as ?? (needs.public ? api.anybody() : acme.owner);
    if (sample.body) expect(bodyFaultsOf(address, sample.body)).toBeUndefined();
    const taken: string[] = [];
    for (const [what, body] of broken(bodyOf(address)!, sample.body ?? {}, 'body')) {
      const reply = await caller.send(endpoint.method, pathOf(endpoint.path, sample), body as object);
      count++;
      if (!isRefused(reply)) taken.push(`${what} → ${reply.status} ${reply.text.slice(0, 200)}`);
    }
    expect(taken).toEqual([]);
  });
});

it('More than a hundred bodies were less than the document asks for', () => {
  expect(count).toBeGreaterThan(100);
});

it('A list says by which of its sort keys it goes, and goes by it', async () => {
  const idsOf = async (path: string, query: string) => {
    const { status, body } = await acme.owner.get(pathOf(path, { query }));
    const rows: Loose[] = status === 200 ? (Array.isArray(body.data) ? body.data : body.data.data) : [{ id: status }];
    return rows.map(({ id }) => id);
  };
  const lists = endpoints.flatMap(({ address, endpoint }) => {
    const parameters = (operationAt(address).parameters ?? []) as Loose[];
    const own = (name: string) => {
      const one = parameters.find((parameter) => parameter.name === name);
      return one?.schema.default ?? /; (\w+) where no filter says otherwise$/.exec(one?.description ?? '')?.[1];
    };
    return endpoint.list && !endpoint.path.includes('{') && own('sort')
      ? [{ path: endpoint.path, sort: own('sort'), order: own('order') }]
      : [];
  });
  expect(lists).toEqual(expect.arrayContaining(['/contacts', '/companies', '/deals', '/tasks'].map((path) => ({ path, sort: 'createdAt', order: 'desc' })))); // biome-ignore format: one line
  for (const { path, sort, order } of lists) {
    // Work that goes on behind may add a record meanwhile: then one of the two is as the list was.
    const [before, asked, after] = [await idsOf(path, ''), await idsOf(path, `sort=${sort}&order=${order}`), await idsOf(path, '')];
    expect([path, [before, after]]).toEqual([path, expect.arrayContaining([asked])]);
  }
});

it('The sort of a list has its default in words only where a filter may say another', () => {
  const inWords = (name: string) =>
    endpoints
      .filter(({ address }) =>
        ((operationAt(address).parameters ?? []) as Loose[]).some(
          (one) => one.name === name && one.schema?.default === undefined && /where no filter says otherwise$/.test(one.description),
        ),
      )
      .map(({ address }) => address)
      .sort();
  for (const name of ['sort', 'order'])
    expect([name, inWords(name)]).toEqual([name, ['GET /contacts', 'GET /contacts/export', 'GET /deals']]);
  for (const path of ['/users', '/products', '/forms']) {
    const parameters = operationAt(`GET ${path}`).parameters as Loose[];
    expect([path, parameters.find(({ name }) => name === 'sort')!.schema.default]).toEqual([path, 'createdAt']);
  }
});

describe('The defaults of the document, where a client sends them all,', () => {
  /** A query string of all parameters of a list that have a default. */
  const defaultsOf = (address: string): string =>
    ((operationAt(address).parameters ?? []) as Loose[])
      .map(followed)
      .filter((one) => one.in === 'query' && followed(one.schema).default !== undefined)
      .map(({ name, schema }) => `&${name}=${followed(schema).default}`)
      .join('');

  it('go with a cursor', async () => {
    for (let n = 0; n < 2; n++) await acme.deal({ contactId: (await acme.contact({ firstName: `n${n}` })).id });
    const asked: string[] = [];
    for (const { address, endpoint } of endpoints.filter((one) => one.endpoint.list && !one.endpoint.path.includes('{'))) {
      const { body, headers } = await acme.owner.get(pathOf(endpoint.path, { query: 'per_page=1' }));
      const cursor = body.data?.meta?.next_cursor ?? body.meta?.next_cursor ?? headers['x-next-cursor'];
      if (!cursor) continue;
      asked.push(endpoint.path);
      const { status, text } = await acme.owner.get(`${endpoint.path}?cursor=${encodeURIComponent(cursor)}${defaultsOf(address)}`);
      expect([address, status, text]).toEqual([address, 200, text]);
    }
    expect(asked).toEqual(expect.arrayContaining(['/contacts', '/deals']));
  });

  it('leave the order that a filter gives: of a board, and of a saved list', async () => {
    const [pipeline, city] = [await acme.pipeline(), 'Lisbon'];
    const filters = { field: 'city', value: city };
    const saved = { name: 'Of a city', entity: 'contact', filters, sort: 'firstName', order: 'asc' };
    const { id: list } = (await acme.owner.post('/smart-lists', saved)).body.data;
    for (const [n, name] of ['Adalbert', 'Beatrix'].entries()) {
      await acme.deal({ pipeline, stageId: pipeline.stages[n].id, title: name });
      await acme.contact({ firstName: name, city });
      api.clock.advance(1000);
    }
    const ordered = ({ text }: Reply) => [...new Set([...text.matchAll(/Adalbert|Beatrix/g)].map(([found]) => found))];
    for (const [path, filter] of [
      ['/deals', `pipeline_id=${pipeline.id}`],
      ['/contacts', `smart_list_id=${list}`],
      ['/contacts/export', `smart_list_id=${list}`],
    ] as const) {
      const plain = await acme.owner.get(`${path}?${filter}`);
      expect([path, ordered(plain)]).toEqual([path, ['Adalbert', 'Beatrix']]);
      const sent = await acme.owner.get(`${path}?${filter}${defaultsOf(`GET ${path}`)}`);
      expect([path, ordered(sent)]).toEqual([path, ordered(plain)]);
    }
  });
});

it('A query is refused that gives less than its parameter says, or lacks one that is required', async () => {
  const taken: string[] = [];
  for (const { address, endpoint } of endpoints) {
    const parameters = ((operationAt(address).parameters ?? []) as Loose[]).map(followed).filter((one) => one.in === 'query');
    const wrong = parameters.flatMap(({ name, required, schema }) => [
      ...(schema.minimum === undefined ? [] : [`${name}=${schema.minimum - 1}`]),
      ...(required ? [''] : []),
    ]);
    if (wrong.length === 0) continue;
    const sample: Sample = endpoint.path.includes('{') ? await sampleOf(address, acme) : {};
    for (const query of wrong) {
      const { status } = await (sample.as ?? acme.owner).send(endpoint.method, pathOf(endpoint.path, { params: sample.params, query }));
      if (status !== 400) taken.push(`${address}?${query} → ${status}`);
    }
  }
  expect(taken).toEqual([]);
});
