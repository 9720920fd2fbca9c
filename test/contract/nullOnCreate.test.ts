import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { contract } from '../../src/app.js';
import type { Endpoint } from '../../src/kernel/module/routes.js';
import { type Account, type Loose, server, type TestServer } from '../support/index.js';
import { pathOf, sampleOf } from './samples.js';

let api: TestServer;
let silent: Account;
let outspoken: Account;
beforeAll(async () => {
  api = await server();
  [silent, outspoken] = [await api.seed.account(), await api.seed.account()];
});
afterAll(() => api.close());

type Body = Record<string, unknown>;

/** The same body, and null for all that it leaves out and the schema lets be null, inside of its objects too. */
function withNulls(input: GraphQLInputObjectType, body: Body): Body {
  const whole: Body = {};
  for (const { name, type } of Object.values(input.getFields())) {
    if (body[name] !== undefined) whole[name] = inside(getNullableType(type), body[name]);
    else if (!isNonNullType(type)) whole[name] = null;
  }
  return { ...body, ...whole };
}

function inside(type: GraphQLInputType, value: unknown): unknown {
  if (value === null) return null;
  if (isListType(type)) return (value as unknown[]).map((item) => inside(getNullableType(type.ofType as GraphQLInputType), item));
  return isInputObjectType(type) ? withNulls(type, value as Body) : value;
}

/** A body under the operation's names. */
const inOwnNames = ({ body: names = {} }: Endpoint, body: Body = {}): Body =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [names[name] ?? name, value]));

const varying =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|svc_\w+|whsec_[\w+/=]+|\d{13}|(?:owner|member|admin)\d+|SM[0-9a-f]{32}|\+141555501\d\d/g;
const alike = (reply: Loose) => reply.text.replace(varying, '…');

const makes = contract().endpoints.flatMap((bound) => {
  const input = bound.field?.args.find((arg) => arg.name === 'input');
  const isMaking = bound.endpoint.method === 'POST' && (bound.endpoint.status === 201 || bound.endpoint.statusWhen);
  return input && isMaking ? [[bound.address, bound.endpoint, getNamedType(input.type) as GraphQLInputObjectType] as const] : [];
});

describe.each(makes)('%s', (address, endpoint, input) => {
  it('takes null as if nothing were said', async () => {
    const [left, right] = [await sampleOf(address, silent), await sampleOf(address, outspoken)];
    const send = (account: Account, sample: Loose, body: Body) => (sample.as ?? account.owner).post(pathOf(endpoint.path, sample), body);
    const said = await send(silent, left, left.body ?? {});
    const nulled = await send(outspoken, right, withNulls(input, inOwnNames(endpoint, right.body)));
    if (nulled.status !== said.status) throw new Error(nulled.text);
    expect(alike(nulled)).toEqual(alike(said));
  });
});
