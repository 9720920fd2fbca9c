import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Context } from '../../src/kernel/context/context.js';
import { refuseUntold } from '../../src/kernel/matching/untold.js';
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

describe('fields that change with another one, which is told in their place', () => {
  it.each([
    ['invoice.updated', 'changes.paidAt.to', 'status'],
    ['invoice.sent', 'changes.sentAt.to', 'status'],
    ['invoice.voided', 'changes.voidedAt.to', 'status'],
    ['invoice.updated', 'changes.subtotal.from', 'items'],
    ['invoice.updated', 'changes.taxAmount.to', 'total'],
    ['invoice.updated', 'changes.payments.amount.to', 'amountPaid'],
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
    const { rows } = await toldIn(acme, async () => {
      dataOf(await acme.owner.patch(`/invoices/${invoice.id}`, { taxRate: 0.1 }));
      dataOf(await acme.owner.post(`/invoices/${invoice.id}/send`));
      dataOf(await acme.owner.post(`/invoices/${invoice.id}/payments`, { amount: 132 }));
      dataOf(await acme.owner.patch(`/deals/${deal.id}`, { status: 'won' }));
    });
    for (const type of ['Invoice', 'Deal']) {
      const { toldBy = {} } = (api.app.registry.tables.get(type) as AnyTable).options;
      const changed = rows.flatMap(({ changes }: Loose) => Object.keys(changes ?? {}));
      expect([type, changed.filter((name: string) => Object.hasOwn(toldBy, name))]).toEqual([type, []]);
    }
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
