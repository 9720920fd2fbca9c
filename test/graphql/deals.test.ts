import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectGraphQLRefusal, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let pipeline: Loose;
let company: Loose;
let contact: Loose;
let deals: Loose[];
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
  pipeline = await acme.pipeline();
  company = await acme.company({ name: 'Acme' });
  contact = await acme.contact({ firstName: 'Ada', companyId: company.id });
  deals = [];
  for (let i = 0; i < 6; i++) {
    const links = { contactId: contact.id, companyId: company.id, assignedTo: acme.ownerId };
    const deal = await acme.deal({
      pipeline,
      title: `Deal ${i}`,
      stageId: pipeline.stages[i % 2].id,
      products: [{ name: 'a', unitPrice: i }],
      ...links,
    });
    deals.push(deal);
    await acme.task({ title: `Task ${i}`, dealId: deal.id });
    dataOf(await acme.owner.post('/notes', { body: `Note ${i}`, dealId: deal.id }));
    await acme.invoice({ dealId: deal.id, companyId: company.id, contactId: contact.id });
    api.clock.advance(1);
  }
});
afterAll(() => api.close());

const ask = async (query: string, variables?: Record<string, unknown>) => {
  const { data, errors } = await acme.owner.gql(query, variables);
  expect(errors).toBeUndefined();
  return data;
};

describe('deals in the graph', () => {
  it('lead to what they are about in the list’s own statement', async () => {
    const document = `query ($first: Int) { deals(first: $first, sort: createdAt, order: asc) { totalCount
      nodes { title products { name unitPrice } pipeline { name } stage { name } contact { firstName } company { name } assignedUser { email } } } }`;
    const { deals: page } = await ask(document, { first: 6 });
    expect(page.totalCount).toBe(6);
    expect(page.nodes[1]).toEqual({
      title: 'Deal 1',
      products: [{ name: 'a', unitPrice: 1 }],
      pipeline: { name: pipeline.name },
      stage: { name: 'Talking' },
      contact: { firstName: 'Ada' },
      company: { name: 'Acme' },
      assignedUser: { email: acme.ownerEmail },
    });
    expect(await api.statements(() => ask(document, { first: 6 }))).toBe(1);
  });

  it('have tasks, notes, invoices and a log, all in one statement', async () => {
    const document = `query ($first: Int) { deals(first: $first, sort: createdAt, order: asc) { nodes {
      title tasks { nodes { title deal { id } } } notes { nodes { body deal { id } } } invoices { nodes { total deal { id } company { id } } } activities { nodes { type deal { id } } } } } }`;
    const { nodes } = (await ask(document, { first: 6 })).deals;
    for (const [i, node] of nodes.entries()) {
      const deal = { id: deals[i].id };
      expect(node.tasks.nodes).toEqual([{ title: `Task ${i}`, deal }]);
      expect(node.notes.nodes).toEqual([{ body: `Note ${i}`, deal }]);
      expect(node.invoices.nodes).toEqual([{ total: 120, deal, company: { id: company.id } }]);
      expect(node.activities.nodes.map((a: Loose) => a.type)).toEqual(
        expect.arrayContaining(['deal.created', 'task.created', 'note.created']),
      );
    }
    expect(await api.statements(() => ask(document, { first: 6 }))).toBe(1);
  });

  it('are found from everything that they are about', async () => {
    const data = await ask(
      `query ($contact: ID!, $company: ID!, $user: ID!, $pipeline: ID!) {
        contact(id: $contact) { deals(first: 2) { nodes { title } } }
        company(id: $company) { deals { nodes { title } } contacts { nodes { firstName } } invoices { nodes { total } } }
        user(id: $user) { deals(first: 1) { nodes { title products { name } } } }
        pipeline(id: $pipeline) { stages { name deals { nodes { title stage { name } } } } } }`,
      { contact: contact.id, company: company.id, user: acme.ownerId, pipeline: pipeline.id },
    );
    expect(data.contact.deals.nodes).toEqual([{ title: 'Deal 5' }, { title: 'Deal 4' }]);
    expect([data.company.deals, data.company.contacts, data.company.invoices].map(({ nodes }) => nodes.length)).toEqual([6, 1, 6]);
    expect(data.user.deals.nodes).toEqual([{ title: 'Deal 5', products: [{ name: 'a' }] }]);
    const [fresh, talking] = data.pipeline.stages;
    expect(fresh.deals.nodes.map((d: Loose) => d.title)).toEqual(['Deal 0', 'Deal 2', 'Deal 4']);
    expect(talking.deals.nodes[0]).toEqual({ title: 'Deal 1', stage: { name: 'Talking' } });
  });
});

describe('the connection of deals', () => {
  it('goes on after every cursor, in every order, without a gap or a double', async () => {
    const document = `query ($sort: DealSort, $order: SortOrder, $filter: DealFilter, $after: String) {
      deals(first: 2, sort: $sort, order: $order, filter: $filter, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
    const keys = ['createdAt', 'updatedAt', 'title', 'value', 'expectedCloseDate', 'probability'];
    const orders = keys.flatMap((sort) => ['asc', 'desc'].map((order) => ({ sort, order })));
    for (const args of [...orders, { filter: { view: 'board' } }, { filter: { stageId: pipeline.stages[0].id } }]) {
      const all = (await ask(document.replace('first: 2', 'first: 100'), args)).deals.nodes.map((d: Loose) => d.id);
      const seen: string[] = [];
      for (let after: string | null = null, more = true; more; ) {
        const { nodes, pageInfo }: Loose = (await ask(document, { ...args, after })).deals;
        seen.push(...nodes.map((d: Loose) => d.id));
        [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
      }
      expect([args, seen]).toEqual([args, all]);
    }
  });

  it('tells its sums where they are asked for', async () => {
    const { deals: page } = await ask('{ deals(first: 1) { summary { count totalValue byStage { name count totalValue } } } }');
    expect(page.summary).toMatchObject({
      count: 6,
      totalValue: 15,
      byStage: [
        { name: 'New', count: 3 },
        { name: 'Talking', count: 3 },
      ],
    });
  });

  it('tells the currency of a sum, unless it is of several', async () => {
    const other = await acme.pipeline();
    const [first, second] = other.stages;
    await acme.deal({ pipeline: other, stageId: first.id, value: 5, currency: 'EUR' });
    await acme.deal({ pipeline: other, stageId: first.id, value: 7, currency: 'EUR' });
    await acme.deal({ pipeline: other, stageId: first.id, currency: 'CHF' });
    await acme.deal({ pipeline: other, stageId: second.id, value: 5, currency: 'EUR' });
    await acme.deal({ pipeline: other, stageId: second.id, value: 5, currency: 'USD' });
    const { deals: page } = await ask(
      'query ($pipelineId: ID!) { deals(first: 1, filter: { pipelineId: $pipelineId }) { summary { byStage { count totalValue currency } } } }',
      { pipelineId: other.id },
    );
    expect(page.summary.byStage).toEqual([
      { count: 3, totalValue: 12, currency: 'EUR' },
      { count: 2, totalValue: 10, currency: null },
    ]);
  });
});

describe('a key', () => {
  it('for deals reads what a deal of the contract carries along by REST, and by GraphQL only what lies in its scopes', async () => {
    const narrow = await acme.key({ scopes: ['deals'] });
    expect(dataOf(await narrow.get(`/deals/${deals[0].id}`)).contact).toMatchObject({ firstName: 'Ada' });
    const query = 'query ($id: ID!) { deal(id: $id) { title stage { name } CONTACT } }';
    const { data } = await narrow.gql(query.replace('CONTACT', ''), { id: deals[0].id });
    expect(data.deal.stage.name).toBe('New');
    expectGraphQLRefusal(await narrow.gql(query.replace('CONTACT', 'contact { firstName }'), { id: deals[0].id }), 403);
  });
});

describe('dealEvents', () => {
  const document = `subscription ($pipelineId: ID, $dealId: ID) { dealEvents(pipelineId: $pipelineId, dealId: $dealId) {
    name entityId changes deal { title stage { name } products { name } } } }`;

  it('bring each deal as it is by then, to those who watch it or its pipeline, even when it leaves', async () => {
    const other = await acme.pipeline();
    const socket = await Socket.open(api.wire.port, { init: bearer(key) });
    const subscribers = async () => (await api.metrics.registry.getSingleMetric('subscribers')!.get()).values[0]!.value;
    const [inPipeline, ofDeal, elsewhere] = [
      socket.run(document, { pipelineId: pipeline.id }),
      socket.run(document, { dealId: deals[0].id }),
      socket.run(document, { pipelineId: other.id }),
    ];
    await eventually(async () => (await subscribers()) === 3);
    dataOf(await acme.owner.patch(`/deals/${deals[0].id}`, { title: 'Renamed' }));
    dataOf(await acme.owner.patch(`/deals/${deals[1].id}`, { pipelineId: other.id, stageId: other.stages[2].id }));
    const moved = ['deal.stage_changed', deals[1].id];
    const told = (events: Loose[]) => events.map((event) => [event.name, event.entityId]);
    expect(told(await inPipeline.nth(2))).toEqual([['deal.updated', deals[0].id], moved]);
    expect(told(await elsewhere.nth(1))).toEqual([moved]);
    const [renamed] = await ofDeal.nth(1);
    expect(renamed).toMatchObject({
      changes: { title: { to: 'Renamed' } },
      deal: { title: 'Renamed', stage: { name: 'New' }, products: [{ name: 'a' }] },
    });
    dataOf(await acme.owner.del(`/deals/${deals[0].id}`));
    expect((await ofDeal.nth(2))[1]).toMatchObject({ name: 'deal.deleted', deal: null });
    socket.cut();
  });

  it('carry the id that the event of their name has for webhooks and in the feed of all events, and the position of the change', async () => {
    const deal = await acme.deal({ pipeline });
    dataOf(await acme.owner.patch(`/deals/${deal.id}`, { stageId: pipeline.stages[1].id, status: 'won' }));
    const feed = await eventually(async () => {
      const { data } = dataOf(await acme.owner.get('/events?per_page=200&names=deal.created,deal.updated,deal.stage_changed,deal.won'));
      const own = data.filter((event: Loose) => event.entityId === deal.id);
      return own.length === 4 ? own : undefined;
    });
    const socket = await Socket.open(api.wire.port, { init: bearer(key) });
    const query =
      'subscription ($id: ID, $after: ID, $names: [String!]) { dealEvents(dealId: $id, after: $after, names: $names) { id eventId changeId name } }';
    const told = await socket.run(query, { id: deal.id, after: '0' }).nth(2);
    const [created, updated, moved, won] = feed;
    const own = ({ id, eventId, changeId, name }: Loose) => ({ id, eventId, changeId, name });
    expect(told).toEqual([own(created), { ...own(won), id: updated.id }]);
    const asMoved = await socket.run(query, { id: deal.id, after: '0', names: ['deal.stage_changed', 'deal.updated'] }).nth(1);
    expect(asMoved).toEqual([{ ...own(moved), id: updated.id }]);
    const rest = socket.run(query, { id: deal.id, after: told[1].id });
    dataOf(await acme.owner.patch(`/deals/${deal.id}`, { title: 'Later' }));
    expect((await rest.nth(1))[0]).toMatchObject({ name: 'deal.updated' });
    socket.cut();
  });
});
