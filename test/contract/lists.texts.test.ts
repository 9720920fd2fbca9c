import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type Loose, server, type TestServer } from '../support/index.js';
import { operationAt, published } from './published.js';

let api: TestServer;
let acme: Account;
let texts: Set<string>;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  await acme.contact({ firstName: 'Ada', tags: ['VIP'] });
  const { database } = api.app;
  for (const name of ['text', 'planned'] as const) {
    const send = database[name] as (query: { text: string }) => unknown;
    Object.assign(database, { [name]: (query: { text: string }) => send(texts.add(query.text) && query) });
  }
});
afterAll(() => api.close());

/** The texts of the statements of a request. */
async function textsOf(path: string): Promise<string[]> {
  texts = new Set();
  const reply = await acme.owner.get(path);
  expect([path, reply.status]).toEqual([path, 200]);
  // Who asks is looked up anew now and then.
  return [...texts].filter((text) => !text.includes('token_hash')).sort();
}

const day = (n: number) => `2026-0${n}-01`;

/** Two values of a parameter that ask for different records; none where its words may be statements of their own, or have a form of their own. */
function valuesOf({ name = '', schema }: Loose): [string, string] | undefined {
  const type = [schema?.type].flat()[0];
  if (/^(sort|order|page|per_page|limit|cursor|after|include|view|count|timezone|tz|format|filters|stale|number)$/.test(name))
    return undefined;
  if (!schema || schema.enum || type === 'boolean' || type === 'object' || schema.$ref) return undefined;
  if (schema.format === 'uuid') return ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
  if (/date/.test(schema.format ?? '') || /date|(from|to|after|before|since|until)$/i.test(name)) return [day(1), day(2)];
  if (type === 'integer' || type === 'number') return ['1', '2'];
  return type === 'string' ? ['anna', 'berta'] : undefined;
}

interface Asked {
  path: string;
  name: string;
  values: [string, string];
}

const asked: Asked[] = published.endpoints
  .filter(({ address, needs }) => address.startsWith('GET ') && !address.includes('{') && !needs.public && !needs.session)
  .flatMap(({ address }) =>
    (operationAt(address).parameters ?? []).flatMap((parameter) => {
      const [values, path] = [valuesOf(parameter), address.slice('GET '.length)];
      return values ? [{ path, name: parameter.name!, values }] : [];
    }),
  );

describe('requests of a list that differ in their values alone', () => {
  it('are there', () => {
    expect(asked.length).toBeGreaterThan(40);
  });

  it.each(asked)('share the text of their statements, which is prepared once: $path by $name', async ({ path, name, values }) => {
    const [one, other] = [await textsOf(`${path}?${name}=${values[0]}`), await textsOf(`${path}?${name}=${values[1]}`)];
    expect(other).toEqual(one);
  });
});
