import { lists, possibleTypes, type ScalarName, withoutId } from '../generated/client/cache.js';

/** The scalars as they come in JSON: `scalars` of a codegen configuration. */
export const scalars = {
  ...{ ID: 'string', DateTime: 'string', LocalDate: 'string', DateOrDateTime: 'string', Decimal: 'number' },
  ...{ JSON: 'unknown', JSONObject: 'Record<string, unknown>', String: 'string', Boolean: 'boolean', Int: 'number', Float: 'number' },
} as const satisfies Record<ScalarName, string>;

interface Page {
  nodes?: readonly unknown[];
  edges?: readonly { cursor?: string }[];
  pageInfo?: { endCursor?: string | null; startCursor?: string | null; hasPreviousPage?: boolean };
}
/** The pages of a list, each by the cursor that it comes after; the first by none. */
type Pages = Record<string, Page>;
type Asked = { args: Record<string, unknown> | null };

interface Policy {
  keyFields?: (known: Known) => string | undefined;
  fields?: Record<string, { keyArgs: string[]; merge: typeof merge; read: typeof read }>;
}

const placeOf = ({ args }: Asked) => String(args?.after ?? '');

/** A page beside those that are there. Rows of the first page begin the list anew; what comes without rows adds to the page. */
function merge(before: Pages | undefined, page: Page, asked: Asked): Pages {
  const place = placeOf(asked);
  const known = before?.[place];
  const pageInfo = (known?.pageInfo ?? page.pageInfo) && { pageInfo: { ...known?.pageInfo, ...page.pageInfo } };
  return { ...(place === '' && (page.nodes ?? page.edges) ? {} : before), [place]: { ...known, ...page, ...pageInfo } };
}

/** The page after a cursor; without one the first page with all that follow each other from there. Nothing where it is not known. */
function read(pages: Pages | undefined, asked: Asked): Page | undefined {
  const place = placeOf(asked);
  let whole = pages?.[place];
  if (!pages || !whole || place !== '') return whole;
  const seen = new Set(['']);
  for (let next = endOf(whole); next && pages[next] && !seen.has(next); next = endOf(pages[next]!)) {
    seen.add(next);
    whole = joined(whole, pages[next]!);
  }
  return whole;
}

const endOf = ({ pageInfo, edges }: Page) => pageInfo?.endCursor ?? edges?.at(-1)?.cursor;

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

type Known = Readonly<Record<string, unknown>>;

/** A conversation is known by its contact where that is selected; else it is kept where it stands. */
const conversationKey = ({ contactId }: Known) => (typeof contactId === 'string' ? `Conversation:${contactId}` : null);

const policyOf = (type: string, fields: Readonly<Record<string, readonly string[]>>): Policy => ({
  ...(type === 'Conversation' && { keyFields: (known: Known) => conversationKey(known) ?? undefined }),
  fields: Object.fromEntries(Object.entries(fields).map(([name, args]) => [name, { keyArgs: [...args], merge, read }])),
});

/**
 * How Apollo's InMemoryCache keeps what this server answers: `new InMemoryCache(apolloCache)`. Pages of a list that follow each
 * other are joined, where filter, sort and size (`first`) are the same; pages by number, and from the end, stand by themselves.
 */
export const apolloCache = {
  possibleTypes: Object.fromEntries(Object.entries(possibleTypes).map(([name, types]) => [name, [...types]])),
  typePolicies: Object.fromEntries(Object.entries(lists).map(([type, fields]) => [type, policyOf(type, fields)])),
};

/** Which types urql's Graphcache need not look for an id in: `cacheExchange({ keys: urqlKeys })`. */
export const urqlKeys: Record<string, (known: Known) => string | null> = {
  ...Object.fromEntries(withoutId.map((name) => [name, () => null])),
  Conversation: conversationKey,
};
