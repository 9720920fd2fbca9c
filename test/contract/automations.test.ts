import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { v4 } from 'uuid';
import { closed } from '../support/closed.js';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { aGraph } from './samples.automations.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterEach(() => api.clock.reset());
afterAll(() => api.close());

let made = 0;
const make = async (fields: Loose = {}) =>
  dataOf(await acme.owner.post('/automations', { name: `Automation ${++made}`, triggerEvent: 'tag.created', graph: aGraph(), ...fields }));
const publish = (id: string) => acme.owner.post(`/automations/${id}/publish`);
const node = (id: string, type: string, next?: string | null, more: Loose = {}) => ({ id, type, next, ...more });
describe('POST /automations', () => {
  it('makes a draft that does nothing', async () => {
    const one = await make({ name: 'Welcome', folderId: 'mail', extWebhookUrl: 'https://example.com/x' });
    expect(one).toMatchObject({
      ...{ name: 'Welcome', kind: 'native', status: 'draft', active: false, runCount: 0, lastTriggered: null, publishedVersion: null },
      ...{
        triggerEvent: 'tag.created',
        trigger: { event: 'tag.created' },
        graph: aGraph(),
        webhookUrl: 'https://example.com/x',
        createdBy: acme.ownerId,
      },
    });
    expect(dataOf(await acme.owner.get(`/automations/${one.id}`))).toEqual({ ...one, runs: [] });
    const list = (await acme.owner.get('/automations?per_page=1')).body.data;
    expect(list).toEqual([one]);
  });

  it('shows what starts it in both forms, whichever was given', async () => {
    const conditions = { city: 'Oslo' };
    const one = await make({ triggerEvent: undefined, trigger: { event: 'contact.created', conditions } });
    const both = { triggerEvent: 'contact.created', triggerConditions: conditions, trigger: { event: 'contact.created', conditions } };
    expect(one).toMatchObject(both);
    const patched = async (body: Loose) => dataOf(await acme.owner.patch(`/automations/${one.id}`, body));
    expect(await patched({ triggerEvent: 'tag.created' })).toMatchObject({ ...both, triggerEvent: 'tag.created', trigger: { event: 'tag.created', conditions } }); // biome-ignore format: one line
    expect(await patched({ trigger: null })).toMatchObject({ trigger: null, triggerEvent: null, triggerConditions: null });
    expect(await patched({ triggerConditions: conditions })).toMatchObject({ trigger: { event: null, conditions }, triggerEvent: null });
    expect(await patched({ trigger: { event: 5 } })).toMatchObject({ trigger: { event: 5 }, triggerEvent: null, triggerConditions: null });
    expect(await patched({ description: 'Kept' })).toMatchObject({ trigger: { event: 5 }, triggerEvent: null });
    expectRefusal(await publish(one.id), 422);
  });

  it('answers 400 naming the field at fault, and 422 over 1,000 nodes', async () => {
    const nodes = Array.from({ length: 1001 }, (_, n) => node(`n${n}`, 'end'));
    const bad: [number, string, Loose][] = [
      [400, 'name', { name: '' }],
      [400, 'kind', { kind: 'other' }],
      [400, 'graph', { graph: [] }],
      [400, 'graph.nodes', { graph: { nodes: 'none' } }],
      [400, 'graph.nodes.1', { graph: { nodes: [{}, 7] } }],
      [400, 'schedule', { schedule: 'every day' }],
      [400, 'schedule', { schedule: '61 * * * *' }],
      [400, 'schedule', { schedule: '* * * * * * *' }],
      [400, 'schedule', { schedule: '0 0 30 2 *' }],
      [400, 'schedule', { schedule: '* * * *' }],
      [400, 'scheduleTimezone', { schedule: '0 9 * * *', scheduleTimezone: 'Mars/Olympus' }],
      [400, 'extWebhookUrl', { extWebhookUrl: 'ftp://example.com' }],
      [422, 'graph.nodes', { graph: { nodes } }],
      [422, 'nodes', { nodes }],
      [422, 'actions', { actions: nodes }],
    ];
    await expectNothingWritten(api, async () => {
      for (const [status, field, change] of bad)
        expectRefusal(await acme.owner.post('/automations', { name: 'Bad', ...change }), status, field);
    });
  });
});

describe('a draft whose start is a trigger', () => {
  it('shows what its start alone says in both forms, and follows it', async () => {
    const conditions = { city: 'Oslo' };
    const startingBy = (config: Loose) => ({
      startNodeId: 'a',
      nodes: [
        { id: 'a', type: 'trigger', config, next: 'b' },
        { id: 'b', type: 'end' },
      ],
    });
    const shown = (event: string, given: Loose | null = null) => ({
      ...{ triggerEvent: event, triggerConditions: given, trigger: { event, ...(given && { conditions: given }) } },
    });
    const one = await make({ triggerEvent: undefined, graph: startingBy({ event: 'contact.created', conditions }) });
    expect(one).toMatchObject(shown('contact.created', conditions));
    const path = `/automations/${one.id}`;
    expect(dataOf(await acme.owner.get(path))).toMatchObject(shown('contact.created', conditions));
    const patched = async (body: Loose) => dataOf(await acme.owner.patch(path, body));
    expect(await patched({ graph: startingBy({ event: 'deal.won' }) })).toEqual(expect.objectContaining(shown('deal.won')));
    expect(await patched({ trigger: null })).toMatchObject(shown('deal.won'));
    expect(await patched({ description: 'Kept' })).toMatchObject(shown('deal.won'));
    dataOf(await publish(one.id));
    // What is said differently stays so, and stands against publishing.
    expect(await patched({ triggerEvent: 'tag.created' })).toMatchObject(shown('tag.created'));
    expectRefusal(await publish(one.id), 422);
    const inNodes = { ...startingBy({ event: 'deal.won', conditions: { title: 'T' } }), graph: undefined, triggerEvent: undefined };
    expect(await make(inNodes)).toMatchObject(shown('deal.won', { title: 'T' }));
    // A graph that says nothing of nodes leaves them to the fields.
    const beside = await make({ ...inNodes, graph: { edges: [] } });
    expect(beside).toMatchObject(shown('deal.won', { title: 'T' }));
    expect(dataOf(await publish(beside.id)).active).toBe(true);
  });
});

describe('PATCH /automations/{id}', () => {
  it('edits the draft, whatever it still lacks', async () => {
    const one = await make();
    const graph = { startNodeId: 'x', nodes: [{ id: 'x', type: 'wait' }] };
    const changed = dataOf(await acme.owner.patch(`/automations/${one.id}`, { graph, schedule: '0 9 * * *', description: 'Daily' }));
    expect(changed).toMatchObject({ graph, schedule: '0 9 * * *', description: 'Daily', status: 'draft', nextRunAt: null });
    await expectNothingWritten(api, async () => {
      expect(dataOf(await acme.owner.patch(`/automations/${one.id}`, { graph }))).toEqual(changed);
    });
  });

  it('stops and starts what is published, and 422 what is not', async () => {
    const one = await make();
    expectRefusal(await acme.owner.patch(`/automations/${one.id}`, { active: true }), 422, 'active');
    expectRefusal(await acme.owner.patch(`/automations/${v4()}`, { actions: Array.from({ length: 1001 }, () => ({})) }), 404);
    dataOf(await publish(one.id));
    expectRefusal(await acme.owner.patch(`/automations/${one.id}`, { active: null }), 400, 'active');
    expect(dataOf(await acme.owner.get(`/automations/${one.id}`)).active).toBe(true);
    expect(dataOf(await acme.owner.patch(`/automations/${one.id}`, { active: false }))).toMatchObject({
      active: false,
      status: 'published',
    });
    expect(dataOf(await acme.owner.patch(`/automations/${one.id}`, { active: true }))).toMatchObject({ active: true });
  });

  it('starts nothing whose actions name what is gone', async () => {
    const template = dataOf(await acme.owner.post('/emails/templates', { name: 'Soon gone', channel: 'email', subject: 'S', body: 'B' }));
    const config = { type: 'send_email', config: { templateId: template.id } };
    const graph = {
      startNodeId: 'mail',
      nodes: [
        { id: 'mail', type: 'action', config, next: 'end' },
        { id: 'end', type: 'end', config: {} },
      ],
    };
    const one = await make({ graph });
    dataOf(await publish(one.id));
    dataOf(await acme.owner.patch(`/automations/${one.id}`, { active: false }));
    expect((await acme.owner.del(`/emails/templates/${template.id}`)).status).toBe(200);
    expectRefusal(await acme.owner.patch(`/automations/${one.id}`, { active: true }), 400, 'mail.config.templateId');
  });
});

describe('DELETE /automations/{id}', () => {
  it('answers the id, and 404 afterwards', async () => {
    const { id } = await make();
    expect(dataOf(await acme.owner.del(`/automations/${id}`))).toEqual({ id, deleted: true });
    for (const reply of [await acme.owner.get(`/automations/${id}`), await publish(id), await acme.owner.patch(`/automations/${id}`, {})])
      expect(reply.status).toBe(404);
    expect((await acme.owner.get(`/automations/${v4()}`)).status).toBe(404);
  });
});

describe('POST /automations/{id}/publish', () => {
  it('makes a version of the draft, which later changes leave as it is', async () => {
    const { id } = await make();
    expect(dataOf(await publish(id))).toMatchObject({ status: 'published', active: true, publishedVersion: 1 });
    dataOf(await acme.owner.patch(`/automations/${id}`, { graph: { startNodeId: 'x', nodes: [node('x', 'end')] } }));
    expect(dataOf(await publish(id))).toMatchObject({ publishedVersion: 2 });
    const versions = await api.app.database.prisma.automationVersion.findMany({ where: { automationId: id }, orderBy: { version: 'asc' } });
    expect(versions.map(({ graph }) => (graph as Loose).nodes.length)).toEqual([6, 1]);
  });

  it('says when the schedule comes next', async () => {
    const key = await acme.key();
    api.clock.set('2027-05-01T12:00:00Z');
    const { id } = dataOf(
      await key.post('/automations', { name: 'Daily', schedule: '30 9 * * *', scheduleTimezone: 'asia/tokyo', graph: aGraph() }),
    );
    expect(dataOf(await key.post(`/automations/${id}/publish`)).nextRunAt).toBe('2027-05-02T00:30:00.000Z');
    expect(dataOf(await key.patch(`/automations/${id}`, { active: false })).nextRunAt).toBeNull();
  });
});

describe('GET /automations/events', () => {
  it('lists every event of the system with a schema by which every payload is valid, the sample first', async () => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const events = (await acme.owner.get('/automations/events')).body.data as Loose[];
    const names = [...api.app.registry.events.keys()].filter((name) => !/_run\.|_step_log\./.test(name));
    const both = names.sort().flatMap((name) => [`${name} native`, `${name} ext`]);
    expect(events.map(({ event, kind }) => `${event} ${kind}`)).toEqual(both);
    for (const { event, label, kind, payloadSchema, sample } of events) {
      expect([Object.hasOwn(sample, 'automation'), label.length > 0]).toEqual([kind === 'ext', true]);
      expect(JSON.stringify(payloadSchema)).not.toContain('"additionalProperties":false');
      const validate = ajv.compile(closed(payloadSchema));
      expect([event, validate(sample), validate.errors]).toEqual([event, true, null]);
      expect(validate({ ...sample, data: {} })).toBe(false);
    }
    expect((await acme.owner.get('/automations/events?kind=ext')).body.data[0].kind).toBe('ext');
    expectRefusal(await acme.owner.get('/automations/events?kind=other'), 400, 'kind');
  });

  it('leaves out what a key may not see', async () => {
    const key = await acme.key({ scopes: ['automations', 'tags'] });
    const events = (await key.get('/automations/events')).body.data as Loose[];
    expect([...new Set(events.map(({ event }) => event.split('.')[0]))]).toEqual(['automation', 'tag']);
  });
});

describe('POST /automations/resolve', () => {
  const resolve = async (...items: Loose[]) => (await acme.owner.post('/automations/resolve', { items })).body.data as Loose[];

  it('finds the id of the one record of a name, and says which it may be where there are several', async () => {
    const { id: tag } = await acme.tag('Golden');
    await acme.tag('Golden boy');
    const pipelines = await Promise.all(
      ['North', 'South'].map(async (name) => dataOf(await acme.owner.post('/pipelines', { name, stages: [{ name: 'First' }] }))),
    );
    const [north, south] = pipelines as [Loose, Loose];
    const found = await resolve(
      { type: 'tag', name: 'gOLDEN' },
      { type: 'tag', name: 'gold' },
      { type: 'tag', name: '100%' },
      { type: 'pipeline', name: 'north' },
      { type: 'stage', name: 'First' },
      { type: 'stage', name: 'First', parent: 'South' },
      { type: 'stage', name: 'First', parent: north.id },
    );
    expect(found.map(({ id, candidates }) => [id, candidates.length])).toEqual([
      [tag, 1],
      [null, 2],
      [null, 0],
      [north.id, 1],
      [null, 2],
      [south.stages[0].id, 1],
      [north.stages[0].id, 1],
    ]);
    expect(found[0]).toEqual({ type: 'tag', name: 'gOLDEN', id: tag, candidates: [{ id: tag, name: 'Golden' }] });
  });

  it('finds records of every type, and none of another account', async () => {
    const other = await api.seed.account();
    const email = `grace.${acme.id}@example.com`;
    const contact = await acme.contact({ firstName: 'Grace', lastName: 'Hopper', email });
    await other.contact({ firstName: 'Grace', lastName: 'Hopper' });
    await other.tag('Foreign');
    const [byName, byMail, foreign] = await resolve(
      { type: 'contact', name: 'grace hopper' },
      { type: 'contact', name: email.toUpperCase() },
      { type: 'tag', name: 'Foreign' },
    );
    expect([byName.id, byMail.id, foreign]).toEqual([contact.id, contact.id, { type: 'tag', name: 'Foreign', id: null, candidates: [] }]);
    const types = ['contact', 'company', 'deal', 'pipeline', 'stage', 'tag', 'user', 'template', 'sequence', 'form', 'product'];
    const all = [...types, 'automation', 'custom_field', 'smart_list'].map((type) => ({ type, name: 'nothing of the kind' }));
    expect((await resolve(...all)).map(({ id }) => id)).toEqual(all.map(() => null));
  });

  it('answers 400 naming the item, and finds nothing that a key may not read', async () => {
    const bad: [string, Loose][] = [
      ['items', {}],
      ['items', { items: Array.from({ length: 101 }, () => ({ type: 'tag', name: 'x' })) }],
      ['items.0.type', { items: [{ type: 'planet', name: 'x' }] }],
      ['items.0.name', { items: [{ type: 'tag', name: '' }] }],
    ];
    for (const [field, body] of bad) expectRefusal(await acme.owner.post('/automations/resolve', body), 400, field);
    await acme.tag('Hidden');
    const key = await acme.key({ scopes: ['automations'] });
    const items = [{ type: 'tag', name: 'Hidden' }];
    expect((await key.post('/automations/resolve', { items })).body.data).toEqual([{ ...items[0], id: null, candidates: [] }]);
  });
});
