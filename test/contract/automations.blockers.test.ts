import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { type Account, dataOf, type Loose, least, processorTime, second, server, type TestServer } from '../support/index.js';
import { aGraph } from './samples.automations.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

let made = 0;
const make = async (fields: Loose = {}) =>
  dataOf(await acme.owner.post('/automations', { name: `Automation ${++made}`, triggerEvent: 'tag.created', graph: aGraph(), ...fields }));
const publish = (id: string) => acme.owner.post(`/automations/${id}/publish`);
const node = (id: string, type: string, next?: string | null, more: Loose = {}) => ({ id, type, next, ...more });
/** The blockers of a draft as "code node". */
const blockersOf = async (fields: Loose): Promise<string[]> => {
  const reply = await publish((await make({ triggerEvent: undefined, graph: undefined, ...fields })).id);
  if (reply.status === 200) return [];
  expect(reply.body).toMatchObject({ code: 'validation_failed', blockers: expect.any(Array) });
  return reply.body.blockers.map(({ code, nodeId }: Loose) => `${code} ${nodeId ?? ''}`.trim());
};
const pause = (id: string, next?: string) => node(id, 'wait', next, { config: { minutes: 5 } });
const blocked = (nodes: Loose[], startNodeId: unknown = 'a') => blockersOf({ graph: { startNodeId, nodes } });

const startingAt = (config: Loose) => ({ graph: { startNodeId: 'a', nodes: [node('a', 'trigger', null, { config })] } });

const waiting = (triggerEvent: string | undefined, config: Loose) =>
  blockersOf({ triggerEvent, graph: { startNodeId: 'a', nodes: [node('a', 'wait', null, { config })] } });

const cases: [string, () => Promise<string[]>, string[]][] = [
  ['nothing at all', () => blockersOf({}), ['missing_start']],
  ['no start', () => blocked([node('a', 'end')], 'b'), ['missing_start']],
  ['a node without an id', () => blocked([node('a', 'end'), node(' ', 'end')]), ['bad_graph']],
  ['an unknown type', () => blocked([node('a', 'dance')]), ['bad_graph a']],
  ['a config that is no object', () => blocked([node('a', 'end', null, { config: 7 })]), ['bad_graph a']],
  [
    'branches that are no list',
    () => blocked([node('a', 'condition', null, { config: { conditions: {} }, branches: {} })]),
    ['bad_graph a'],
  ],
  ['twins', () => blocked([node('a', 'goal', 'b'), node('b', 'end'), node('b', 'end')]), ['duplicate_node b']],
  ['a way to nowhere', () => blocked([node('a', 'goal', 'c')]), ['unknown_node a']],
  ['an unreachable node', () => blocked([node('a', 'end'), node('b', 'end')]), ['unreachable_node b']],
  ['an island', () => blocked([node('a', 'end'), pause('b', 'c'), node('c', 'goal', 'b')]), ['unreachable_node b', 'unreachable_node c']],
  ['a second trigger', () => blocked([node('a', 'trigger', 'b'), node('b', 'trigger')]), ['bad_trigger b']],
  ['a cycle without a wait', () => blocked([node('a', 'goal', 'b'), node('b', 'goal', 'a')]), ['endless_loop a', 'endless_loop b']],
  [
    'a cycle with a wait for an instant, which comes once',
    () => blocked([node('a', 'goal', 'b'), node('b', 'wait', 'a', { config: { until: '2099-12-01T09:00:00Z' } })]),
    ['endless_loop a', 'endless_loop b'],
  ],
  ['a node that leads to itself', () => blocked([node('a', 'goal', 'a')]), ['endless_loop a']],
  ['a condition without conditions', () => blocked([node('a', 'condition')]), ['bad_condition a']],
  ['a condition on no field', () => blocked([node('a', 'condition', null, { config: { conditions: { moon: 1 } } })]), ['bad_condition a']],
  ['an action that is none', () => blocked([node('a', 'action', null, { config: { type: 'dance' } })]), ['bad_action a']],
  [
    'an action that lacks something',
    () => blocked([node('a', 'action', null, { config: { type: 'create_task', config: {} } })]),
    ['bad_action a'],
  ],
  [
    'an action that names nobody',
    () => blocked([node('a', 'action', null, { config: { type: 'assign_contact', config: { userId: v4() } } })]),
    ['bad_action a'],
  ],
  [
    'trigger conditions on no field',
    () => blockersOf({ triggerEvent: 'tag.created', triggerConditions: { moon: 1 }, graph: aGraph() }),
    ['bad_condition'],
  ],
  ['a branch without branches', () => blocked([node('a', 'branch')]), ['bad_branch a']],
  ['an action without a type', () => blocked([node('a', 'action')]), ['bad_action a']],
  ['a wait for nothing', () => blocked([node('a', 'wait')]), ['bad_wait a']],
  ['a wait below a second', () => blocked([node('a', 'wait', null, { config: { seconds: 0 } })]), ['bad_wait a']],
  ['a wait until noon and a bit', () => blocked([node('a', 'wait', null, { config: { until: '12:60' } })]), ['bad_wait a']],
  ['a wait until an object', () => blocked([node('a', 'wait', null, { config: { until: { toString: 1 } } })]), ['bad_wait a']],
  [
    'a wait until the year 10000',
    () => blocked([node('a', 'wait', null, { config: { until: '9999-12-31T23:59:59-14:00' } })]),
    ['bad_wait a'],
  ],
  ...['2026-02-30T09:00:00Z', '2026-04-31T09:00:00+02:00'].map((until): [string, () => Promise<string[]>, string[]] => [
    `a wait until ${until}`,
    () => blocked([node('a', 'wait', null, { config: { until } })]),
    ['bad_wait a'],
  ]),
  ['a wait in no zone', () => blocked([node('a', 'wait', null, { config: { until: '12:00', timezone: 'Nowhere' } })]), ['bad_wait a']],
  ...[{ days: 3 }, { duration: 3, unit: 'days' }, { until: '12:00' }].map((time): [string, () => Promise<string[]>, string[]] => [
    `a wait for an event and ${Object.keys(time)}`,
    () => blocked([node('a', 'wait', null, { config: { event: 'deal.won', ...time } })]),
    ['bad_wait a'],
  ]),
  ['a wait for nothing, said by nulls', () => blocked([node('a', 'wait', null, { config: { until: null, days: null } })]), ['bad_wait a']],
  ['a wait for no event', () => blocked([node('a', 'wait', null, { config: { event: 'moon.rises' } })]), ['bad_wait a']],
  ['a wait for what is never about a contact', () => waiting('contact.created', { event: 'tag.updated' }), ['endless_wait a']],
  ['a wait for what is new and about nobody', () => waiting('tag.created', { event: 'tag.created' }), ['endless_wait a']],
  ['a wait for the end of its contact, which ends the run', () => waiting('deal.won', { event: 'contact.deleted' }), ['endless_wait a']],
  ['a wait for nobody in a run that is started by hand', () => waiting(undefined, { event: 'product.updated' }), ['endless_wait a']],
  ['something after the end', () => blocked([node('a', 'end', 'b'), node('b', 'end')]), ['bad_end a']],
  ['an unknown event', () => blockersOf({ triggerEvent: 'moon.rises', graph: aGraph() }), ['bad_trigger']],
  ['two events', () => blockersOf({ triggerEvent: 'tag.created', trigger: { event: 'deal.won' }, graph: aGraph() }), ['bad_trigger']],
  [
    'an event of the start that is another one',
    () => blockersOf({ triggerEvent: 'tag.created', ...startingAt({ event: 'tag.deleted' }) }),
    ['bad_trigger'],
  ],
  [
    'a start with an event that is no text',
    () => blockersOf({ triggerEvent: 'tag.created', ...startingAt({ event: 7 }) }),
    ['bad_trigger'],
  ],
  [
    'trigger conditions that are a list',
    () => blockersOf({ trigger: { event: 'tag.created', conditions: [{ field: 'name', value: 'x' }] }, graph: aGraph() }),
    ['bad_condition'],
  ],
  ['trigger conditions that are a text', () => blockersOf(startingAt({ event: 'tag.created', conditions: 'name = x' })), ['bad_condition']],
  [
    'trigger conditions of an ext automation on no field',
    () =>
      blockersOf({ kind: 'ext', extWebhookUrl: 'https://example.com/run', triggerEvent: 'tag.created', triggerConditions: { moon: 1 } }),
    ['bad_condition'],
  ],
  [
    'two different trigger conditions',
    () =>
      blockersOf({
        ...{ triggerEvent: 'tag.created', triggerConditions: {}, graph: aGraph() },
        trigger: { event: 'tag.created', conditions: { name: 'x' } },
      }),
    ['bad_trigger'],
  ],
  [
    'a condition whose conditions are null',
    () => blocked([node('a', 'condition', null, { config: { conditions: null } })]),
    ['bad_condition a'],
  ],
  ['a branch without its condition', () => blocked([node('a', 'branch', null, { branches: [{ next: null }] })]), ['bad_branch a']],
  ['an ext automation without an address', () => blockersOf({ kind: 'ext' }), ['missing_url']],
];

describe('the blockers of a draft', () => {
  it.each(cases)('answers 422 with blockers to %s', async (_what, blockers, expected) => {
    expect(await blockers()).toEqual(expected);
  });

  it('takes a wait until any day of the calendar', async () => {
    for (const until of ['2028-02-29T09:00:00+02:00', '2028-02-29 09:00Z', ' 2028-02-29t09:00z'])
      expect([until, await waiting('tag.created', { until })]).toEqual([until, []]);
  });

  it('takes actions one after the other instead of a graph, and an ext automation without one', async () => {
    expect(await blockersOf({ actions: [{ type: 'create_task', config: { title: 'Call' } }] })).toEqual([]);
    expect(await blockersOf({ kind: 'ext', extWebhookUrl: 'https://example.com/run' })).toEqual([]);
  });

  it('takes a wait that an event of the record or the contact may end, or that has a timeout', async () => {
    expect(await waiting('tag.created', { event: 'tag.updated' })).toEqual([]);
    expect(await waiting('tag.created', { event: 'contact.updated' })).toEqual([]);
    expect(await waiting(undefined, { event: 'deal.won' })).toEqual([]);
    expect(await waiting('contact.created', { event: 'tag.updated', timeout: { days: 1 } })).toEqual([]);
  });

  it('takes a cycle that waits', async () => {
    expect(await blocked([node('a', 'goal', 'b'), pause('b', 'a')])).toEqual([]);
    const until = (moment: string, next: string) => node(moment, 'wait', next, { config: { until: moment } });
    expect(await blocked([node('a', 'goal', '09:00'), until('09:00', 'a')])).toEqual([]);
    // The instant is waited for in the first round.
    const instant = '2099-12-01T09:00:00Z';
    expect(await blocked([node('a', 'goal', instant), until(instant, 'b'), pause('b', 'a')])).toEqual([]);
  });

  it('looks at the largest graph in an instant, however it is tangled', async () => {
    const all = Array.from({ length: 1000 }, (_, n) => `n${n}`);
    const tangled = all.map((id, n) =>
      node(id, 'branch', all[(n + 1) % 1000], {
        branches: all.slice(n % 20, (n % 20) + 9).map((next) => ({ when: { source: 'x' }, next })),
      }),
    );
    const chain = all.map((id, n) => node(id, 'goal', all[n + 1] ?? null));
    for (const nodes of [tangled, chain]) {
      const { id } = await make({ graph: { startNodeId: 'n0', nodes } });
      expect(await least(3, () => processorTime(() => publish(id)))).toBeLessThan(second);
    }
    const many = Array.from({ length: 10_000 }, (_, n) => node(`n${n}`, 'goal', `n${n + 1}`));
    const send = async () =>
      expect((await acme.owner.post('/automations', { name: 'Many', graph: { startNodeId: 'n0', nodes: many } })).status).toBe(422);
    expect(await least(3, () => processorTime(send))).toBeLessThan(second);
  });
});

describe('the branches of a draft', () => {
  const branches = (length: number, when: object, next?: string) => Array.from({ length }, () => ({ when, next }));
  const branching = (length: number, each: Loose[]) =>
    Array.from({ length }, (_, n) => node(`n${n}`, 'branch', n + 1 < length ? `n${n + 1}` : null, { branches: each }));

  it('are at most 100 of a node, and 10,000 together', async () => {
    const most = branches(100, { source: 'x' });
    expect(await blocked(branching(100, most), 'n0')).toEqual([]);
    expect(await blocked(branching(101, most), 'n0')).toEqual(['bad_branch']);
    expect(await blocked(branching(1, branches(101, { source: 'x' })), 'n0')).toEqual(['bad_branch n0']);
  });

  it('are not read where they are too many, nor beyond the faults that are told', async () => {
    const tooMany = await make({ graph: { startNodeId: 'n0', nodes: branching(3, branches(19_000, { a: 1 })) } });
    const wrong = await make({ graph: { startNodeId: 'n0', nodes: branching(100, branches(100, { a: 1 })) } });
    expect((await publish(tooMany.id)).body.blockers.map(({ nodeId }: Loose) => nodeId)).toEqual(['n0', 'n1', 'n2']);
    expect((await publish(wrong.id)).body.blockers).toHaveLength(100);
    for (const { id } of [tooMany, wrong]) expect(await least(3, () => processorTime(() => publish(id)))).toBeLessThan(second);
  });
});

/** A draft whose actions name records that are not there; of every second one has a value that it cannot have besides. */
async function naming(nth: number) {
  const template = dataOf(await acme.owner.post('/emails/templates', { name: `T ${nth}`, channel: 'sms', body: 'b' }));
  const tag = await acme.tag();
  const steps = [
    { type: 'send_email', config: { templateId: template.id } },
    { type: 'assign_contact', config: { userId: v4() } },
    { type: 'enroll_sequence', config: { sequenceId: tag.id } },
    { type: 'update_field', config: { field: 'customFields.size', value: nth % 2 ? 'large' : 3 } },
  ];
  const nodes = steps.map((config, i) => node(`a${i}`, 'action', i + 1 < steps.length ? `a${i + 1}` : null, { config }));
  return make({ name: `Naming ${nth}`, graph: { startNodeId: 'a0', nodes } });
}

describe('Automation.blockers', () => {
  it('of a page cost as many statements as those of one', async () => {
    await acme.owner.post('/custom-fields', { label: 'Size', fieldKey: 'size', entityType: 'contact', fieldType: 'number' });
    for (let nth = 0; nth < 20; nth++) await naming(nth);
    const document =
      'query ($n: Int!) { automations(first: $n, filter: { search: "Naming" }) { nodes { name blockers { nodeId code message } } } }';
    const ask = async (n: number): Promise<Loose[]> => {
      const { data, errors } = await acme.owner.gql(document, { n });
      expect(errors).toBeUndefined();
      return data.automations.nodes;
    };
    const blockers = (await ask(20)).map((automation) => automation.blockers.map(({ nodeId }: Loose) => nodeId).join());
    // Of what is wrong by itself nobody asks the database.
    expect(blockers.sort()).toEqual([...Array(10).fill('a0,a1,a2'), ...Array(10).fill('a3')]);
    expect(await api.statements(() => ask(20))).toBe(await api.statements(() => ask(2)));
  });
});
