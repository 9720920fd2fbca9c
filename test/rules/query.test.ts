import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphQLInputObjectType, getNamedType, getNullableType, isListType } from 'graphql';
import { contract } from '../../src/app.js';
import type { FieldRule } from '../../src/kernel/model/fieldRules.js';
import type { BoundEndpoint } from '../../src/rest/endpoints.js';
import { pathOf, sampleOf } from '../contract/samples.js';
import { badValues, type Place, placesOf } from '../support/badValues.js';
import { type Account, expectNothingWritten, expectRefusal, type Reply, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const lists = contract().endpoints.filter(({ endpoint, field }) => endpoint.list && field?.args.some((arg) => arg.name === 'filter'));
const byAddress = lists.map((bound) => [bound.address, bound] as const);

const filterOf = ({ field }: BoundEndpoint) =>
  getNamedType(field!.args.find((arg) => arg.name === 'filter')!.type) as GraphQLInputObjectType;

const none = { ID: 'x', Int: '1.5', Float: 'many', Boolean: 'maybe', JSONObject: '[1]' } as Record<string, string>;

/** What a query string may not say of a parameter: text that cannot be, is too long, or is no value of its type. */
function badTexts({ rule, type }: { rule?: FieldRule; type: Place['type'] }): string[] {
  const named = getNamedType(type);
  const wrong = none[named.name] ?? (rule?.schema.enum || named.astNode || 'getValues' in named ? 'nonsense' : undefined);
  const max = rule?.schema.maxLength as number | undefined;
  const moment = /date-time/.test(String(rule?.schema.description)) ? ['yesterday', '2026-02-30', '2026-01-01T25:00:00Z'] : [];
  return ['a\0b', ...(wrong ? [wrong] : []), ...(max ? ['😀'.repeat(max + 1)] : []), ...moment];
}

describe.each(byAddress)('%s', (address, bound) => {
  const { endpoint } = bound;
  let place = endpoint.path;
  let params: Record<string, string> = {};
  beforeAll(async () => {
    if (!place.includes('{')) return;
    params = (await sampleOf(address, acme)).params!;
    place = pathOf(endpoint.path, { params });
  });

  it('refuses by name what a parameter cannot be, and a parameter that is given twice', async () => {
    const faults: string[] = [];
    await expectNothingWritten(api, async () => {
      for (const [name, { path, type }] of bound.targets) {
        const rule = filterOf(bound).getFields()[path.at(-1)!]?.extensions.rule as FieldRule | undefined;
        const queries = badTexts({ rule, type }).map((text) => `${name}=${encodeURIComponent(text)}`);
        if (!rule?.list) queries.push(`${name}=a&${name}=b`);
        for (const query of queries) {
          const reply = await acme.owner.get(`${place}?${query}`);
          if (reply.status !== (endpoint.invalid ?? 400) || !reply.text.includes(name)) {
            faults.push(`${query.slice(0, 60)} → ${reply.status} ${reply.text.slice(0, 150)}`);
          }
        }
      }
    });
    expect(faults).toEqual([]);
  });

  it('refuses the same through GraphQL', async () => {
    const own = Object.entries(params).map(([name, value]) => `${name}: ${JSON.stringify(value)}, `);
    const document = `query ($filter: ${filterOf(bound).name}) { ${endpoint.operation}(${own.join('')}filter: $filter) { nodes { __typename } } }`;
    const faults: string[] = [];
    for (const field of placesOf(filterOf(bound))) {
      for (const { what, value } of badValues(field)) {
        const { errors } = await acme.owner.gql(document, { filter: { [field.path[0]!]: value } });
        const { status, field: blamed } = errors?.[0].extensions ?? {};
        if (status !== 400 || !String(blamed).includes(field.path[0]!)) {
          faults.push(`${field.path.join('.')}: ${what} → ${JSON.stringify(errors)?.slice(0, 150)}`);
        }
      }
    }
    expect(faults).toEqual([]);
  });

  it.each([
    '%ff=%ff',
    '%',
    'a[b][c]=1',
    'a[]=1',
    '__proto__=1',
    '__proto__[a]=1',
    'constructor[prototype][a]=1',
    `x=${'y'.repeat(8000)}`,
    Array.from({ length: 1500 }, (_, i) => `p${i}=1`).join('&'),
    '&&&===&',
    'toString=1&hasOwnProperty=1',
  ])('takes no harm from ?%s', async (query) => {
    const reply = await acme.owner.get(`${place}?${query}`);
    expect([200, 400]).toContain(reply.status);
    if (reply.status === 400) expectRefusal(reply, 400);
  });
});

/** Every route that reads its query string, with an address of a record that is not there where its path names one. */
const asking = contract()
  .endpoints.filter(({ targets, endpoint }) => targets.size > 0 || endpoint.list)
  .map((bound) => [bound.address, bound, bound.endpoint.path.replace(/\{\w+\}/g, '00000000-0000-7000-8000-000000000000')] as const);
const pagingNames = ['page', 'per_page', 'limit', 'cursor'];

describe.each(asking)('%s with parameters in every spelling', (_address, bound, place) => {
  const kinds = [...bound.targets].map(([name, { type }]) => {
    const kind = isListType(getNullableType(type)) ? 'list' : getNamedType(type).name === 'JSONObject' ? 'object' : 'value';
    return [name, kind] as const;
  });
  const all = [...kinds, ...(bound.endpoint.list ? pagingNames : []).map((name) => [name, 'value'] as const)];
  const ask = (query: string) => acme.owner.send(bound.endpoint.method, `${place}?${query}`);
  const told = (query: string, { status, text }: Reply) => `${query.slice(0, 80)} → ${status} ${text.slice(0, 150)}`;
  const isNamed = ({ status, body }: Reply, name: string) =>
    [400, 422].includes(status) && body.details?.some(({ field }: { field: string }) => field === name);

  /** What brackets behind a name of a kind lead to: the answer to the plain name, or to a member of an object, or a refusal. */
  const isRight = (kind: string, brackets: string, reply: Reply, plain: Reply, written: string) => {
    if (brackets === '[]' || (kind === 'list' && brackets === '[0]')) return reply.status === plain.status;
    return kind === 'object' && /^\[\w+\]$/.test(brackets) ? reply.status < 500 : isNamed(reply, written);
  };

  it('takes name[] as name, name[0] as an item of a list, name[key] as a member of an object, and refuses the rest by name', async () => {
    const faults: string[] = [];
    for (const [name, kind] of all) {
      const plain = await ask(`${name}=a`);
      for (const brackets of ['[]', '[0]', '[x]', '[0][x]', '[', '[__proto__]', '[constructor]']) {
        const query = `${name}${brackets}=a`;
        const reply = await ask(query);
        if (!isRight(kind, brackets, reply, plain, `${name}${brackets}`)) faults.push(`${told(query, reply)}, plain ${plain.status}`);
      }
    }
    expect(faults).toEqual([]);
  });

  it('answers soon whatever is repeated, empty, of no encoding or called as what every object has', async () => {
    const faults: string[] = [];
    for (const [name] of all) {
      const often = Math.floor(15_000 / (name.length + 6));
      for (const query of [
        `${name}=1&${name}=2`,
        `${name}=`,
        `${name}`,
        `${name}=&${name}=`,
        `${name}=,`,
        `${name}=%20`,
        `${name}=%ff%fe`,
        `${name}=%`,
        `${name}=__proto__`,
        `${name}=constructor`,
        `${name}[]=&${name}[0]=`,
        `${name}[a]=1&${name}[a]=2&${name}[b][]=1`,
        Array.from({ length: often }, () => `${name}=1`).join('&'),
        Array.from({ length: often }, (_, i) => `${name}[${i}]=1`).join('&'),
      ]) {
        const began = performance.now();
        const reply = await ask(query);
        const took = performance.now() - began;
        if (reply.status >= 500 || took > 2000) faults.push(`${told(query, reply)} after ${Math.round(took)} ms`);
      }
    }
    expect(faults).toEqual([]);
  });
});
