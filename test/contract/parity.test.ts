import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isLeafType,
  isListType,
  print,
} from 'graphql';
import { v4 } from 'uuid';
import { pathArguments } from '../../src/kernel/module/routes.js';
import { ofRest } from '../../src/rest/body.js';
import type { BoundEndpoint } from '../../src/rest/endpoints.js';
import { adaptInput, adaptQuery, withFixed } from '../../src/rest/query.js';
import { type Account, type Client, type GraphQLReply, type Loose, type Reply, server, type TestServer } from '../support/index.js';
import { published } from './published.js';
import { pathOf, type Sample, sampleOf } from './samples.js';

let running: TestServer;
/** Two accounts that get the same data in the same order: one is called through REST, the other through GraphQL. */
let left: Account;
let right: Account;
/** For what is refused, so that the other two stay alike. */
let spare: Account;
let keys: Map<Account, Client>;

beforeAll(async () => {
  running = await server();
  left = await running.seed.account({ name: 'Same' });
  right = await running.seed.account({ name: 'Same' });
  spare = await running.seed.account({ name: 'Same' });
  keys = new Map([
    [spare, await spare.key()],
    [left, await left.key()],
    [right, await right.key()],
  ]);
});
afterAll(() => running.close());

const caller = ({ needs }: BoundEndpoint, account: Account, sample: Sample) =>
  sample.as ?? (needs.public ? running.anybody() : needs.session ? account.owner : keys.get(account)!);

const overRest = ({ endpoint }: BoundEndpoint, client: Client, sample: Sample) =>
  client.send(endpoint.method, pathOf(endpoint.path, sample), endpoint.method === 'GET' ? undefined : sample.body);

/** The endpoint's own document with the same arguments. */
function overGraphQL({ endpoint, document, targets, field }: BoundEndpoint, client: Client, { params, query, body }: Sample) {
  const listed = endpoint.list ? withFixed(endpoint, adaptQuery(targets, Object.fromEntries(new URLSearchParams(query))).variables) : {};
  const asked = endpoint.inputByQuery ? adaptInput(targets, Object.fromEntries(new URLSearchParams(query))).input : {};
  const input = field?.args.some((a) => a.name === 'input') ? { input: { ...asked, ...inOwnNames(endpoint.body, body ?? {}) } } : {};
  return client.gql(print(document!), { ...listed, ...pathArguments(endpoint, params ?? {}), ...input });
}

const inOwnNames = (aliases: Record<string, string> = {}, body: object) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [aliases[name] ?? name, value]));

/** What REST answered, in the shape of the operation's result. */
function unwrapped({ endpoint }: BoundEndpoint, { body }: Reply): Loose {
  const { data, ...beside } = body;
  if (endpoint.as === 'page') return { nodes: data.data, totalCount: data.meta.total };
  if (endpoint.as === 'flatPage' || endpoint.as === 'camelPage') return { nodes: data, totalCount: body.meta.total };
  return endpoint.as === 'beside' ? { [endpoint.data!]: data, ...beside } : data;
}

function resultOf({ endpoint, connections }: BoundEndpoint, { data, errors }: GraphQLReply): Loose {
  if (errors) throw new Error(JSON.stringify(errors));
  const result = data[endpoint.operation!];
  if (endpoint.spread) {
    const { [endpoint.spread]: inner, ...besides } = result;
    return { ...inner, ...besides };
  }
  if (endpoint.as === 'bare' && result.nodes) return result.nodes;
  // The page of others that a record carries along is a list in REST.
  for (const name of connections) result[name] = result[name].nodes;
  return result.nodes && result.pageInfo ? { nodes: result.nodes, totalCount: result.totalCount } : result;
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const time = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
const random =
  /(?<=simulator\?page=)[\w.-]+|(?<=\/calendars\/)[\w-]+(?=\.ics)|\d{4}-\d\d-\d\dT[\d:.]+Z|svc_\w+|whsec_[\w+/=]+|\b(?:[0-9a-f]{4}-){3}[0-9a-f]{4}\b|[A-Z2-7]{32}|^[\w-]{43}$|SM[0-9a-f]{32}|(?<=\+141555501)\d\d|(?<=line )\d+/g;
const person = /\b(?:owner|member|admin)\d+(?=%40|@)/g;
/** A number of the simulator of lines, whose accounts are the workspaces'. */
const line = /^\+1628\d{7}$/;

/** The same with everything that differs between two accounts, or two moments, replaced by its kind. */
function normal(value: unknown): unknown {
  if (typeof value === 'string') {
    return time.test(value)
      ? '<time>'
      : value.replace(uuid, '<id>').replace(random, '<random>').replace(person, '<person>').replace(line, '<number>');
  }
  if (Array.isArray(value)) return value.map(normal);
  // A moment in milliseconds, as a deal's place on the board.
  if (typeof value === 'number' && value > 1e12) return '<moment>';
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, ['responseTime', 'durationMs'].includes(name) ? '<ms>' : normal(member)]),
  );
}

interface Fault {
  code: string;
  status: number;
  field?: string;
  message: string;
}

/** What REST says is wrong, but for the status that its endpoint alone gives invalid input (422 where GraphQL says 400). */
function restFault({ endpoint }: BoundEndpoint, { status, body }: Reply): Fault {
  const mild = endpoint.invalid === 422 && body.code === 'validation_failed';
  const field = body.details?.[0]?.field;
  return { code: mild ? 'invalid_request' : body.code, status: mild ? 400 : status, ...(field && { field }), message: body.error };
}

function graphqlFault({ errors }: GraphQLReply): Fault {
  const { message, extensions } = errors?.[0] ?? { message: 'no error at all', extensions: {} };
  const { code, status, field } = extensions;
  return { code, status, ...(field && { field }), message };
}

const operations = published.endpoints.filter(({ endpoint }) => endpoint.operation);

describe.each(operations.map((bound) => [bound.address, bound] as const))('%s', (address, bound) => {
  it('answers the same record through both APIs', async () => {
    const [ours, theirs] = [await sampleOf(address, left), await sampleOf(address, right)];
    const rest = await overRest(bound, caller(bound, left, ours), ours);
    if (rest.status >= 300) throw new Error(rest.text);
    const graphql = await overGraphQL(bound, caller(bound, right, theirs), theirs);
    expect(normal(unwrapped(bound, rest))).toEqual(normal(resultOf(bound, graphql)));
  });

  if (!bound.needs.public) {
    it('refuses a stranger in the same words', async () => {
      const sample = { params: paramsOf(bound), body: {} };
      const graphql = await overGraphQL(bound, running.anybody(), sample);
      expect(graphql.status).toBe(401);
      expect(restFault(bound, await overRest(bound, running.anybody(), sample))).toEqual(graphqlFault(graphql));
    });
  }

  if (bound.endpoint.path.includes('{')) {
    it('misses an unknown record in the same words', async () => {
      const sample = { ...(await sampleOf(address, spare)), params: paramsOf(bound) };
      const client = caller(bound, spare, sample);
      const fault = restFault(bound, await overRest(bound, client, sample));
      expect(fault).toMatchObject({ status: 404 });
      expect(graphqlFault(await overGraphQL(bound, client, sample))).toEqual(fault);
    });
  }

  // What is asked for by GET comes in the query string, which knows texts alone.
  const wrong = bound.endpoint.method === 'GET' ? [] : wrongBodies(bound);
  if (wrong.length > 0) {
    it('finds the same fault in the same field', async () => {
      const sample = await sampleOf(address, spare);
      const client = caller(bound, spare, sample);
      for (const [name, value] of wrong) {
        const bad = { ...sample, body: { ...inOwnNames(bound.endpoint.body, sample.body ?? {}), [name]: value } };
        const fault = restFault(bound, await overRest(bound, client, bad));
        expect(fault).toMatchObject({ status: 400, code: 'invalid_request' });
        expect(fault.field?.split('.')[0]).toBe(name);
        expect(graphqlFault(await overGraphQL(bound, client, bad))).toEqual(fault);
      }
    });
  }
});

const paramsOf = ({ endpoint }: BoundEndpoint) =>
  Object.fromEntries([...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name!, v4()]));

function takesObjects(type: GraphQLNamedType): boolean {
  return isInputObjectType(type) || type.name.startsWith('JSONObject');
}

/** For each member of the body a value that cannot be one. */
function wrongBodies({ endpoint, field }: BoundEndpoint): [string, unknown][] {
  const arg = field?.args.find((a) => a.name === 'input');
  if (!arg || endpoint.forgiving) return [];
  const members = Object.values((getNamedType(arg.type) as GraphQLInputObjectType).getFields()).filter(ofRest);
  return members.flatMap((member): [string, unknown][] => {
    const type = getNullableType(member.type);
    // Members that an input does not know are no fault through REST.
    if (isListType(type)) return [[member.name, [takesObjects(getNamedType(type)) ? 'no object' : { not: 'an item' }]]];
    if (isInputObjectType(type) || getNamedType(type).name.startsWith('JSONObject')) return [[member.name, 'not an object']];
    return isLeafType(type) && type.name !== 'JSON' ? [[member.name, { not: 'a value' }]] : [];
  });
}
