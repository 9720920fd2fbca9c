import { keyed, lists, possibleTypes, type ScalarName, single, withoutId } from '../generated/client/cache.js';

/** The scalars as they come in JSON: `scalars` of a codegen configuration. */
export const scalars = {
  ...{ ID: 'string', DateTime: 'string', LocalDate: 'string', DateOrDateTime: 'string', Decimal: 'number' },
  ...{ JSON: 'unknown', JSONObject: 'Record<string, unknown>', String: 'string', Boolean: 'boolean', Int: 'number', Float: 'number' },
} as const satisfies Record<ScalarName, string>;

type PageInfo = { endCursor?: string | null; startCursor?: string | null; hasPreviousPage?: boolean; hasNextPage?: boolean };
type Page = { nodes?: readonly unknown[]; edges?: readonly { cursor?: string; node?: unknown }[]; pageInfo?: PageInfo };
/**
 * A list as it is kept: what the first page and those that follow it are together, which `cache.modify` may change, and each page by
 * the cursor that it comes after; the first by none.
 */
type Kept = Page & { pages: Readonly<Record<string, Page>> };
type Asked = { args: Record<string, unknown> | null; canRead: (record: never) => boolean };

type Known = Readonly<Record<string, unknown>>;

const placeOf = ({ args }: Asked) => String(args?.after ?? '');

/**
 * A page beside those that are there. Rows of the first page begin the list anew; what comes without rows adds to the page. What was
 * changed in the cache stands until rows come that are no more than the next ones.
 */
function merge(before: Kept | undefined, page: Page, asked: Asked): Kept {
  const place = placeOf(asked);
  const hasRows = Boolean(page.nodes ?? page.edges);
  const had = before?.pages?.[place];
  const known = hasRows ? figuresOf(had) : had;
  const pageInfo = (known?.pageInfo ?? page.pageInfo) && { pageInfo: { ...known?.pageInfo, ...page.pageInfo } };
  const now = { ...known, ...page, ...pageInfo };
  const pages = { ...(place === '' && hasRows ? {} : before?.pages), [place]: now };
  const isNext = before?.pages && !had && place !== '' && endOf(wholeOf(before.pages)) === place;
  const rows = hasRows ? isNext && rowsOf(joined(before, now)) : before && rowsOf(before);
  return { ...wholeOf(pages), ...rows, pages };
}

/**
 * The page after a cursor; without one the first page with all that follow each other from there. Nothing where it is not known. A
 * record that left the cache (`evict`) is in none: of edges Apollo would not know.
 */
function read(kept: Kept | undefined, asked: Asked): Page | undefined {
  const place = placeOf(asked);
  const page = kept?.pages?.[place] && (place === '' ? kept : kept.pages[place]);
  return page && { ...page, ...rowsOf(page, (record) => !record || asked.canRead(record as never)) };
}

/** The first page with all that follow each other from there. */
function wholeOf(pages: Kept['pages']): Page {
  let whole = pages[''] ?? {};
  const seen = new Set(['']);
  for (let next = endOf(whole); next && pages[next] && !seen.has(next); next = endOf(pages[next]!)) {
    seen.add(next);
    whole = joined(whole, pages[next]!);
  }
  return whole;
}

/** What says nothing of the rows of a page: other rows have other edges, and end elsewhere. */
const figuresOf = ({ nodes: _nodes, edges: _edges, pageInfo: _pageInfo, ...figures }: Page = {}): Page => figures;

const endOf = ({ pageInfo, edges }: Page) => pageInfo?.endCursor ?? edges?.at(-1)?.cursor;
const rowsOf = ({ nodes, edges }: Page, isThere: (record: unknown) => boolean = () => true): Page => ({
  ...(nodes && { nodes: nodes.filter(isThere) }),
  ...(edges && { edges: edges.filter(({ node }) => isThere(node)) }),
});

function joined(before: Page, page: Page): Page {
  const { endCursor: _end, hasNextPage: _next, ...start } = before.pageInfo ?? {};
  return {
    ...{ ...before, ...page },
    ...(before.nodes && { nodes: [...before.nodes, ...(page.nodes ?? [])] }),
    ...(before.edges && { edges: [...before.edges, ...(page.edges ?? [])] }),
    ...(page.pageInfo && { pageInfo: { ...page.pageInfo, ...start } }),
  };
}

/** A record without an id of its own is known by another's where that is selected; else it is kept where it stands. */
const keyOf = (type: string, { [keyed[type]!]: id }: Known) => (typeof id === 'string' ? `${type}:${id}` : undefined);

const policyOf = (type: string) => ({
  ...(single.includes(type) ? { keyFields: [] } : keyed[type] && { keyFields: (known: Known) => keyOf(type, known) }),
  fields: Object.fromEntries(Object.entries(lists[type] ?? {}).map(([name, keyArgs]) => [name, { keyArgs, merge, read }])),
});
const withPolicy = new Set([...Object.keys(lists), ...Object.keys(keyed), ...single]);

/**
 * How Apollo's InMemoryCache keeps what this server answers: `new InMemoryCache(apolloCache)`. Pages of a list that follow each
 * other are joined, where filter, sort and size (`first`) are the same; pages by number, and from the end, stand by themselves.
 * `cache.modify` is given a list as it is read without `after`, and changes that; `cache.evict` of a record takes it out of every list.
 */
export const apolloCache = { possibleTypes, typePolicies: Object.fromEntries([...withPolicy].map((type) => [type, policyOf(type)])) };

const urqlKeyOf = (type: string, known: Known) => (single.includes(type) ? 'own' : (keyOf(type, known) ?? null));

/** Which types urql's Graphcache need not look for an id in: `cacheExchange({ keys: urqlKeys })`. */
export const urqlKeys = Object.fromEntries(withoutId.map((type) => [type, (known: Known) => urqlKeyOf(type, known)]));
