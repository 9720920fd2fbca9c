import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, day, expectRefusal, type Loose, planOf, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let sales: Loose;
let support: Loose;
let ada: Loose;
let colleague: string;
let tag: Loose;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  sales = await acme.pipeline({ name: 'Sales' });
  support = await acme.pipeline({ name: 'Support' });
  colleague = (await acme.member()).userId;
  tag = await acme.tag('VIP');
  ada = await acme.contact({ firstName: 'Ada', tags: ['VIP'] });
  const [fresh, talking] = sales.stages.map((stage: Loose) => stage.id);
  const more: object[] = [
    { title: 'alpha', stageId: talking, value: 300, assignedTo: colleague, expectedCloseDate: '2031-02-01', probability: 0.5 },
    { title: 'Beta', stageId: fresh, value: 100, expectedCloseDate: '2030-12-31', probability: 0.75, contactId: ada.id, status: 'won' },
    { title: 'gamma 50%', stageId: fresh, value: 200, companyId: (await acme.company()).id },
    { title: 'Delta', pipelineId: support.id, stageId: support.stages[1].id, status: 'lost' },
    { title: 'epsilon', pipelineId: support.id, stageId: support.stages[0].id, value: 50.5 },
  ];
  for (const fields of more) {
    await acme.deal({ pipelineId: sales.id, pipeline: sales, ...fields });
    api.clock.advance(1000);
  }
});
afterAll(() => api.close());

const page = async (query: string) => dataOf(await acme.owner.get(`/deals?${query}`));
const titles = async (query: string): Promise<string[]> => (await page(query)).data.map((deal: Loose) => deal.title);
const sorted = async (query: string) => (await titles(query)).sort();

describe('GET /deals', () => {
  it('is ordered by what is asked, else the newest first', async () => {
    expect(await titles('')).toEqual(['epsilon', 'Delta', 'gamma 50%', 'Beta', 'alpha']);
    expect(await titles('sort=title&order=asc')).toEqual(['alpha', 'Beta', 'Delta', 'epsilon', 'gamma 50%']);
    expect(await titles('sort=value')).toEqual(['alpha', 'gamma 50%', 'Beta', 'epsilon', 'Delta']);
    expect(await titles('sort=value&order=asc')).toEqual(['epsilon', 'Beta', 'gamma 50%', 'alpha', 'Delta']);
    expect((await titles('sort=expectedCloseDate&order=asc')).slice(0, 2)).toEqual(['Beta', 'alpha']);
    expect((await titles('sort=expectedCloseDate&order=desc')).slice(0, 2)).toEqual(['alpha', 'Beta']);
    expect((await titles('sort=probability&order=desc')).slice(0, 2)).toEqual(['Beta', 'alpha']);
    expect(await titles('sort=createdAt&order=asc&per_page=2&page=2')).toEqual(['gamma 50%', 'Delta']);
    expectRefusal(await acme.owner.get('/deals?sort=position'), 400, 'sort');
  });

  it('goes column by column on a board, in a pipeline and in a stage, unless a sort is asked for', async () => {
    const board = ['Beta', 'gamma 50%', 'alpha', 'epsilon', 'Delta'];
    expect(await titles('view=board')).toEqual(board);
    expect(await titles(`pipeline=${sales.id}`)).toEqual(board.slice(0, 3));
    expect(await titles('pipelineName=sales')).toEqual(board.slice(0, 3));
    expect(await titles(`stage_id=${sales.stages[0].id}`)).toEqual(['Beta', 'gamma 50%']);
    expect(await titles(`pipeline=${sales.id}&view=list`)).toEqual(['gamma 50%', 'Beta', 'alpha']);
    expect(await titles(`pipeline=${sales.id}&sort=createdAt`)).toEqual(['gamma 50%', 'Beta', 'alpha']);
    expect(await titles('view=board&per_page=2&page=2')).toEqual(['alpha', 'epsilon']);
    // A direction alone is no sort.
    for (const order of ['asc', 'desc']) expect(await titles(`pipeline=${sales.id}&order=${order}`)).toEqual(board.slice(0, 3));
  });

  it('goes on from a cursor over the whole board', async () => {
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, meta }: Loose = await page(`view=board&per_page=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...data.map((deal: Loose) => deal.title));
      cursor = meta.next_cursor;
    }
    expect(seen).toEqual(await titles('view=board'));
  });

  it('takes every name of every filter', async () => {
    const [fresh] = sales.stages;
    for (const name of ['pipeline', 'pipelineId', 'pipeline_id'])
      expect(await sorted(`${name}=${support.id}`)).toEqual(['Delta', 'epsilon']);
    for (const name of ['pipelineName', 'pipeline_name']) expect(await sorted(`${name}=SUPPORT`)).toEqual(['Delta', 'epsilon']);
    for (const name of ['stage', 'stageId', 'stage_id']) expect(await sorted(`${name}=${fresh.id}`)).toEqual(['Beta', 'gamma 50%']);
    for (const name of ['stageName', 'stage_name']) expect(await sorted(`${name}=new`)).toEqual(['Beta', 'epsilon', 'gamma 50%']);
    for (const name of ['assigned_to', 'assignedTo']) expect(await sorted(`${name}=${colleague}`)).toEqual(['alpha']);
    for (const name of ['contact_id', 'contactId']) expect(await sorted(`${name}=${ada.id}`)).toEqual(['Beta']);
    for (const name of ['minValue', 'value_min', 'min_value']) expect(await sorted(`${name}=200`)).toEqual(['alpha', 'gamma 50%']);
    for (const name of ['maxValue', 'value_max', 'max_value']) expect(await sorted(`${name}=100.00`)).toEqual(['Beta', 'epsilon']);
    for (const name of ['tag_ids', 'tagIds']) expect(await sorted(`${name}=${tag.id},${crypto.randomUUID()}`)).toEqual(['Beta']);
    for (const name of ['viewId', 'view_id']) expect(await sorted(`${name}=${crypto.randomUUID()}`)).toEqual([]);
    expect(await sorted('status=won')).toEqual(['Beta']);
  });
});

describe('the filters of GET /deals', () => {
  it('find no deal by the tags of a contact that is deleted', async () => {
    const mine = await api.seed.account();
    const tag = await mine.tag('Gone');
    const contact = await mine.contact({ firstName: 'A', tags: ['Gone'] });
    const pipeline = await mine.pipeline();
    const deal = { title: 'Theirs', pipelineId: pipeline.id, stageId: pipeline.stages[0].id, contactId: contact.id };
    dataOf(await mine.owner.post('/deals', deal));
    const found = async () => dataOf(await mine.owner.get(`/deals?tag_ids=${tag.id}`)).meta.total;
    expect(await found()).toBe(1);
    dataOf(await mine.owner.del(`/contacts/${contact.id}`));
    expect(await found()).toBe(0);
    dataOf(await mine.owner.post(`/contacts/${contact.id}/restore`));
    expect(await found()).toBe(1);
  });

  it('search the title: part of it, or the start of a word', async () => {
    expect(await sorted('search=LTA')).toEqual(['Delta']);
    expect(await sorted('search=50')).toEqual(['gamma 50%']);
    expect(await sorted('search=50%25')).toEqual(['gamma 50%']);
    expect(await sorted('search=lt')).toEqual([]);
  });

  it('take both ends of a date range', async () => {
    const all = await page('sort=createdAt&order=asc');
    const [first, second] = all.data.map((deal: Loose) => deal.createdAt);
    expect(await sorted(`created_before=${first}`)).toEqual(['alpha']);
    expect(await sorted(`created_after=${first}&created_before=${second}`)).toEqual(['Beta', 'alpha'].sort());
    expect((await titles(`created_after=${first.slice(0, 10)}`)).length).toBe(5);
  });

  it('say what is wrong with them', async () => {
    const wrong = [
      'status=closed',
      'pipeline=x',
      'value_min=ten',
      'stale=soon',
      'stale=0',
      'view=grid',
      'needsAction=maybe',
      'created_after=never',
      'include=x',
    ];
    for (const query of wrong) expectRefusal(await acme.owner.get(`/deals?${query}`), 400, query.split('=')[0]);
  });

  it('show nothing of another workspace', async () => {
    const abroad = await api.seed.account();
    const theirs = await abroad.deal({ title: 'Foreign', contactId: (await abroad.contact({ firstName: 'X', tags: ['Foreign'] })).id });
    for (const query of [
      `pipeline=${theirs.pipelineId}`,
      `stage=${theirs.stageId}`,
      `contact_id=${theirs.contactId}`,
      `assigned_to=${abroad.ownerId}`,
    ])
      expect(await page(`${query}&summary=true`)).toMatchObject({
        data: [],
        meta: { total: 0, summary: { count: 0, totalValue: 0, byStage: [] } },
      });
  });
});

describe('summary=true', () => {
  it('is counted once, and not for each of its members', async () => {
    const plan = await planOf(api, 'byStage', () => page('summary=true&min_value=1'));
    expect(plan.match(/Group Key: t\w*\.pipeline_id/g)).toHaveLength(1);
  });

  it('adds all deals that the list finds in numbers, in the same statement', async () => {
    const { data, meta } = await page('summary=true&per_page=1');
    expect(data).toHaveLength(1);
    expect(meta).toMatchObject({ total: 5, summary: { count: 5, totalValue: 650.5 } });
    expect(meta.summary.byStage.map((s: Loose) => [s.name, s.count, s.totalValue])).toEqual([
      ['New', 2, 300],
      ['Talking', 1, 300],
      ['New', 1, 50.5],
      ['Talking', 1, 0],
    ]);
    expect((await page('summary=true&status=won')).meta.summary).toMatchObject({ count: 1, totalValue: 100 });
    expect((await page('summary=false')).meta.summary).toBeUndefined();
    expect(await api.statements(() => page('summary=true'))).toBe(1);
    expect(await api.statements(() => page(`pipeline=${sales.id}&per_page=2`))).toBe(1);
  });
});

describe('include=', () => {
  it('brings relations along in the same statement', async () => {
    const query = 'include=pipeline,stage,contact,company,assignedUser';
    const { data } = await page(`${query}&search=Beta`);
    expect(data[0]).toMatchObject({
      pipeline: { name: 'Sales' },
      stage: { name: 'New' },
      contact: { firstName: 'Ada' },
      company: null,
      assignedUser: null,
    });
    expect(await api.statements(() => page(query))).toBe(1);
    expect((await page('search=Beta')).data[0]).not.toHaveProperty('contact');
    expectRefusal(await acme.owner.get('/deals?include=owner'), 400, 'include');
  });
});

describe('what needs attention', () => {
  it('is stale when it is open and untouched for a fortnight, or as many days as are told', async () => {
    const other = await api.seed.account();
    const pipeline = await other.pipeline();
    const [old, noted] = [await other.deal({ pipeline }), await other.deal({ pipeline })];
    await other.deal({ pipeline, status: 'won' });
    api.clock.advance(10 * day);
    const owner = await other.login();
    dataOf(await owner.post('/notes', { body: 'Spoke', dealId: noted.id }));
    const stale = async (value: string) => dataOf(await owner.get(`/deals?stale=${value}`)).data.map((deal: Loose) => deal.id);
    expect([await stale('true'), await stale('9')]).toEqual([[], [old.id]]);
    api.clock.advance(5 * day - 1000);
    expect(await stale('true')).toEqual([old.id]);
    expect((await stale('false')).length).toBe(3);
    dataOf(await owner.patch(`/deals/${old.id}`, { title: 'Touched' }));
    expect(await stale('true')).toEqual([]);
    api.clock.reset();
  });

  it('needs action when nothing is planned, its day has passed or its appointment was missed', async () => {
    const other = await api.seed.account();
    const pipeline = await other.pipeline();
    const later = (ms: number) => new Date(api.clock.now().getTime() + ms).toISOString();
    const deal = async (title: string, fields: object = {}, isPlanned = true) => {
      const made = await other.deal({ pipeline, title, ...fields });
      if (isPlanned) await other.task({ dealId: made.id, dueDate: later(day) });
      return made;
    };
    await deal('planned');
    await deal('idle', {}, false);
    await deal('late', { expectedCloseDate: later(-2 * day).slice(0, 10) });
    await deal('missed', { appointmentAt: later(-day / 12) });
    await deal('just now', { appointmentAt: later(-60_000) });
    await deal('won', { status: 'won' }, false);
    await other.task({ dealId: (await deal('done', {}, false)).id, dueDate: later(day), status: 'done' });
    const found = async (value: boolean) =>
      dataOf(await other.owner.get(`/deals?needsAction=${value}`))
        .data.map((d: Loose) => d.title)
        .sort();
    expect(await found(true)).toEqual(['done', 'idle', 'late', 'missed']);
    expect(await found(false)).toEqual(['just now', 'planned', 'won']);
  });
});
