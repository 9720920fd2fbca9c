import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import { contract } from '../../src/app.js';
import type { FieldRule } from '../../src/kernel/model/fieldRules.js';
import type { MountedRow } from '../../src/rest/table.js';
import { pathOf, sampleOf } from '../contract/samples.js';
import { badValues, type Place, placesOf } from '../support/badValues.js';
import { type Account, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const lists = contract().rows.filter(({ row, field }) => row.list && field?.args.some((arg) => arg.name === 'filter'));
const byAddress = lists.map((mounted) => [mounted.address, mounted] as const);

const filterOf = ({ field }: MountedRow) => getNamedType(field!.args.find((arg) => arg.name === 'filter')!.type) as GraphQLInputObjectType;

const none = { ID: 'x', Int: '1.5', Float: 'many', Boolean: 'maybe', JSONObject: '[1]' } as Record<string, string>;

/** What a query string may not say of a parameter: text that cannot be, is too long, or is no value of its type. */
function badTexts({ rule, type }: { rule?: FieldRule; type: Place['type'] }): string[] {
  const named = getNamedType(type);
  const wrong = none[named.name] ?? (rule?.schema.enum || named.astNode || 'getValues' in named ? 'nonsense' : undefined);
  const max = rule?.schema.maxLength as number | undefined;
  const moment = /date-time/.test(String(rule?.schema.description)) ? ['yesterday', '2026-02-30', '2026-01-01T25:00:00Z'] : [];
  return ['a\0b', ...(wrong ? [wrong] : []), ...(max ? ['😀'.repeat(max + 1)] : []), ...moment];
}

describe.each(byAddress)('%s', (address, mounted) => {
  const { row } = mounted;
  let place = row.path;
  let params: Record<string, string> = {};
  beforeAll(async () => {
    if (!place.includes('{')) return;
    params = (await sampleOf(address, acme)).params!;
    place = pathOf(row.path, { params });
  });

  it('refuses by name what a parameter cannot be, and a parameter that is given twice', async () => {
    const faults: string[] = [];
    await expectNothingWritten(api, async () => {
      for (const [name, { path, type }] of mounted.sources) {
        const rule = filterOf(mounted).getFields()[path.at(-1)!]?.extensions.rule as FieldRule | undefined;
        const queries = badTexts({ rule, type }).map((text) => `${name}=${encodeURIComponent(text)}`);
        if (!rule?.list) queries.push(`${name}=a&${name}=b`);
        for (const query of queries) {
          const reply = await acme.owner.get(`${place}?${query}`);
          if (reply.status !== (row.invalid ?? 400) || !reply.text.includes(name)) {
            faults.push(`${query.slice(0, 60)} → ${reply.status} ${reply.text.slice(0, 150)}`);
          }
        }
      }
    });
    expect(faults).toEqual([]);
  });

  it('refuses the same through GraphQL', async () => {
    const own = Object.entries(params).map(([name, value]) => `${name}: ${JSON.stringify(value)}, `);
    const document = `query ($filter: ${filterOf(mounted).name}) { ${row.operation}(${own.join('')}filter: $filter) { nodes { __typename } } }`;
    const faults: string[] = [];
    for (const field of placesOf(filterOf(mounted))) {
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
