import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GraphQLObjectType, getNamedType } from 'graphql';
import type { Context } from '../../src/kernel/context/context.js';
import { refuseUntold } from '../../src/kernel/matching/untold.js';
import { recordFields } from '../../src/kernel/model/restRecord.js';
import type { AnyTable } from '../../src/kernel/tables/table.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { aNode } from '../support/automations.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer, toldIn } from '../support/index.js';

let api: TestServer;
let acme: Account;
let ctx: Context;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  ctx = (await actingForAccount(api.app, acme.id))!;
});
afterAll(() => api.close());

const making = (event: string, conditions: unknown) => acme.owner.post('/workflows', { name: 'W', trigger: { event, conditions } });

describe('conditions on a change that no event tells', () => {
  it.each([
    ['contact.updated', 'changes.leadScore.to'],
    ['contact.updated', 'changes.lastContactedAt.from'],
    ['contact.updated', 'changes.lastActivityAt.to'],
    ['contact.updated', 'changes.id.to'],
    ['contact.updated', 'changes.createdAt.from'],
    ['contact.updated', 'changes.updatedAt.to'],
    ['task.completed', 'changes.createdBy.to'],
    ['company.updated', 'changes.contactCount.to'],
    ['tag.updated', 'changes._count.contacts.to'],
    ['workflow.updated', 'changes.lastRunAt.to'],
    ['automation.updated', 'changes.runCount.to'],
    ['sequence.updated', 'changes.activeCount.to'],
    ['call_flow.updated', 'changes.callsToday.to'],
    ['deal.updated', 'changes.lastActivityAt.to'],
    ['conversation.updated', 'changes.messageCount.to'],
    ['user.updated', 'changes.lastActiveAt.to'],
    ['invoice.updated', 'changes.contact.firstName.to'],
  ])('are refused where they are new: of %s, %s', async (event, field) => {
    const one = { field, op: 'is_not_null' };
    expectRefusal(await making(event, { [field]: null }), 400, `trigger.conditions.${field}`);
    expectRefusal(await making(event, one), 400, 'trigger.conditions.field');
    expectRefusal(await making(event, { or: [{ not: one }, one] }), 400, 'trigger.conditions.or.0.not.field');
  });

  it('are all that changes without a word of it', () => {
    const fields = [...api.app.registry.tables].flatMap(([type, table]) => {
      const { withoutEvents = [], toldAtTimes = [] } = (table as AnyTable).options;
      return withoutEvents.filter((field) => !toldAtTimes.includes(field)).map((field) => [type, field] as const);
    });
    expect(fields.length).toBeGreaterThan(10);
    for (const [type, field] of fields)
      expect(() => refuseUntold(ctx, type, { [`changes.${field}.to`]: null }, 'at')).toThrow(expect.objectContaining({ status: 400 }));
  });

  it('stand against publishing an automation, wherever they are', async () => {
    const conditions = { 'changes.leadScore.to': 70 };
    const nodes = [
      aNode('wait', 'wait', { event: 'contact.updated', conditions }, 'branch'),
      aNode('branch', 'branch', {}, 'end', [{ when: conditions, next: 'end' }]),
      aNode('end', 'end'),
    ];
    const trigger = { triggerEvent: 'contact.updated', triggerConditions: conditions };
    const { id } = dataOf(await acme.owner.post('/automations', { name: 'A', ...trigger, graph: { startNodeId: 'wait', nodes } }));
    const reply = await acme.owner.post(`/automations/${id}/publish`);
    expect(reply.status).toBe(422);
    expect(reply.body.blockers.map(({ nodeId, code }: Loose) => [nodeId, code])).toEqual([
      [null, 'bad_condition'],
      ['wait', 'bad_condition'],
      ['branch', 'bad_branch'],
    ]);
  });
});

it.each([
  ['contact.updated', 'createdAt'],
  ['call.updated', 'startedAt'],
  ['enrollment.updated', 'enrolledAt'],
  ['message.updated', 'scheduledAt'],
])('a condition on a change of what never changes is refused as that: of %s, %s', async (event, name) => {
  const reply = await making(event, { [`changes.${name}.to`]: null });
  expectRefusal(reply, 400, `trigger.conditions.changes.${name}.to`);
  expect(reply.body.details[0].message).toMatch(new RegExp(`asks for a change of ${name}, which never changes$`));
});

describe('fields that change with another one, which is told in their place', () => {
  it.each([
    ['invoice.updated', 'changes.paidAt.to', 'status'],
    ['invoice.sent', 'changes.sentAt.to', 'status'],
    ['invoice.voided', 'changes.voidedAt.to', 'status'],
    ['invoice.updated', 'changes.subtotal.from', 'items'],
    ['invoice.updated', 'changes.taxAmount.to', 'total'],
    ['invoice.updated', 'changes.payments.amount.to', 'amountPaid'],
    ['invoice.updated', 'changes.items.amount.to', 'items'],
    ['sequence.updated', 'changes.steps.order.to', 'steps'],
    ['task.updated', 'changes.completedAt.to', 'status'],
    ['task.completed', 'changes.completedAt.from', 'status'],
    ['workflow.activated', 'changes.activatedAt.to', 'isActive'],
    ['call_flow.updated', 'changes.draftGraph.to', 'draftRevision'],
    ['deal.won', 'changes.closedAt.to', 'status'],
    ['deal.stage_changed', 'changes.stageEnteredAt.from', 'stageId'],
  ])('are refused with the name of that one: of %s, %s', async (event, field, instead) => {
    const reply = await making(event, { [field]: null });
    expectRefusal(reply, 400, `trigger.conditions.${field}`);
    expect(reply.body.details[0].message).toMatch(new RegExp(`, which no event tells; that of ${instead} is told$`));
    expectRefusal(await making(event, { field, op: 'is_not_null' }), 400, 'trigger.conditions.field');
  });

  it('are told by no event of their record', async () => {
    const invoice = await acme.invoice();
    const deal = await acme.deal();
    const task = await acme.task();
    const { rows } = await toldIn(acme, async () => {
      dataOf(await acme.owner.patch(`/tasks/${task.id}`, { status: 'done' }));
      dataOf(await acme.owner.patch(`/invoices/${invoice.id}`, { taxRate: 0.1 }));
      dataOf(await acme.owner.post(`/invoices/${invoice.id}/send`));
      dataOf(await acme.owner.post(`/invoices/${invoice.id}/payments`, { amount: 132 }));
      dataOf(await acme.owner.patch(`/deals/${deal.id}`, { status: 'won' }));
    });
    for (const type of ['Invoice', 'Deal', 'Task']) {
      const { toldBy = {} } = (api.app.registry.tables.get(type) as AnyTable).options;
      const changed = rows.flatMap(({ changes }: Loose) => Object.keys(changes ?? {}));
      expect([type, changed.filter((name: string) => Object.hasOwn(toldBy, name))]).toEqual([type, []]);
    }
  });
});

/** The members of records that are computed or moments: most of what changes with something else is one of these. */
const followers = (type: string): string[] => {
  const { computed = {} } = (api.app.registry.tables.get(type) as AnyTable | undefined)?.options ?? {};
  return recordFields(api.app.registry.schema().getType(type) as GraphQLObjectType)
    .filter(({ member, field }) => member in computed || getNamedType(field.type).name === 'DateTime')
    .map(({ shown }) => shown);
};

const isRefused = (type: string, name: string): boolean => {
  try {
    refuseUntold(ctx, type, { [`changes.${name}.to`]: null }, 'at');
    return false;
  } catch {
    return true;
  }
};

// One that is new belongs here only where the service of its record tells its changes, else into a list of its table: `toldBy`, `neverTold`
// or `fixed`.
it('moments and what is computed may be asked for where events of their record tell them, and nowhere else', () => {
  const events = [...api.app.registry.events].filter(([name, { startsNothing }]) => name.endsWith('.updated') && !startsNothing);
  const taken = events.map(([, { of }]) => [of.type, followers(of.type).filter((name) => !isRefused(of.type, name))] as const);
  expect(Object.fromEntries(taken.filter(([, names]) => names.length > 0).map(([type, names]) => [type, [...names].sort()]))).toEqual({
    ApiKey: ['expiresAt', 'ipAllowlist', 'scopes'],
    Appointment: ['endTime', 'startTime'],
    Automation: ['nextRunAt', 'publishedAt'],
    Call: ['endedAt'],
    CallFlow: ['publishedAt'],
    Conversation: ['closedAt'],
    Deal: ['appointmentAt'],
    Enrollment: ['endedAt', 'heldAt', 'lastEmailSentAt', 'nextEmailAt'],
    Form: ['archivedAt'],
    Invoice: ['status'],
    LiveCall: ['answeredAt', 'lineFreeAt'],
    Message: ['bouncedAt', 'clickedAt', 'deliveredAt', 'openedAt', 'readAt', 'repliedAt', 'sentAt', 'unsubscribedAt'],
    Product: ['archivedAt'],
    Task: ['dueDate'],
    User: ['email', 'permissions'],
    Webhook: ['disabledAt', 'failingSince', 'previousSecretUntil'],
  });
});

it('a workflow that asks for such a change already is read, activated, changed and deactivated', async () => {
  const { id } = dataOf(await making('contact.updated', { city: 'Oslo' }));
  const trigger = { event: 'contact.updated', conditions: { 'changes.leadScore.to': 70 } };
  await api.app.database.execute(`update workflows set "trigger" = '${JSON.stringify(trigger)}' where id = '${id}'`);
  expect(dataOf(await acme.owner.get(`/workflows/${id}`)).trigger).toEqual(trigger);
  dataOf(await acme.owner.post(`/workflows/${id}/activate`, {}));
  expect(dataOf(await acme.owner.patch(`/workflows/${id}`, { name: 'Renamed', trigger }))).toMatchObject({ name: 'Renamed', trigger });
  const other = { ...trigger, conditions: { 'changes.leadScore.to': 80 } };
  expectRefusal(await acme.owner.patch(`/workflows/${id}`, { trigger: other }), 400, 'trigger.conditions.changes.leadScore.to');
  dataOf(await acme.owner.post(`/workflows/${id}/deactivate`, {}));
});

it.each([
  ['contact.updated', 'changes.tags.to'],
  ['contact.updated', 'changes.companyId.from'],
  ['contact.updated', 'changes.attribution.utm_source.to'],
  ['contact.updated', 'changes.customFields.id.to'],
  ['contact.updated', 'leadScore'],
  ['deal.updated', 'changes.products.name.to'],
  ['conversation.updated', 'changes.unreadCount.to'],
  ['invoice.updated', 'changes.items.description.to'],
  ['invoice.updated', 'changes.amountPaid.to'],
  ['deal.won', 'changes.status.to'],
])('a condition that may hold is taken: of %s, %s', async (event, field) => {
  dataOf(await making(event, { [field]: null }));
});
