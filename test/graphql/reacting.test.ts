import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aNode, aTask } from '../support/automations.js';
import {
  type Account,
  day,
  expectGraphQLRefusal,
  expectNothingWritten,
  type KeyClient,
  type Loose,
  server,
  type TestServer,
} from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let socket: Socket;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
  socket = await Socket.open(api.wire.port, { init: bearer(key) });
});
afterAll(async () => {
  socket.cut();
  await api.close();
});

const ask = async (query: string, variables: Loose = {}): Promise<Loose> => {
  const { data, errors } = await key.gql(query, variables);
  expect(errors).toBeUndefined();
  return data as Loose;
};
const create =
  'mutation ($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id name isActive status actions { type config } } }';
const actions = [{ type: 'create_task', config: { title: 'Call {{contact.firstName}}' } }];

/** A workflow under an id of the client's, active where its contacts have this last name. */
async function workflow(lastName: string): Promise<string> {
  const id = randomUUID();
  const input = { id, name: `For ${lastName}`, trigger: { event: 'contact.created', conditions: { lastName } }, actions };
  expect((await ask(create, { input })).createWorkflow).toEqual({ id, name: input.name, isActive: false, status: 'inactive', actions });
  await ask(`mutation { activateWorkflow(id: "${id}") { status } }`);
  return id;
}

describe('workflows in GraphQL', () => {
  it('are made, changed, listed and deleted, and refused as in REST', async () => {
    const id = await workflow('Listed');
    const { updateWorkflow } = await ask(`mutation { updateWorkflow(id: "${id}", input: { description: "d" }) { description isActive } }`);
    expect(updateWorkflow).toEqual({ description: 'd', isActive: true });
    const found = await ask(`{ workflows(filter: { isActive: true, search: "Listed" }) { totalCount nodes { id author { id } } }
      workflow(id: "${id}") { name trigger { event conditions } runCount } node(id: "${id}") { __typename } }`);
    expect(found).toEqual({
      workflows: { totalCount: 1, nodes: [{ id, author: { id: acme.ownerId } }] },
      workflow: { name: 'For Listed', trigger: { event: 'contact.created', conditions: { lastName: 'Listed' } }, runCount: 0 },
      node: { __typename: 'Workflow' },
    });
    const wrong = { name: 'W', trigger: { event: 'moon.risen' } };
    expectGraphQLRefusal(await key.gql(create, { input: wrong }), 400, 'trigger.event');
    expect((await ask(`mutation { deactivateWorkflow(id: "${id}") { status } }`)).deactivateWorkflow.status).toBe('inactive');
    expect((await ask(`mutation { deleteWorkflow(id: "${id}") { deletedId } }`)).deleteWorkflow.deletedId).toBe(id);
    expectGraphQLRefusal(await key.gql(`{ workflow(id: "${id}") { id } }`), 404);
  });
});

describe('runs of workflows in GraphQL', () => {
  it('are told live, and lead to what they are about and back', async () => {
    const id = await workflow('Live');
    const feed = socket.run(
      `subscription ($id: ID) { workflowRunEvents(workflowId: $id, after: "0") {
        name causes { runId } workflowRun { id status actions { status } explanation { event { name } next { index } } } } }`,
      { id },
    );
    const contact = await acme.contact({ firstName: 'Ada', lastName: 'Live' });
    const [begun, done] = await feed.nth(2);
    const runId = begun!.workflowRun.id;
    expect([begun!.name, done!.name]).toEqual(['workflow_run.created', 'workflow_run.updated']);
    expect(done).toMatchObject({
      workflowRun: {
        id: runId,
        status: 'success',
        actions: [{ status: 'success' }],
        explanation: { event: { name: 'contact.created' }, next: null },
      },
    });
    const back = await ask(`{ contact(id: "${contact.id}") { workflowRuns { totalCount nodes { id workflow { name } } } }
      workflow(id: "${id}") { runCount lastRunAt runs { nodes { id contact { firstName } } } }
      workflowRuns(filter: { contactId: "${contact.id}", status: success }) { nodes { triggerData } }
      runsOfWorkflow(id: "${id}") { totalCount } workflowRun(id: "${runId}", workflowId: "${id}") { error } node(id: "${runId}") { __typename } }`);
    expect(back).toMatchObject({
      contact: { workflowRuns: { totalCount: 1, nodes: [{ id: runId, workflow: { name: 'For Live' } }] } },
      workflow: { runCount: 1, runs: { nodes: [{ id: runId, contact: { firstName: 'Ada' } }] } },
      workflowRuns: { nodes: [{ triggerData: { id: contact.id, lastName: 'Live' } }] },
      ...{ runsOfWorkflow: { totalCount: 1 }, workflowRun: { error: null }, node: { __typename: 'WorkflowRun' } },
    });
    expectGraphQLRefusal(await key.gql(`mutation { retryWorkflowRun(id: "${runId}") { id } }`), 409);
  });
});

describe('a dry run of a workflow in GraphQL', () => {
  it('is of a past event, and keeps nothing', async () => {
    const id = await workflow('Dry');
    const contact = await acme.contact({ firstName: 'Dora' });
    const event = await eventually(async () => {
      const { events } = await ask('{ events(names: ["contact.created"], first: 100) { nodes { eventId entityId } } }');
      return events.nodes.find(({ entityId }: Loose) => entityId === contact.id) as Loose | undefined;
    });
    const dry = `mutation { dryRunWorkflow(id: "${id}", input: { eventId: "${event.eventId}" }) {
      matches reason conditions { field seen holds } actions { status } } }`;
    const tried = await expectNothingWritten(api, () => ask(dry));
    expect((tried as unknown as Loose).dryRunWorkflow).toEqual({
      ...{ matches: false, reason: 'conditions', actions: [{ status: 'skipped' }] },
      conditions: [{ field: 'lastName', seen: null, holds: false }],
    });
  });
});

const graph = { startNodeId: 'task', nodes: [aTask('task', 'wait'), aNode('wait', 'wait', { days: 1 }, 'end'), aNode('end', 'end')] };

const made = async (fields: Loose = {}): Promise<string> => {
  const input = { id: randomUUID(), name: 'A', graph, ...fields };
  const make = 'mutation ($input: CreateAutomationInput!) { createAutomation(input: $input) { id status active blockers { code } } }';
  const { createAutomation } = await ask(make, { input });
  expect(createAutomation).toEqual({ id: input.id, status: 'draft', active: false, blockers: [] });
  return input.id;
};
const publish = (id: string) => `mutation { publishAutomation(id: "${id}") { status active publishedVersion } }`;

describe('automations in GraphQL', () => {
  it('are made, published, listed and deleted, and refused with what stands against them', async () => {
    const id = await made({ name: 'Listed', triggerEvent: 'deal.won' });
    expect((await ask(publish(id))).publishAutomation).toEqual({ status: 'published', active: true, publishedVersion: 1 });
    const found = await ask(`{ automations(where: { name: { eq: "Listed" } }) { totalCount nodes { id triggerEvent } }
      automation(id: "${id}") { name graph runs { totalCount } } node(id: "${id}") { __typename } }`);
    expect(found).toMatchObject({
      automations: { totalCount: 1, nodes: [{ id, triggerEvent: 'deal.won' }] },
      automation: { name: 'Listed', graph: { startNodeId: 'task' }, runs: { totalCount: 0 } },
      node: { __typename: 'Automation' },
    });
    const broken = { startNodeId: 'task', nodes: [aTask('task', 'nowhere')] };
    const change =
      'mutation ($id: ID!, $input: UpdateAutomationInput!) { updateAutomation(id: $id, input: $input) { blockers { nodeId } } }';
    expect((await ask(change, { id, input: { graph: broken } })).updateAutomation.blockers).toContainEqual({ nodeId: 'task' });
    expectGraphQLRefusal(await key.gql(publish(id)), 422);
    expect((await ask(`mutation { deleteAutomation(id: "${id}") { deletedId } }`)).deleteAutomation.deletedId).toBe(id);
    expectGraphQLRefusal(await key.gql(`{ automation(id: "${id}") { id } }`), 404);
  });
});

describe('a run of an automation in GraphQL', () => {
  it('has its steps told live, and in its log and its explanation', async () => {
    const id = await made();
    await ask(publish(id));
    const contact = await acme.contact({ firstName: 'Ada' });
    const enroll = `mutation { enrollInAutomation(id: "${id}", input: { contactIds: ["${contact.id}"] }) { enrolled details { runId } } }`;
    const { enrollInAutomation } = await ask(enroll);
    const [{ runId }] = enrollInAutomation.details;
    const feed = socket.run(
      `subscription ($run: ID) { automationStepLogEvents(runId: $run, after: "0") {
        name automationStepLog { nodeId nth type status } changes causes { runId } } }`,
      { run: runId },
    );
    const [task, wait] = await feed.nth(2);
    expect(task).toMatchObject({
      ...{ name: 'automation_step_log.created', causes: [{ runId }] },
      automationStepLog: { nodeId: 'task', nth: 1, type: 'action', status: 'completed' },
    });
    expect(wait!.automationStepLog).toMatchObject({ nodeId: 'wait', nth: 2, type: 'wait' });
    const waiting = await ask(
      `{ automationRun(id: "${runId}") { status explanation { summary next { nodeId at } causes { runId } } contact { firstName } } }`,
    );
    expect(waiting.automationRun).toMatchObject({
      status: 'waiting',
      explanation: { next: { nodeId: 'wait' }, causes: [] },
      contact: { firstName: 'Ada' },
    });
    api.clock.advance(day);
    const all = await feed.nth(4);
    expect(
      all
        .slice(2)
        .map(({ name, automationStepLog: { nodeId } }) => [name, nodeId])
        .sort(),
    ).toEqual([
      ['automation_step_log.created', 'end'],
      ['automation_step_log.updated', 'wait'],
    ]);
    const over = await ask(`{ runOfAutomation(id: "${runId}", automationId: "${id}") { status endReason steps }
      automation(id: "${id}") { runs { nodes { id stepLogs(sort: nth, order: asc) { nodes { nodeId status } } } } }
      stepsOfAutomation(id: "${id}") { totalCount } automationAnalytics(id: "${id}") { triggerCount successCount }
      automationNodeStats(id: "${id}") { nodeId entered completed } }`);
    expect(over).toMatchObject({
      runOfAutomation: { status: 'success', endReason: 'completed', steps: 3 },
      automation: {
        runs: { nodes: [{ id: runId, stepLogs: { nodes: ['task', 'wait', 'end'].map((nodeId) => ({ nodeId, status: 'completed' })) } }] },
      },
      ...{ stepsOfAutomation: { totalCount: 3 }, automationAnalytics: { triggerCount: 1, successCount: 1 } },
    });
    expect(over.automationNodeStats).toEqual(
      expect.arrayContaining(['task', 'wait', 'end'].map((nodeId) => ({ nodeId, entered: 1, completed: 1 }))),
    );
    api.clock.reset();
  });
});

describe('a dry run of an automation in GraphQL', () => {
  it('is for a contact, and keeps nothing', async () => {
    const id = await made();
    const contact = await acme.contact({ firstName: 'Dora' });
    const dry = `mutation { dryRunAutomation(id: "${id}", input: { contactId: "${contact.id}" }) { outcome steps { nodeId status next } } }`;
    const tried = await expectNothingWritten(api, () => ask(dry));
    expect((tried as unknown as Loose).dryRunAutomation).toEqual({
      outcome: 'completed',
      steps: [
        { nodeId: 'task', status: 'completed', next: 'wait' },
        { nodeId: 'wait', status: 'completed', next: 'end' },
        { nodeId: 'end', status: 'completed', next: null },
      ],
    });
  });
});
