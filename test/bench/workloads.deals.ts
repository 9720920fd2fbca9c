import { cardContact, cardFields, carried, dealFields, dealTimes, lineFields } from './ceiling.deals.sql.js';
import type { Call } from './load.js';
import type { Shape } from './shape.js';
import { patches } from './workloads.contacts.js';
import { asRestPage, bothCeilings, type Ground, get, graphql, type Workload } from './workloads.js';

const record = [...dealFields, ...dealTimes, 'appointmentMissed', `products { ${lineFields.join(' ').replace('id', 'id: lineId')} }`];
const relations = Object.entries(carried).map(([name, fields]) => `${name} { ${fields.join(' ')} }`);
const listDocument = `query { deals { nodes { ${[...record, ...relations].join(' ')} } totalCount pageInfo { hasNextPage endCursor } } }`;

const card = `${cardFields.join(' ')} contact { ${cardContact.join(' ')} }`;

/** The columns of a pipeline with their first 50 deals and totals; while nested lists are arrays, the totals stand beside them. */
const boardDocument = ({ hasNestedConnections }: Shape) =>
  hasNestedConnections
    ? `query ($id: ID!) { pipeline(id: $id) { id name stages { id name deals(first: 50) { totalCount nodes { ${card} } } } } }`
    : `query ($id: ID!) { pipeline(id: $id) { id name stages { id name deals(first: 50) { ${card} } }
        statistics { byStage { stageId dealCount } } } }`;

interface Column {
  id: string;
  name: string;
  deals: object[] | { totalCount: number; nodes: object[] };
}

interface Board {
  data: { pipeline: { id: string; name: string; stages: Column[]; statistics?: { byStage: { stageId: string; dealCount: number }[] } } };
}

/** The board as the ceiling shows it. */
function asBoard({ data: { pipeline } }: Board) {
  const { id, name, stages, statistics } = pipeline;
  const countOf = (stage: string) => statistics?.byStage.find(({ stageId }) => stageId === stage)?.dealCount;
  const columns = stages.map(({ deals, ...stage }) =>
    Array.isArray(deals) ? { ...stage, total: countOf(stage.id), deals } : { ...stage, total: deals.totalCount, deals: deals.nodes },
  );
  return { data: { id, name, stages: columns } };
}

/** What new deals refer to. */
async function newDeals({ client, filled }: Ground): Promise<Call[]> {
  const rows = async (sql: string) => (await client.query<{ id: string; pipeline: string }>(sql, [filled.accountId])).rows;
  const companies = await rows('select id from companies where account_id = $1 order by md5(id::text)');
  const users = await rows('select user_id as id from memberships where account_id = $1');
  const stages = await rows(
    'select id, pipeline_id as pipeline from stages where account_id = $1 and not is_won and not is_lost order by id',
  );
  return Array.from({ length: 5000 }, (_, i) => {
    const stage = stages[i % stages.length]!;
    const links = { companyId: companies[i % companies.length]!.id, assignedTo: users[i % users.length]!.id };
    const body = { title: `Licences ${i}`, pipelineId: stage.pipeline, stageId: stage.id, value: 1000 + (i % 500), ...links };
    return { method: 'POST', path: '/api/v1/deals', body };
  });
}

/** The workloads over the deals that are there: pages with what they lead to through both APIs, the board, the dashboard, writes. */
export async function dealWorkloads(ground: Ground): Promise<Workload[]> {
  const { client, filled, shape } = ground;
  const idsOf = async (sql: string) => (await client.query<{ id: string }>(sql, [filled.accountId])).rows.map(({ id }) => id);
  const pipelines = await idsOf('select id from pipelines where account_id = $1 and is_default');
  const deals = await idsOf('select id from deals where account_id = $1 order by md5(id::text) limit 5000');
  const list = [get(`/deals?include=${Object.keys(carried).join(',')}`)];
  return [
    { key: 'dashboard', title: 'dashboard on 20,000 deals', calls: [get('/dashboard')], yardsticks: [], statements: 8 },
    {
      key: 'deals',
      title: '50 deals with stage, contact, company, user',
      calls: list,
      yardsticks: bothCeilings(0.8, 0.8),
      statements: 2,
    },
    {
      key: 'graphqlDeals',
      title: 'GraphQL: 50 deals with four relations',
      calls: [graphql(listDocument)],
      yardsticks: bothCeilings(0.6, 0.75, list),
      comparable: asRestPage(),
      statements: 2,
    },
    {
      key: 'graphqlBoard',
      title: 'GraphQL: board of 6 × 50 deals with contact and totals',
      calls: pipelines.map((id) => graphql(boardDocument(shape), { id })),
      yardsticks: [{ name: 'kept total', side: 'kept', calls: pipelines.map((id) => get(`/board/${id}`)), target: { ratio: 0.7 } }],
      comparable: asBoard,
    },
    {
      key: 'createDeal',
      title: 'create a deal',
      calls: await newDeals(ground),
      yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.75, cpu: 2 } }],
      isWriting: true,
      differing: ['id', 'position', 'stageEnteredAt', 'createdAt', 'updatedAt'],
    },
    {
      key: 'patchDeal',
      title: 'PATCH two fields of a deal',
      calls: patches(deals, 'deals', (i) => ({ value: 1000 + i, priority: i % 2 ? 'high' : 'low' })),
      yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.7 } }],
      isWriting: true,
      differing: ['updatedAt'],
      statements: 2,
    },
  ];
}
