import { attributionFields, plainFields, timeFields } from './ceiling.sql.js';
import type { Call } from './load.js';
import { lastNames, tagNames } from './words.js';
import { asRestPage, bothCeilings, type Ground, get, graphql, type Workload } from './workloads.js';

const record = [...plainFields, ...timeFields, `attribution { ${attributionFields.join(' ')} }`, 'tags { id name }'].join(' ');
const page = `nodes { ${record} } totalCount pageInfo { hasNextPage endCursor }`;
const oneDocument = `query ($id: ID!) { contact(id: $id) { ${record} } }`;

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

/**
 * Changes of 4,999 records in turn, four times over. No request says what one of a record's others says, and the number of
 * records is odd, so that what alternates alternates for each record too.
 */
export function patches(ids: string[], path: string, body: (i: number) => object): Call[] {
  const records = ids.slice(0, 4999);
  const call = (i: number): Call => ({ method: 'PATCH', path: `/api/v1/${path}/${records[i % records.length]}`, body: body(i) });
  return Array.from({ length: records.length * 4 }, (_, i) => call(i));
}

const lists = (ids: string[]): Workload[] => [
  {
    key: 'read',
    title: 'read one contact with tags',
    calls: ids.map((id) => get(`/contacts/${id}`)),
    yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.8 } }],
    statements: 1,
  },
  {
    key: 'list',
    title: 'list 50 newest, tags, exact total',
    calls: [get('/contacts')],
    yardsticks: bothCeilings(3, 0.9),
    statements: 2,
  },
  {
    key: 'search',
    title: 'search term + tag',
    calls: searches(),
    yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.8 } }],
  },
  {
    key: 'deep',
    title: 'page 1,000 of the list',
    calls: [get('/contacts?page=1000')],
    yardsticks: bothCeilings(1.5, 0.9),
    statements: 2,
  },
];

const overGraphql = (ids: string[]): Workload[] => [
  {
    key: 'graphqlRead',
    title: 'GraphQL: one contact',
    calls: ids.map((id) => graphql(oneDocument, { id })),
    yardsticks: [{ name: 'ceiling', side: 'ceiling', calls: ids.map((id) => get(`/contacts/${id}`)), target: { ratio: 0.6 } }],
    comparable: ({ data }: { data: { contact: object } }) => ({ data: data.contact }),
    statements: 1,
  },
  {
    key: 'graphqlList',
    title: 'GraphQL: list of 50',
    calls: [graphql(`query { contacts { ${page} } }`)],
    yardsticks: bothCeilings(1.5, 0.75, [get('/contacts')]),
    comparable: asRestPage(),
    statements: 1,
  },
  {
    key: 'graphqlDeep',
    title: 'GraphQL: page 1,000',
    calls: [graphql(`query { contacts(page: 1000) { ${page} } }`)],
    yardsticks: bothCeilings(1.5, 0.8, [get('/contacts?page=1000')]).slice(1),
    comparable: asRestPage(1000),
    statements: 1,
  },
];

const writes = (ids: string[], otherKeys: string[]): Workload[] => {
  const creates = Array.from({ length: 5000 }, (_, i) => newContact(i));
  const made = { isWriting: true, differing: ['id', 'createdAt', 'updatedAt'], statements: 3 };
  return [
    {
      key: 'create',
      title: 'create a contact',
      calls: creates,
      yardsticks: [
        { name: 'ceiling', side: 'ceiling', target: { ratio: 0.75, cpu: 2 } },
        {
          name: 'bare inserts',
          side: 'ceiling',
          calls: creates.map((call) => ({ ...call, path: '/api/v1/bare/contacts' })),
          hasOtherAnswers: true,
          target: { ratio: 0.55 },
        },
      ],
      ...made,
    },
    {
      key: 'createSpread',
      title: 'create contacts, 100 accounts',
      calls: creates.map((call, i) => ({ ...call, key: otherKeys[i % otherKeys.length] })),
      yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.75, cpu: 2 } }],
      ...made,
    },
    {
      key: 'patchContact',
      title: 'PATCH two fields of a contact',
      calls: patches(ids, 'contacts', (i) => ({ jobTitle: `Engineer ${i}`, city: i % 2 ? 'London' : 'Paris' })),
      yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.7 } }],
      isWriting: true,
      differing: ['updatedAt'],
      statements: 2,
    },
  ];
};

/** The workloads over the contacts that are there. */
export async function contactWorkloads({ client, filled }: Ground): Promise<Workload[]> {
  const { rows } = await client.query<{ id: string }>('select id from contacts where account_id = $1 order by md5(id::text) limit 20000', [
    filled.accountId,
  ]);
  const ids = rows.map(({ id }) => id);
  return [...lists(ids), ...overGraphql(ids), ...writes(ids, filled.otherKeys)];
}
