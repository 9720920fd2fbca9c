import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, day, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let pipeline: Loose;
let stages: string[];
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  pipeline = await acme.pipeline();
  stages = pipeline.stages.map((stage: Loose) => stage.id);
});
afterAll(() => api.close());

const create = (body: object) => acme.owner.post('/deals', { title: 'Deal', pipelineId: pipeline.id, stageId: stages[0], ...body });
const made = async (body: object = {}) => dataOf(await create(body));
const patch = (id: string, body: unknown) => acme.owner.patch(`/deals/${id}`, body);
const read = async (id: string) => dataOf(await acme.owner.get(`/deals/${id}`));
const nobody = crypto.randomUUID();
const everything = () => ({
  title: 't'.repeat(200),
  value: 99999999999.99,
  currency: 'EUR',
  status: 'open',
  priority: 'p'.repeat(30),
  source: 's'.repeat(500),
  lostReason: 'l'.repeat(500),
  probability: 0.3333,
  expectedCloseDate: '2028-02-29',
  appointmentAt: '2026-12-24T10:00:00.000Z',
  assignedTo: acme.ownerId,
  customFields: { tier: 1, nested: { deep: [null] } },
});

describe('POST /deals', () => {
  it('needs title, pipeline and stage', async () => {
    await expectNothingWritten(api, async () => {
      for (const name of ['title', 'pipelineId', 'stageId'])
        for (const value of [undefined, null, '', ' ']) expectRefusal(await create({ [name]: value }), 400, name);
    });
  });

  it('keeps every field as it was sent', async () => {
    const links = { contactId: (await acme.contact()).id, companyId: (await acme.company()).id };
    const reply = await create({ ...everything(), ...links });
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject({ ...everything(), ...links, products: [], closedAt: null, appointmentMissed: false });
    expect(await read(reply.body.data.id)).toMatchObject(reply.body.data);
  });

  it('is open, in dollars and as likely as its stage says by default', async () => {
    const { id, stages: own } = await acme.pipeline({
      stages: [
        { name: 'a', probability: 0.4 },
        { name: 'w', isWon: true },
      ],
    });
    const deal = await made({ pipelineId: id, stageId: own[0].id });
    expect(deal).toMatchObject({ status: 'open', currency: 'USD', probability: 0.4, value: null, customFields: {} });
    expect((await made({ pipelineId: id, stageId: own[0].id, probability: 0 })).probability).toBe(0);
    expect(await made({ pipelineId: id, stageId: own[1].id })).toMatchObject({ status: 'won', closedAt: expect.any(String) });
    expect((await made({ pipelineId: id, stageId: own[1].id, status: 'open' })).status).toBe('open');
  });

  it('holds every field to its limit', async () => {
    await expectNothingWritten(api, async () => {
      for (const name of ['title', 'priority', 'source', 'lostReason'] as const)
        expectRefusal(await create({ ...everything(), [name]: `${everything()[name]}x` }), 400, name);
      const wrong: [string, unknown][] = [
        ...([
          ['currency', 'x'.repeat(11)],
          ['currency', 'EU'],
          ['status', 'Won'],
          ['probability', 1.01],
          ['probability', -0.1],
          ['value', '1.005'],
          ['value', '1e3'],
        ] as [string, unknown][]),
        ...([
          ['expectedCloseDate', '2027-02-29'],
          ['appointmentAt', '2027-01-15T10:00:00'],
          ['appointmentAt', 'soon'],
        ] as [string, unknown][]),
      ];
      for (const [name, value] of wrong) expectRefusal(await create({ [name]: value }), 400, name);
      expectRefusal(await create({ customFields: { k: 'x'.repeat(64 * 1024) } }), 413, 'customFields');
    });
  });
});

describe('the place of a new deal', () => {
  it('is 404 where pipeline or stage is not of the workspace', async () => {
    const abroad = await api.seed.account();
    const [theirs, gone, cut] = [await abroad.pipeline(), await acme.pipeline(), await acme.pipeline()];
    dataOf(await acme.owner.del(`/pipelines/${gone.id}`));
    dataOf(await acme.owner.del(`/pipelines/${cut.id}/stages/${cut.stages[1].id}`));
    const wrong = [
      { pipelineId: theirs.id },
      { pipelineId: nobody },
      { pipelineId: gone.id, stageId: gone.stages[0].id },
      { stageId: theirs.stages[0].id },
      { stageId: nobody },
      { pipelineId: cut.id, stageId: cut.stages[1].id },
    ];
    await expectNothingWritten(api, async () => {
      for (const body of wrong) expectRefusal(await create(body), 404);
    });
  });

  it('is 422 where the stage is of another pipeline', async () => {
    const other = await acme.pipeline();
    await expectNothingWritten(api, async () => expectRefusal(await create({ stageId: other.stages[0].id }), 422, 'stageId'));
  });

  it('is 400 naming any other link that leads nowhere', async () => {
    const abroad = await api.seed.account();
    const [contact, company] = [await acme.contact(), await acme.company()];
    dataOf(await acme.owner.del(`/contacts/${contact.id}`));
    dataOf(await acme.owner.del(`/companies/${company.id}`));
    const deal = await made();
    const wrong: [string, string[]][] = [
      ['contactId', [contact.id, (await abroad.contact()).id, nobody, 'x']],
      ['companyId', [company.id, (await abroad.company()).id, nobody, 'x']],
      ['assignedTo', [abroad.ownerId, nobody, 'x']],
    ];
    await expectNothingWritten(api, async () => {
      for (const [name, ids] of wrong) {
        for (const id of ids) expectRefusal(await create({ [name]: id }), 400, name);
        for (const id of ids) expectRefusal(await patch(deal.id, { [name]: id }), 400, name);
      }
    });
  });

  it('answers 402 when the trial has expired; what is there can still be changed', async () => {
    const trial = await api.seed.account({ plan: 'trial' });
    const deal = await trial.deal();
    api.clock.advance(15 * day);
    const owner = await trial.login();
    expectRefusal(await owner.post('/deals', { title: 'a', pipelineId: deal.pipelineId, stageId: deal.stageId }), 402);
    expect((await owner.patch(`/deals/${deal.id}`, { title: 'b' })).status).toBe(200);
    api.clock.reset();
  });
});

describe('GET /deals/{id}', () => {
  it('includes pipeline, stage, contact, company and assigned user, in one statement', async () => {
    const [contact, company] = [await acme.contact({ firstName: 'Ada' }), await acme.company({ name: 'Acme' })];
    const { id } = await made({
      contactId: contact.id,
      companyId: company.id,
      assignedTo: acme.ownerId,
      products: [{ name: 'a', unitPrice: 1 }],
    });
    const deal = await read(id);
    expect(deal).toMatchObject({
      pipeline: { id: pipeline.id, name: pipeline.name },
      stage: { id: stages[0], name: 'New', sortOrder: 0 },
      contact: { id: contact.id, firstName: 'Ada' },
      company: { id: company.id, name: 'Acme' },
      assignedUser: { id: acme.ownerId, email: acme.ownerEmail },
      products: [{ name: 'a', unitPrice: 1, quantity: 1 }],
    });
    expect(await api.statements(() => acme.owner.get(`/deals/${id}`))).toBe(1);
    dataOf(await acme.owner.del(`/contacts/${contact.id}`));
    expect(await read(id)).toMatchObject({ contactId: contact.id, contact: null });
  });

  it('has nothing where nothing is linked', async () => {
    expect(await read((await made()).id)).toMatchObject({ contact: null, company: null, assignedUser: null });
  });
});
