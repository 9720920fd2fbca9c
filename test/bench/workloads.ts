import type pg from 'pg';
import { carried, dealFields, dealTimes, lineFields } from './ceiling.deals.sql.js';
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
  /** The least share of the ceiling's requests per second, none where it has no such request; the most statements besides the key check. */
  target: { ratio?: number; statements?: number };
}

const get = (path: string): Call => ({ method: 'GET', path: `/api/v1${path}` });

const record = [...plainFields, ...timeFields, `attribution { ${attributionFields.join(' ')} }`, 'tags { id name }'].join(' ');
const document = `query { contacts { nodes { ${record} } totalCount pageInfo { hasNextPage endCursor } } }`;

interface Connection {
  data: Record<string, { nodes: object[]; totalCount: number; pageInfo: { hasNextPage: boolean; endCursor: string } }>;
}

const asRestPage = ({ data }: Connection) => {
  const { nodes, totalCount: total, pageInfo } = Object.values(data)[0]!;
  const next_cursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  return { data: { data: nodes, meta: { page: 1, per_page: 50, total, totalPages: Math.ceil(total / 50), next_cursor } } };
};

const dealRecord = [...dealFields, ...dealTimes, 'appointmentMissed', `products { ${lineFields.join(' ')} }`];
const relations = Object.entries(carried).map(([name, fields]) => `${name} { ${fields.join(' ')} }`);
const dealsDocument = `query { deals { nodes { ${[...dealRecord, ...relations].join(' ')} } totalCount pageInfo { hasNextPage endCursor } } }`;

/** The 50 newest deals with what they lead to, through both doors; a new deal for each company; the dashboard. */
async function dealWorkloads(client: pg.Client): Promise<Workload[]> {
  const rows = async (sql: string) => (await client.query<{ id: string; pipeline: string }>(sql)).rows;
  const [companies, users] = [
    await rows('select id from companies order by md5(id::text)'),
    await rows('select user_id as id from memberships'),
  ];
  const stages = await rows('select id, pipeline_id as pipeline from stages where not is_won and not is_lost order by id');
  const newDeal = (i: number): Call => {
    const stage = stages[i % stages.length]!;
    const links = { companyId: companies[i % companies.length]!.id, assignedTo: users[i % users.length]!.id };
    const body = { title: `Licences ${i}`, pipelineId: stage.pipeline, stageId: stage.id, value: 1000 + (i % 500), ...links };
    return { method: 'POST', path: '/api/v1/deals', body };
  };
  const list = [get(`/deals?include=${Object.keys(carried).join(',')}`)];
  return [
    // Before deals are made, which would be counted.
    { key: 'dashboard', title: 'dashboard on 20,000 deals', calls: [get('/dashboard')], target: { statements: 8 } },
    { key: 'deals', title: '50 deals with stage, contact, company, user', calls: list, target: { ratio: 0.8, statements: 2 } },
    {
      key: 'dealsGraphql',
      title: 'the same through GraphQL over HTTP',
      calls: list,
      serverCalls: [{ method: 'POST', path: '/graphql', body: { query: dealsDocument } }],
      comparable: asRestPage,
      target: { ratio: 0.6, statements: 2 },
    },
    {
      key: 'createDeal',
      title: 'create a deal with audit and outbox rows',
      calls: Array.from({ length: 5000 }, (_, i) => newDeal(i)),
      differing: ['id', 'position', 'stageEnteredAt', 'createdAt', 'updatedAt'],
      target: { ratio: 0.5 },
    },
  ];
}

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
    ...(await dealWorkloads(client)),
  ];
}
