import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';
import { LiveScreen } from '../support/livePage.js';

let crm: TestServer;
let acme: Account;
let key: KeyClient;
let screens: LiveScreen[] = [];
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
  key = await acme.key();
});
afterAll(() => crm.close());
afterEach(() => {
  for (const { socket } of screens) socket?.cut();
  screens = [];
});

const rows = 'isWhole removed rows { recordId index change version node { id title value contact { id firstName } } } totalCount';
const byTitle = `subscription ($after: [LiveHave!], $pipelineId: ID) {
  live(after: $after) { position deals(filter: { pipelineId: $pipelineId, view: list }, sort: title, order: asc) { ${rows} } } }`;

async function watch(document: string, variables: object = {}, by = key): Promise<LiveScreen> {
  const screen = await new LiveScreen(by, document, variables).open(crm.wire.port);
  screens.push(screen);
  return screen;
}

/** A pipeline with deals of these titles, and who watches it. */
async function board(...titles: string[]) {
  const pipeline = await acme.pipeline();
  const deals: Loose[] = [];
  for (const title of titles) deals.push(await acme.deal({ pipeline, title }));
  const screen = await watch(byTitle, { pipelineId: pipeline.id });
  await screen.nth(1);
  return { pipeline, deals, screen };
}

const said = ({ deals }: Loose) => ({
  rows: deals.rows.map(({ index, change, node }: Loose) => [change, index, node?.title ?? null]),
  removed: deals.removed,
  isWhole: deals.isWhole,
  totalCount: deals.totalCount,
});

describe('a live query', () => {
  it('gives the result once, then what was added, changed, moved and removed', async () => {
    const { pipeline, deals, screen } = await board('b', 'd');
    const whole = {
      rows: [
        ['added', 0, 'b'],
        ['added', 1, 'd'],
      ],
      removed: [],
      isWhole: true,
      totalCount: 2,
    };
    expect(said(screen.messages[0])).toEqual(whole);
    const made = await acme.deal({ pipeline, title: 'c' });
    await screen.nth(2);
    expect(said(screen.messages[1])).toEqual({ rows: [['added', 1, 'c']], removed: [], isWhole: false, totalCount: 3 });
    dataOf(await acme.owner.patch(`/deals/${deals[1].id}`, { title: 'a' }));
    await screen.nth(3);
    expect(said(screen.messages[2]).rows).toEqual([['changed', 0, 'a']]);
    dataOf(await acme.owner.del(`/deals/${made.id}`));
    await screen.nth(4);
    expect(said(screen.messages[3])).toEqual({ rows: [], removed: [made.id], isWhole: false, totalCount: 2 });
    expect(screen.page().nodes.map(({ title }) => title)).toEqual(['a', 'b']);
  });

  it('after a cut brings the difference alone, the records that came and went meanwhile included', async () => {
    const { pipeline, deals, screen } = await board('a', 'b', 'c', 'd');
    screen.cut();
    dataOf(await acme.owner.patch(`/deals/${deals[3].id}`, { title: '0' }));
    dataOf(await acme.owner.del(`/deals/${deals[0].id}`));
    dataOf(await acme.owner.del(`/deals/${(await acme.deal({ pipeline, title: 'x' })).id}`));
    await screen.open(crm.wire.port);
    await screen.nth(1);
    expect(said(screen.messages[1])).toEqual({ rows: [['changed', 0, '0']], removed: [deals[0].id], isWhole: false, totalCount: 3 });
    expect(screen.page().nodes.map(({ title }) => title)).toEqual(['0', 'b', 'c']);
    screen.cut();
    await screen.open(crm.wire.port);
    await screen.nth(1);
    expect(said(screen.messages[2])).toEqual({ rows: [], removed: [], isWhole: false, totalCount: 3 });
  });
});

describe('a live page', () => {
  it('shows what changed of the records that it leads to, and a record whose place alone changed without its fields', async () => {
    const pipeline = await acme.pipeline();
    const contact = await acme.contact({ firstName: 'Ada' });
    const deals = [];
    for (const title of ['1', '2', '3']) deals.push(await acme.deal({ pipeline, title, contactId: contact.id }));
    const document = `subscription ($after: [LiveHave!], $stageId: ID) { live(after: $after) { deals(filter: { stageId: $stageId }) { ${rows} } } }`;
    const screen = await watch(document, { stageId: pipeline.stages[0].id });
    await screen.nth(1);
    const order = screen.page().nodes.map(({ id }) => id);
    dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { firstName: 'Grace' }));
    await screen.nth(2);
    expect(said(screen.messages[1]).rows.map(([change]: Loose) => change)).toEqual(['changed', 'changed', 'changed']);
    expect(screen.page().nodes[0].contact.firstName).toBe('Grace');
    const { errors } = await acme.owner.gql(
      'mutation ($id: ID!, $to: ID!, $after: ID) { moveDeal(id: $id, stageId: $to, afterId: $after) { id } }',
      {
        ...{ id: order[2], to: pipeline.stages[0].id },
      },
    );
    expect(errors).toBeUndefined();
    const fresh = async () => {
      const query = `query ($stageId: ID) { deals(filter: { stageId: $stageId }) { nodes { id title value contact { id firstName } } totalCount } }`;
      return (await acme.owner.gql(query, { stageId: pipeline.stages[0].id })).data.deals;
    };
    await screen.isRight(fresh);
  });
});

const rowsOf = (node: string) => `isWhole removed rows { recordId index change version node { ${node} } }`;
const watched = (lists: string) => `subscription ($after: [LiveHave!]) { live(after: $after) { ${lists} } }`;
/** A live list whose first record, or its total, is another after a write that no event of its own records tells of. */
async function becomes(name: string, document: string, write: () => Promise<unknown>, before: unknown, after: unknown): Promise<void> {
  const screen = await watch(document);
  const shown = () => (typeof after === 'number' ? screen.page(name).totalCount : screen.page(name).nodes[0]);
  await screen.nth(1);
  expect(shown()).toEqual(before);
  await write();
  await eventually(() => JSON.stringify(shown()) === JSON.stringify(after));
}

describe('a live list that shows', () => {
  it('how often a form was submitted and who runs through a sequence', async () => {
    const fields = [{ key: 'email', label: 'E-mail', type: 'email' }];
    const form = dataOf(await acme.owner.post('/forms', { name: 'Counted', fields }));
    const submit = async () => dataOf(await crm.seed.anybody().post(`/forms/${form.id}/submit`, { data: { email: 'c@example.com' } }));
    const forms = watched(`forms(filter: { search: "counted" }) { ${rowsOf('submissionCount')} }`);
    await becomes('forms', forms, submit, { submissionCount: 0 }, { submissionCount: 1 });
    const steps = [{ delayDays: 3, subject: 'Hello', body: 'Hello' }];
    const sequence = dataOf(await acme.owner.post('/emails/sequences', { name: 'Counted', steps }));
    const { id } = await acme.contact();
    const enroll = async () => dataOf(await acme.owner.post(`/emails/sequences/${sequence.id}/enroll`, { contactIds: [id] }));
    const sequences = watched(`sequences(filter: { search: "counted" }) { ${rowsOf('enrolledCount activeCount')} }`);
    const counts = (n: number) => ({ enrolledCount: n, activeCount: n });
    await becomes('sequences', sequences, enroll, counts(0), counts(1));
  });

  it('totals that are kept, of a list and of the deals of stages', async () => {
    const before = (await key.gql('{ deals { totalCount } }')).data.deals.totalCount;
    const two = watched(`deals(first: 1) { totalCount } tags(first: 1) { ${rowsOf('name')} }`);
    await becomes('deals', two, () => acme.deal(), before, before + 1);
    const pipeline = await acme.pipeline({ name: 'Totals', stages: [{ name: 'One' }] });
    const pipelines = watched(`pipelines(first: 1, filter: { search: "totals" }) { ${rowsOf('stages { all: deals { totalCount } }')} }`);
    const [none, one] = [0, 1].map((totalCount) => ({ stages: [{ all: { totalCount } }] }));
    await becomes('pipelines', pipelines, () => acme.deal({ pipeline }), none, one);
  });

  it('what was delivered to a webhook, with the next event', async () => {
    const url = 'https://hooks.example.com/live';
    const webhook = dataOf(await acme.owner.post('/webhooks/manage', { url, events: ['tag.created'] }));
    const delivered = async () => {
      await acme.tag();
      await eventually(() => crm.app.database.prisma.webhookDelivery.count({ where: { webhookId: webhook.id } }));
      await acme.contact();
    };
    const webhooks = watched(`webhooks(filter: { event: "tag.created" }) { ${rowsOf('deliveries(first: 5) { nodes { event } }')} }`);
    const [none, one] = [[], [{ event: 'tag.created' }]].map((nodes) => ({ deliveries: { nodes } }));
    await becomes('webhooks', webhooks, delivered, none, one);
  });
});

describe('a live list with a filter shows', () => {
  it('what follows from records of its type that the filter leaves out', async () => {
    const company = await acme.company();
    const contact = await acme.contact({ firstName: 'Ada', companyId: company.id });
    const pipeline = await acme.pipeline();
    const about = { pipeline, contactId: contact.id, companyId: company.id };
    await acme.deal(about);
    const won = () => acme.deal({ ...about, stageId: pipeline.stages[3].id });
    const shown = rowsOf('company { dealCount } contact { deals { totalCount } }');
    const open = watched(`deals(filter: { pipelineId: "${pipeline.id}", status: open }) { ${shown} }`);
    const [one, two] = [1, 2].map((n) => ({ company: { dealCount: n }, contact: { deals: { totalCount: n } } }));
    await becomes('deals', open, won, one, two);
    const mine = await acme.contact({ firstName: 'Mine', assignedTo: acme.ownerId, tags: ['Shared'], companyId: company.id });
    const other = () => acme.contact({ tags: ['Shared'], companyId: company.id, firstName: 'Other' });
    const counted = rowsOf('id companyRecord { contactCount } tags { _count { contacts } }');
    const own = watched(`contacts(first: 1, filter: { assignedTo: "${acme.ownerId}" }) { ${counted} }`);
    const [few, more] = [1, 2].map((n) => ({ id: mine.id, companyRecord: { contactCount: n + 1 }, tags: [{ _count: { contacts: n } }] }));
    await becomes('contacts', own, other, few, more);
  });

  it.each([
    ['nothing', 'assignedTo: ""'],
    ['an id in capitals', 'assignedTo: "OWNER"'],
    ['a text between spaces', 'source: " Fair "'],
  ])('what a filter of %s finds', async (_what, asked) => {
    const filter = asked.replace('OWNER', acme.ownerId.toUpperCase());
    const list = `contacts(filter: { ${filter} }) { totalCount }`;
    const fresh = (await key.gql(`{ ${list} }`)).data.contacts.totalCount;
    const one = () => acme.contact({ firstName: 'C', assignedTo: acme.ownerId, source: 'Fair' });
    await becomes('contacts', watched(list), one, fresh, fresh + 1);
  });
});

describe('what it costs', () => {
  it('answers under the names that are asked for, several lists at one position', async () => {
    const { pipeline } = await board('a');
    const stage = (i: number) =>
      `s${i}: deals(filter: { stageId: "${pipeline.stages[i].id}" }) { n: totalCount all: rows { at: index n: node { t: title __typename } __typename } __typename }`;
    const screen = await watch(
      `subscription ($after: [LiveHave!]) { now: live(after: $after) { p: position ${stage(0)} ${stage(1)} __typename } }`,
    );
    const [now] = await screen.feed!.nth(1);
    const list = {
      n: 1,
      all: [{ at: 0, n: { t: 'a', __typename: 'Deal' }, __typename: 'DealLiveEdge' }],
      __typename: 'DealLivePage',
    };
    expect(now).toEqual({ p: expect.stringMatching(/^\d+$/), s0: list, s1: { ...list, n: 0, all: [] }, __typename: 'Live' });
  });

  it('is read once for all who ask the same', async () => {
    const { pipeline, screen } = await board('a');
    const all = [screen];
    const change = async () => {
      const before = all.map(({ feed }) => feed!.results.length);
      await acme.deal({ pipeline, title: 'here' });
      await eventually(() => all.every(({ feed }, i) => feed!.results.length > before[i]!));
    };
    const told = () => crm.statements(change, { told: true });
    const alone = await told();
    for (let i = 0; i < 19; i++) all.push(await watch(byTitle, { pipelineId: pipeline.id }));
    for (const one of all) await one.nth(1);
    // What others do meanwhile is a statement or two more.
    expect((await told()) - alone).toBeLessThan(5);
  });

  it('is not read at all for what it does not show', async () => {
    const { pipeline, screen } = await board('a');
    const other = await acme.pipeline();
    const all =
      'live(after: $after) { deals(first: 1) { rows { recordId node { title } index change version } removed isWhole totalCount } }';
    const witness = await watch(`subscription ($after: [LiveHave!]) { ${all} }`);
    await witness.nth(1);
    await acme.deal({ pipeline: other, title: 'elsewhere' });
    await witness.nth(2);
    expect(screen.feed!.results.length).toBe(1);
    await acme.deal({ pipeline, title: 'here' });
    await screen.nth(2);
  });
});

describe('the server', () => {
  it.each([
    ['a list that is not named rightly', '{ live(after: [{ list: "deals", rows: ["x"] }]) { deals { totalCount } } }', 'after[0].rows'],
    ['an argument that does not fit', '{ live { deals(first: 500) { totalCount } } }', 'first'],
  ])('refuses %s, naming it', async (_what, selection, field) => {
    const screen = await watch(`subscription ${selection}`);
    const [error] = await screen.feed!.refused();
    expect(error.extensions).toMatchObject({ code: 'invalid_request', status: 400, details: [{ field }] });
  });

  it('refuses what watches nothing, and records that the key may not read', async () => {
    const [nothing] = await (await watch('subscription { live { position } }')).feed!.refused();
    expect(nothing.message).toBe('live watches lists: select at least one');
    const tasks = await acme.key({ scopes: ['tasks'] });
    const [refusal] = await (await watch('subscription { live { deals { totalCount } } }', {}, tasks)).feed!.refused();
    expect(refusal.extensions.code).toBe('permission_denied');
    expect((await (await watch('subscription { live { tasks { totalCount } } }', {}, tasks)).feed!.nth(1))[0]).toEqual({
      tasks: { totalCount: 0 },
    });
  });

  it('holds its socket to the rules of every subscription', async () => {
    const socket = await Socket.open(crm.wire.port, { init: bearer(key) });
    const feed = socket.run('subscription { live { contacts(first: 200) { rows { node { deals(first: 200) { nodes { id } } } } } } }');
    expect((await feed.refused())[0].message).toContain('at each event; at most 30000 are allowed');
    // A page of three costs three.
    const small = socket.run('subscription { live { contacts(first: 3) { rows { node { deals(first: 200) { nodes { id } } } } } } }');
    expect((await small.nth(1))[0].contacts.rows.length).toBeLessThanOrEqual(3);
    socket.cut();
  });
});
