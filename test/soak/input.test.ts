import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import { contract } from '../../src/app.js';
import type { BoundEndpoint } from '../../src/rest/endpoints.js';
import { type Sample, sampleOf } from '../contract/samples.js';
import { badValues, placesOf } from '../support/badValues.js';
import { type Account, basePath, type Client, server, type TestServer } from '../support/index.js';

/** SOAK_INPUTS: random requests in all; SOAK_SEED: the seed of an earlier run. */
const { SOAK_INPUTS = '20000', SOAK_SEED = String(Date.now() & 0x7fffffff) } = process.env;
const [inputs, seed] = [Number(SOAK_INPUTS), Number(SOAK_SEED)];
const { endpoints } = contract();
const each = Math.ceil(inputs / endpoints.length);

jest.setTimeout(120_000 + inputs * 100);

let api: TestServer;
let acme: Account;
let key: Client;
beforeAll(async () => {
  console.log(`SOAK_SEED=${seed}: ${endpoints.length} endpoints, ${each} requests each`);
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());

const inputOf = ({ field }: BoundEndpoint) => {
  const input = field?.args.find((arg) => arg.name === 'input');
  return input && (getNamedType(input.type) as GraphQLInputObjectType);
};

const nasty = fc.constantFrom(
  ...[
    '\0',
    '\ud800',
    '../../etc/passwd',
    "' or 1=1 --",
    '{{constructor}}',
    '%00',
    '#{7*7}',
    '\r\nBcc: a@b.c',
    '1e999',
    '-1',
    '9'.repeat(30),
  ],
  ...[
    '00000000-0000-7000-8000-000000000000',
    'null',
    'true',
    '2026-02-30',
    '0000-01-01T00:00:00Z',
    '[]',
    '{}',
    'x'.repeat(5000),
    '\u202e😀',
  ],
);
const word = fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 40 }));
const anything = fc.oneof(
  nasty,
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.double(),
  fc.constantFrom(2 ** 31, -(2 ** 53), 1e308, -0),
);

/** A body about the endpoint's input: members that it has with values that it must refuse or anything at all, and others. */
function bodies(bound: BoundEndpoint) {
  const input = inputOf(bound);
  if (!input) return fc.option(fc.dictionary(word, anything, { maxKeys: 3 }), { nil: undefined });
  const bad = placesOf(input).filter(({ path }) => path.length === 1);
  const value = (name: string) => {
    const values = bad.filter(({ path }) => path[0] === name).flatMap((place) => badValues(place).map((one) => one.value));
    return values.length > 0 ? fc.oneof(anything, fc.constantFrom(...values)) : anything;
  };
  const names = Object.keys(input.getFields());
  const member = fc.oneof(...[...new Set(names)].map((name) => fc.tuple(fc.constant(name), value(name))), fc.tuple(word, anything));
  return fc.array(member, { maxLength: 5 }).map((members) => Object.fromEntries(members.filter(([name]) => name !== '__proto__')));
}

function requests(bound: BoundEndpoint) {
  const names = [...bound.targets.keys()];
  const name = names.length > 0 ? fc.oneof(fc.constantFrom(...names), word) : word;
  return fc.record({
    body: bodies(bound),
    /** Whether the endpoint's own sample is in the body beneath. */
    isBased: fc.boolean(),
    query: fc.array(fc.tuple(name, word), { maxLength: 4 }),
    /** What stands in the place of a path parameter; nothing for the sample's own. */
    param: fc.option(word, { freq: 3, nil: undefined }),
  });
}

type Wild = typeof requests extends (bound: BoundEndpoint) => fc.Arbitrary<infer R> ? R : never;

// A lone surrogate has no UTF-8, and so no place in an address.
const encoded = (text: string) => encodeURIComponent(Buffer.from(text).toString());

function pathOf({ endpoint }: BoundEndpoint, { params = {} }: Sample, { param, query }: Wild): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_whole, name: string) => encoded(param ?? params[name] ?? ''));
  return query.length > 0 ? `${path}?${query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')}` : path;
}

const callerOf = ({ needs }: BoundEndpoint, sample: Sample) =>
  sample.as ?? (needs.public ? api.anybody() : needs.session ? acme.owner : key);

async function send(bound: BoundEndpoint, sample: Sample, wild: Wild): Promise<void> {
  const { method } = bound.endpoint;
  const body = wild.isBased && wild.body ? { ...sample.body, ...wild.body } : wild.body;
  const caller = callerOf(bound, sample);
  const payload = method === 'GET' || body === undefined ? undefined : JSON.stringify(body);
  const headers = payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) };
  // Fails by itself on a 500, and on an error that tells of the database or the code.
  const reply = await caller.raw({ method, path: basePath + pathOf(bound, sample, wild), payload, headers });
  if (reply.status >= 500) throw new Error(`${bound.address} → ${reply.status} ${reply.text}`);
}

it.each(endpoints.map((bound) => [bound.address, bound] as const))(
  '%s answers anything at all with less than 500',
  async (address, bound) => {
    const sample = await sampleOf(address, acme);
    await fc.assert(
      fc.asyncProperty(requests(bound), (wild) => send(bound, sample, wild)),
      { seed, numRuns: each, endOnFailure: true },
    );
  },
);

it('and nothing was left unhandled', async () => {
  expect(api.logs.filter((line) => /unhandled|uncaught/.test(line))).toEqual([]);
});
