import { describe, expect, it } from '@jest/globals';
import { buildSchema, type GraphQLField } from 'graphql';
import type { AppError } from '../../src/kernel/base/errors.js';
import { list } from '../../src/kernel/module/routes.js';
import { adaptQuery, queryTargets } from '../../src/rest/query.js';

const schema = buildSchema(`
  enum Sort { createdAt name }
  scalar JSONObject
  input Filter { search: String assignedTo: ID tags: [String!] minScore: Int ratio: Float isOn: Boolean view: Sort cf: JSONObject }
  type Query { things(filter: Filter, sort: Sort, first: Int, after: ID, page: Int, perPage: Int): String }
`);
const field = schema.getQueryType()!.getFields().things as GraphQLField<unknown, unknown>;
const endpoint = list('GET /things', 'things', { as: 'page', query: { owner: 'filter.assignedTo', stageId: 'filter.search' } });
const targets = queryTargets(field, endpoint, 'GET /things');

const adapted = (query: Record<string, unknown>) => adaptQuery(targets, query).variables;
const filterOf = (query: Record<string, unknown>) => adapted(query).filter;
const faults = (query: Record<string, unknown>) => {
  try {
    adaptQuery(targets, query);
    return [];
  } catch (error) {
    return (error as AppError).details!.map((detail) => detail.field);
  }
};

describe('a query string', () => {
  it('names filter fields in snake_case, in camelCase, or by an alias of the endpoint', () => {
    for (const name of ['assigned_to', 'assignedTo', 'owner']) expect(filterOf({ [name]: 'x' })).toEqual({ assignedTo: 'x' });
  });

  it('becomes values of the arguments’ types', () => {
    expect(filterOf({ min_score: '5', ratio: '-0.5', is_on: 'TRUE', view: 'name', tags: 'a, b,,c ', search: ' x ' })).toEqual({
      ...{ minScore: 5, ratio: -0.5, isOn: true, view: 'name', tags: ['a', 'b', 'c'], search: 'x' },
    });
    expect(filterOf({ 'cf[a]': '1', 'cf[b]': 'x' })).toEqual({ cf: { a: '1', b: 'x' } });
    expect(filterOf({ cf: '{"a":1}' })).toEqual({ cf: { a: 1 } });
  });

  it('leaves out what is empty or unknown', () => {
    expect(adapted({ search: '', nothing: 'x', 'nothing[a]': 'x' })).toEqual({
      filter: {},
      page: undefined,
      perPage: undefined,
      after: undefined,
    });
  });

  it('cuts per_page to 200 and limit to 100; per_page wins', () => {
    expect(adapted({ per_page: '500' }).perPage).toBe(200);
    expect(adapted({ limit: '500' }).perPage).toBe(100);
    expect(adapted({ limit: '10', per_page: '20' }).perPage).toBe(20);
  });

  it('is refused with every parameter at fault', () => {
    const query = {
      page: '0',
      limit: 'x',
      min_score: '1.5',
      ratio: '1e5',
      is_on: 'yes',
      sort: 'password',
      view: 'x',
      cf: '[]',
      search: ['a', 'b'],
    };
    expect(faults(query).sort()).toEqual(Object.keys(query).sort());
    expect(faults({ page: '2', cursor: 'abc' })).toEqual(['page']);
  });

  it('cannot reach a prototype', () => {
    const prototype: unknown = Object.getPrototypeOf(adapted({}).filter);
    const before = Object.getOwnPropertyNames(prototype).length;
    const variables = adapted(JSON.parse('{"__proto__":"x","cf[__proto__]":"x","constructor":"x","cf[constructor]":"y"}'));
    expect(Object.getPrototypeOf(variables.filter)).toBe(prototype);
    expect(Object.getOwnPropertyNames(prototype)).toHaveLength(before);
    expect(JSON.stringify(variables.filter)).toBe('{"cf":{"__proto__":"x","constructor":"y"}}');
  });
});

it('an alias that matches no argument fails the boot', () => {
  const wrong = list('GET /things', 'things', { as: 'page', query: { owner: 'filter.nobody' } });
  expect(() => queryTargets(field, wrong, 'GET /things')).toThrow(/alias owner matches no argument/);
});
