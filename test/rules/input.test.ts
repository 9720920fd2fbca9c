import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphQLInputObjectType, getNamedType, isObjectType } from 'graphql';
import { contract } from '../../src/app.js';
import { pathArguments } from '../../src/kernel/module/routes.js';
import type { BoundEndpoint } from '../../src/rest/endpoints.js';
import { pathOf, type Sample, sampleOf } from '../contract/samples.js';
import { type Bad, badValues, type Place, placesOf } from '../support/badValues.js';
import {
  type Account,
  basePath,
  type Client,
  dataOf,
  expectNothingWritten,
  type Loose,
  type Reply,
  server,
  type TestServer,
} from '../support/index.js';
import fc from '../support/property.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const { endpoints } = contract();
const inputOf = ({ field }: BoundEndpoint) => {
  const input = field?.args.find((arg) => arg.name === 'input');
  return input && (getNamedType(input.type) as GraphQLInputObjectType);
};

/** The first endpoint of every input type; of those that refuse nothing `test/contract/anyBody.test.ts` speaks. */
// What is asked for by GET comes in the query string: `test/contract/availability.test.ts`.
const refusing = endpoints.filter(({ endpoint }) => !endpoint.forgiving && endpoint.method !== 'GET');
const writing = [
  ...new Map(refusing.flatMap((bound) => (inputOf(bound) ? [[inputOf(bound)!.name, bound] as const] : [])).reverse()).entries(),
].reverse();

/** The same body with one value in another's place. */
function put(body: Record<string, unknown>, [name, ...rest]: string[], value: unknown): Record<string, unknown> {
  const inner = rest.length > 0 ? put((body[name!] ?? {}) as Record<string, unknown>, rest, value) : value;
  return { ...body, [name!]: inner };
}

const blames = (details: Loose[] | undefined, path: string[]) => {
  const name = path.join('.');
  return Boolean(details?.some(({ field }: { field: string }) => field === name || field.startsWith(`${name}.`)));
};

const callerOf = ({ needs }: BoundEndpoint, sample: Sample): Client => sample.as ?? (needs.public ? api.anybody() : acme.owner);

/** The endpoint's operation through GraphQL; the other names that REST takes for a field are not of its schema. */
function throughGraphQL(bound: BoundEndpoint, sample: Sample, body: Record<string, unknown>) {
  const field = bound.field!;
  const names = inputOf(bound)!.getFields();
  const input = Object.fromEntries(Object.entries(body).filter(([name]) => name in names));
  const declared = field.args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
  const passed = field.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const selection = isObjectType(getNamedType(field.type)) ? '{ __typename }' : '';
  const document = `mutation (${declared}) { ${field.name}(${passed}) ${selection} }`;
  return callerOf(bound, sample).gql(document, { ...pathArguments(bound.endpoint, sample.params ?? {}), input });
}

interface Outcome {
  status?: number;
  details?: Loose[];
  told: string;
}

type Send = (body: Record<string, unknown>) => Promise<Outcome>;

function sendersOf(bound: BoundEndpoint, sample: Sample): Send[] {
  const { endpoint } = bound;
  const plain = (status: number) => (status === endpoint.invalid ? 400 : status);
  const rest: Send = async (body) => {
    const reply = await callerOf(bound, sample).send(endpoint.method, pathOf(endpoint.path, sample), body);
    return { status: plain(reply.status), details: reply.body.details, told: `REST ${reply.text}` };
  };
  const graphql: Send = async (body) => {
    const { data, errors } = await throughGraphQL(bound, sample, body);
    const { status, details } = errors?.[0].extensions ?? {};
    return { status: plain(status), details, told: `GraphQL ${JSON.stringify(errors ?? data)}` };
  };
  return [rest, graphql];
}

/**
 * Sends a body in which every one of these places is wrong. Each must be blamed: types are looked at before values, so
 * what was blamed is put right and the rest sent again. What is never blamed comes back, with the reply.
 */
async function unblamed(send: Send, body: Record<string, unknown>, wrong: { place: Place; bad: Bad }[]): Promise<string[]> {
  if (wrong.length === 0) return [];
  const sent = wrong.reduce((whole, { place, bad }) => put(whole, place.path, bad.value), body);
  const { status, details, told } = await send(sent);
  const left = wrong.filter(({ place }) => !blames(details, place.path));
  if (status === 400 && left.length < wrong.length) return unblamed(send, body, left);
  return wrong.map(({ place, bad }) => `${place.path.join('.')}: ${bad.what} → ${status} ${told.slice(0, 200)}`);
}

/** The first bad value of every place, then the second of each, and so on; fields of one object at a time. */
function rounds(places: Place[]): { place: Place; bad: Bad }[][] {
  const objectOf = (place: Place) => place.path.slice(0, -1).join('.');
  return [...new Set(places.map(objectOf))].flatMap((object) => {
    const fields = places.filter((place) => objectOf(place) === object);
    const values = fields.map((place) => ({ place, bads: badValues(place) }));
    const most = Math.max(...values.map(({ bads }) => bads.length));
    return Array.from({ length: most }, (_, n) => values.flatMap(({ place, bads }) => (bads[n] ? [{ place, bad: bads[n] }] : [])));
  });
}

/** Objects with members that are named like what every object inherits. */
const inherited: fc.JsonValue[] = ['__proto__', 'constructor', 'toString'].map((name) => JSON.parse(`{"${name}":""}`));

/** What machines fill in: nothing that it says is refused. */
const trap = '_hp_field';

describe.each(writing)('%s', (_name, bound) => {
  it('refuses every bad value of every field by its name through both APIs, and writes nothing', async () => {
    const sample = await sampleOf(bound.address, acme);
    const faults = await expectNothingWritten(api, async () => {
      const all: string[] = [];
      for (const wrong of rounds(placesOf(inputOf(bound)!).filter(({ path }) => path[0] !== trap))) {
        for (const send of sendersOf(bound, sample)) all.push(...(await unblamed(send, sample.body ?? {}, wrong)));
      }
      return all;
    });
    expect(faults).toEqual([]);
  });

  it('answers anything at all with less than 500', async () => {
    const sample = await sampleOf(bound.address, acme);
    const names = Object.keys(inputOf(bound)!.getFields());
    const member = fc.tuple(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }));
    const property = fc.asyncProperty(fc.array(member, { maxLength: 4 }), async (members) => {
      const body = { ...sample.body, ...Object.fromEntries(members) };
      const reply = await callerOf(bound, sample).send(bound.endpoint.method, pathOf(bound.endpoint.path, sample), body);
      expect(reply.status).toBeLessThan(500);
    });
    const examples: [[string, fc.JsonValue][]][] = inherited.map((value) => [names.map((name) => [name, value])]);
    await fc.assert(property, { numRuns: 25, examples });
  });
});

it('names what it does not know also where it takes no body', async () => {
  const { id } = dataOf(await acme.owner.post('/workflows', { name: 'W' }));
  const reply = await acme.owner.post(`/workflows/${id}/deactivate`, { isActive: true, 'a,b': 1 });
  expect([reply.status, reply.headers['x-ignored-fields']]).toEqual([200, 'isActive, a%2Cb']);
  expect((await acme.owner.post(`/workflows/${id}/deactivate`, {})).headers['x-ignored-fields']).toBeUndefined();
  const gone = await acme.owner.send('DELETE', `/workflows/${id}`, { confirm: true });
  expect([gone.status, gone.headers['x-ignored-fields']]).toEqual([200, 'confirm']);
});

it('names what it does not know in a header that every client can read, whatever that is called', async () => {
  const odd = { '\ud800': 1, [`${'x'.repeat(99)}😀`]: 1, 'a,b': 1 };
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`${'字'.repeat(20)}${n}`, n]));
  const reply = await acme.owner.post('/tags', { name: 'odd members', ...odd, ...many });
  expect(reply.status).toBe(201);
  const named = reply.headers['x-ignored-fields'] as string;
  expect(named.length).toBeLessThanOrEqual(4000);
  expect(named.split(', ').map(decodeURIComponent).slice(0, 4)).toEqual([
    '\ufffd',
    `${'x'.repeat(99)}\ufffd`,
    'a,b',
    `${'字'.repeat(20)}0`,
  ]);
});

/** Bytes that are no JSON object, or come under a wrong name. */
const bodies: [string, string | Buffer, Record<string, string>, number][] = [
  ['nothing', '', {}, 400],
  ['half an object', '{"firstName":"Ada"', {}, 400],
  ['an object and more', '{"firstName":"Ada"}{"a":1}', {}, 400],
  ['an object and a NUL', '{"firstName":"Ada"}\0', {}, 400],
  ['a list', '[{"firstName":"Ada"}]', {}, 400],
  ['text', '"Ada"', {}, 400],
  ['a number', '5', {}, 400],
  ['null', 'null', {}, 400],
  ['JavaScript', '{firstName:"Ada"}', {}, 400],
  ['a trailing comma', '{"firstName":"Ada",}', {}, 400],
  ['__proto__', '{"firstName":"Ada","name":"x","__proto__":{"id":1}}', {}, 400],
  ['__proto__ deep inside', '{"firstName":"Ada","name":"x","customFields":{"a":{"__proto__":1}}}', {}, 400],
  ['constructor.prototype', '{"firstName":"Ada","name":"x","constructor":{"prototype":{"id":1}}}', {}, 400],
  ['a hundred thousand lists', `{"firstName":"Ada","customFields":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, {}, 400],
  ['UTF-16', Buffer.from('{"firstName":"Ada","name":"x"}', 'utf16le'), {}, 400],
  ['a form', 'firstName=Ada&name=x', { 'content-type': 'application/x-www-form-urlencoded' }, 400],
  ['JSON as text', '{"firstName":"Ada","name":"x"}', { 'content-type': 'text/plain' }, 400],
  ['JSON without a type', '{"firstName":"Ada","name":"x"}', { 'content-type': '' }, 400],
  ['XML', '<firstName>Ada</firstName>', { 'content-type': 'application/xml' }, 400],
  ['compressed JSON', gzipSync('{"firstName":"Ada","name":"x"}'), { 'content-encoding': 'gzip' }, 400],
  ['a megabyte and a byte', `{"firstName":"Ada","name":"${'x'.repeat(1024 * 1024)}"}`, {}, 413],
];

describe.each(['/contacts', '/tags'])('the body of POST %s', (path) => {
  it.each(bodies)('that is %s is refused', async (_what, payload, headers, status) => {
    await expectNothingWritten(api, async () => {
      const sent = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)), ...headers };
      const reply: Reply = await acme.owner.raw({ method: 'POST', path: basePath + path, payload, headers: sent });
      expect([reply.status, typeof reply.body.error]).toEqual([status, 'string']);
    });
  });

  it('that comes in pieces is held to a megabyte as well', async () => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const reply = await acme.owner.raw({ method: 'POST', path: basePath + path, payload: `"${'x'.repeat(1_100_000)}"`, headers });
    expect(reply.status).toBe(413);
  });
});
