import { keyed, lists, possibleTypes, type ScalarName, single, withoutId } from '../generated/client/cache.js';

/** The scalars as they come in JSON: `scalars` of a codegen configuration. */
export const scalars = {
  ...{ ID: 'string', DateTime: 'string', LocalDate: 'string', DateOrDateTime: 'string', Decimal: 'number' },
  ...{ JSON: 'unknown', JSONObject: 'Record<string, unknown>', String: 'string', Boolean: 'boolean', Int: 'number', Float: 'number' },
} as const satisfies Record<ScalarName, string>;

type Row = { cursor?: string; node?: unknown };
interface Page {
  nodes?: readonly unknown[];
  edges?: readonly Row[];
  pageInfo?: { endCursor?: string | null; startCursor?: string | null; hasPreviousPage?: boolean };
}
/** The pages of a list, each by the cursor that it comes after; the first by none. */
type Pages = Readonly<Record<string, Page>>;
/** A list as it is kept: what the first page and those that follow it are together, which `cache.modify` may change, and each of them. */
interface Kept extends Page {
  pages: Pages;
}
interface Asked {
  args: Record<string, unknown> | null;
  canRead: (record: never) => boolean;
}

type Known = Readonly<Record<string, unknown>>;
type Key = (known: Known) => string | undefined;

interface Policy {
  keyFields?: Key | string[];
  fields?: Record<string, { keyArgs: string[]; merge: typeof merge; read: typeof read }>;
}

const placeOf = ({ args }: Asked) => String(args?.after ?? '');
const hasRows = (page: Page) => Boolean(page.nodes ?? page.edges);

/**
 * A page beside those that are there. Rows of the first page begin the list anew; what comes without rows adds to the page. What was
 * changed in the cache stands until rows come that are no more than the next ones.
 */
function merge(before: Kept | undefined, page: Page, asked: Asked): Kept {
  const place = placeOf(asked);
  const known = before?.pages?.[place];
  const pageInfo = (known?.pageInfo ?? page.pageInfo) && { pageInfo: { ...known?.pageInfo, ...page.pageInfo } };
  const now = { ...known, ...page, ...pageInfo };
  const pages = { ...(place === '' && hasRows(page) ? {} : before?.pages), [place]: now };
  const all = wholeOf(pages);
  if (!before?.pages || !hasRows(before)) return { ...all, pages };
  if (!hasRows(page)) return { ...all, ...rowsOf(before), pages };
  const isNext = place !== '' && !known && endOf(wholeOf(before.pages)) === place;
  return { ...all, ...(isNext && rowsOf(joined(before, now))), pages };
}

/** The page after a cursor; without one the first page with all that follow each other from there. Nothing where it is not known. */
function read(kept: Kept | undefined, asked: Asked): Page | undefined {
  const place = placeOf(asked);
  const page = kept?.pages?.[place];
  if (!kept || !page) return undefined;
  const { pages: _pages, ...shown } = place === '' ? kept : { ...page, pages: kept.pages };
  // A record that left the cache (`evict`) is in no list; of edges Apollo would not know.
  const isThere = (record: unknown) => !record || asked.canRead(record as never);
  return {
    ...shown,
    ...(shown.nodes && { nodes: shown.nodes.filter(isThere) }),
    ...(shown.edges && { edges: shown.edges.filter(({ node }) => isThere(node)) }),
  };
}

/** The first page with all that follow each other from there. */
function wholeOf(pages: Pages): Page {
  let whole = pages[''] ?? {};
  const seen = new Set(['']);
  for (let next = endOf(whole); next && pages[next] && !seen.has(next); next = endOf(pages[next]!)) {
    seen.add(next);
    whole = joined(whole, pages[next]!);
  }
  return whole;
}

const endOf = ({ pageInfo, edges }: Page) => pageInfo?.endCursor ?? edges?.at(-1)?.cursor;
const rowsOf = ({ nodes, edges }: Page): Page => ({ ...(nodes && { nodes }), ...(edges && { edges }) });

function joined(before: Page, page: Page): Page {
  const { startCursor, hasPreviousPage } = before.pageInfo ?? {};
  const start = { ...(startCursor !== undefined && { startCursor }), ...(hasPreviousPage !== undefined && { hasPreviousPage }) };
  return {
    ...{ ...before, ...page },
    ...(before.nodes && { nodes: [...before.nodes, ...(page.nodes ?? [])] }),
    ...(before.edges && { edges: [...before.edges, ...(page.edges ?? [])] }),
    ...(page.pageInfo && { pageInfo: { ...page.pageInfo, ...start } }),
  };
}

/** A record without an id of its own is known by another's where that is selected; else it is kept where it stands. */
const keyBy =
  (type: string, field: string): Key =>
  ({ [field]: id }) =>
    typeof id === 'string' ? `${type}:${id}` : undefined;
const keys = Object.entries(keyed).map(([type, field]) => [type, keyBy(type, field)] as const);

const listsOf = (fields: Readonly<Record<string, readonly string[]>>): Policy => ({
  fields: Object.fromEntries(Object.entries(fields).map(([name, args]) => [name, { keyArgs: [...args], merge, read }])),
});

const policies = new Map<string, Policy>(Object.entries(lists).map(([type, fields]) => [type, listsOf(fields)]));
for (const [type, keyFields] of keys) policies.set(type, { ...policies.get(type), keyFields });
for (const type of single) policies.set(type, { ...policies.get(type), keyFields: [] });

/**
 * How Apollo's InMemoryCache keeps what this server answers: `new InMemoryCache(apolloCache)`. Pages of a list that follow each
 * other are joined, where filter, sort and size (`first`) are the same; pages by number, and from the end, stand by themselves.
 * `cache.modify` is given a list as it is read without `after`, and changes that; `cache.evict` of a record takes it out of every list.
 */
export const apolloCache = {
  possibleTypes: Object.fromEntries(Object.entries(possibleTypes).map(([name, types]) => [name, [...types]])),
  typePolicies: Object.fromEntries(policies),
};

/** Which types urql's Graphcache need not look for an id in: `cacheExchange({ keys: urqlKeys })`. */
export const urqlKeys: Record<string, (known: Known) => string | null> = {
  ...Object.fromEntries(withoutId.map((name) => [name, () => null])),
  ...Object.fromEntries(single.map((name) => [name, () => 'own'])),
  ...Object.fromEntries(keys.map(([name, key]) => [name, (known: Known) => key(known) ?? null])),
};
