import { lists, possibleTypes, type ScalarName, withoutId } from '../generated/client/cache.js';

/** The scalars as they come in JSON: `scalars` of a codegen configuration. */
export const scalars = {
  ...{ ID: 'string', DateTime: 'string', LocalDate: 'string', DateOrDateTime: 'string', Decimal: 'number' },
  ...{ JSON: 'unknown', JSONObject: 'Record<string, unknown>', String: 'string', Boolean: 'boolean', Int: 'number', Float: 'number' },
} as const satisfies Record<ScalarName, string>;

interface Paged {
  nodes?: readonly unknown[];
  edges?: readonly unknown[];
}

/** The next page of a list behind those that are there; a list that is asked for from its beginning begins anew. */
function merge(before: Paged | undefined, page: Paged, { args }: { args: Record<string, unknown> | null }): Paged {
  if (!before || !args?.after) return page;
  const joined = (name: keyof Paged) => page[name] && { [name]: [...(before[name] ?? []), ...page[name]] };
  return { ...before, ...page, ...joined('nodes'), ...joined('edges') };
}

/** How Apollo's InMemoryCache keeps what this server answers: `new InMemoryCache(apolloCache)`. Pages of a list are joined, by its filters and sort. */
export const apolloCache = {
  possibleTypes: Object.fromEntries(Object.entries(possibleTypes).map(([name, types]) => [name, [...types]])),
  typePolicies: Object.fromEntries(
    Object.entries(lists).map(([type, fields]) => [
      type,
      { fields: Object.fromEntries(Object.entries(fields).map(([name, args]) => [name, { keyArgs: [...args] as string[], merge }])) },
    ]),
  ),
};

/** Which types urql's Graphcache need not look for an id in: `cacheExchange({ keys: urqlKeys })`. */
export const urqlKeys = Object.fromEntries(withoutId.map((name) => [name, () => null]));
