import type pg from 'pg';
import { attributionFields, plainFields, timeFields } from './ceiling.sql.js';
import type { Call } from './load.js';
import { lastNames, tagNames } from './words.js';

/** What is measured, and what it is to reach. */
export interface Workload {
  key: string;
  title: string;
  /** Requests of the ceiling, and of the server where they differ. */
  calls: Call[];
  serverCalls?: Call[];
  /** The server's answer in the form of the ceiling's. */
  comparable?: (body: never) => unknown;
  /** Fields that differ from request to request. */
  differing?: string[];
  /** The least share of the ceiling's requests per second, and the most statements besides the key check. */
  target: { ratio: number; statements?: number };
}

const get = (path: string): Call => ({ method: 'GET', path: `/api/v1${path}` });

const record = [...plainFields, ...timeFields, `attribution { ${attributionFields.join(' ')} }`, 'tags { id name }'].join(' ');
const document = `query { contacts { nodes { ${record} } totalCount pageInfo { hasNextPage endCursor } } }`;

interface Connection {
  data: { contacts: { nodes: object[]; totalCount: number; pageInfo: { hasNextPage: boolean; endCursor: string } } };
}

const asRestPage = ({ data }: Connection) => {
  const { nodes, totalCount: total, pageInfo } = data.contacts;
  const next_cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  return { data: { data: nodes, meta: { page: 1, per_page: 50, total, totalPages: Math.ceil(total / 50), next_cursor } } };
};

/** A new contact, as a form or an import sends it. */
const newContact = (i: number): Call => ({
  method: 'POST',
  path: '/api/v1/contacts',
  body: {
    firstName: `Ada ${i}`,
    lastName: lastNames[i % lastNames.length],
    email: `ada.${i}@bench.example`,
    phone: `+1202555${String(1000 + (i % 9000))}`,
    company: 'Analytical Engines',
    jobTitle: 'Engineer',
    source: 'website',
    city: 'London',
    country: 'GB',
    customFields: { seats: i, plan: 'team' },
  },
});

/** Searches for a family name among the contacts of a tag, every name with every tag in a fixed shuffled order. */
function searches(): Call[] {
  const pairs = lastNames.flatMap((name) => tagNames.map((tag) => ({ name, tag })));
  const order = (i: number) => (i * 7919) % pairs.length;
  return pairs.slice(0, 3000).map((_, i) => {
    const { name, tag } = pairs[order(i)]!;
    return get(`/contacts?search=${encodeURIComponent(name.toLowerCase())}&tag=${encodeURIComponent(tag)}`);
  });
}

/** The workloads over the contacts that are there. */
export async function workloads(client: pg.Client): Promise<Workload[]> {
  const { rows } = await client.query<{ id: string }>('select id from contacts order by md5(id::text) limit 20000');
  const list = [get('/contacts')];
  return [
    {
      key: 'read',
      title: 'read one contact with tags',
      calls: rows.map(({ id }) => get(`/contacts/${id}`)),
      target: { ratio: 0.5, statements: 1 },
    },
    { key: 'list', title: 'list 50 newest, tags, exact total', calls: list, target: { ratio: 3, statements: 2 } },
    { key: 'search', title: 'search term + tag', calls: searches(), target: { ratio: 0.8 } },
    {
      key: 'graphql',
      title: 'the list through GraphQL over HTTP',
      calls: list,
      serverCalls: [{ method: 'POST', path: '/graphql', body: { query: document } }],
      comparable: asRestPage,
      target: { ratio: 1.5 },
    },
    { key: 'deep', title: 'page 1,000 of the list', calls: [get('/contacts?page=1000')], target: { ratio: 1.5, statements: 2 } },
    {
      key: 'create',
      title: 'create with audit and outbox rows',
      calls: Array.from({ length: 5000 }, (_, i) => newContact(i)),
      differing: ['id', 'createdAt', 'updatedAt'],
      target: { ratio: 0.6, statements: 3 },
    },
  ];
}
