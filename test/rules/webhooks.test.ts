import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { allPlaced, whileUnread } from '../support/automations.js';
import { attempted, failing } from '../support/deliveries.js';
import { type Account, dataOf, day, hour, type KeyClient, type Loose, second, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';
import { type Received, Receiver } from '../support/receiver.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let receiver: Receiver;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());
beforeEach(async () => {
  acme = await api.seed.account();
  key = await acme.key();
  receiver = await Receiver.open();
});
afterEach(() => receiver.close());

const webhook = async (fields: object = {}): Promise<Loose> =>
  dataOf(await key.post('/webhooks/manage', { url: receiver.url, events: ['contact.created'], ...fields }));
const payloads = (received: readonly Received[] = receiver.received): Loose[] => received.map(({ body }) => JSON.parse(body));
const deliveriesOf = async ({ id }: Loose): Promise<Loose[]> =>
  dataOf(await key.get(`/webhooks/manage/${id}/deliveries?per_page=200`)).data;

describe('an event', () => {
  it('is sent to each webhook that names it, with the record as it was then', async () => {
    const other = await Receiver.open();
    await webhook({ events: ['contact.updated', 'contact.created'] });
    await webhook({ events: ['deal.won'] });
    await webhook({ events: ['*'], url: other.url });
    await webhook({ isActive: false });
    const contact = await acme.contact({ firstName: 'Ada', customFields: { seats: 3 } });
    dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { firstName: 'Ada B.' }));
    await receiver.until(2);
    const [made, changed] = payloads().sort((a, b) => a.createdAt.localeCompare(b.createdAt));
    expect(made).toEqual({
      id: expect.any(String),
      event: 'contact.created',
      createdAt: expect.any(String),
      workspaceId: acme.id,
      data: contact,
    });
    expect(changed).toMatchObject({
      event: 'contact.updated',
      changes: { firstName: { from: 'Ada', to: 'Ada B.' } },
      data: { firstName: 'Ada B.' },
    });
    const events = dataOf(await key.get('/events?names=contact.created,contact.updated')).data;
    expect(events.map((event: Loose) => event.eventId).sort()).toEqual([made!.id, changed!.id].sort());
    const names = () => payloads(other.received).map(({ event }) => event);
    await eventually(() => names().filter((name) => name.startsWith('contact.')).length === 2);
    expect(names()).toContain('webhook.created');
    await other.close();
  });

  it('is sent as it was, not as it is on a later attempt', async () => {
    receiver.answer = (_, response, nth) => void response.writeHead(nth === 1 ? 500 : 200).end();
    const made = await webhook();
    const contact = await acme.contact({ firstName: 'Before' });
    await receiver.until(1);
    const [{ id }] = (await deliveriesOf(made)) as [Loose];
    await attempted(api, id, 1);
    dataOf(await acme.owner.del(`/contacts/${contact.id}`));
    api.clock.advance(61 * second);
    await receiver.until(2);
    api.clock.reset();
    expect(receiver.received[1]!.body).toBe(receiver.received[0]!.body);
    expect(payloads()[1]!.data).toEqual(contact);
  });
});

describe('a webhook that is new, or on again,', () => {
  it('is sent nothing of what happened before, however late the feed is read', async () => {
    const old = await webhook();
    let made: Loose = {};
    await whileUnread(acme, 'webhooks', async () => {
      await acme.contact({ firstName: 'Before' });
      dataOf(await key.patch(`/webhooks/manage/${old.id}`, { isActive: false }));
      await acme.contact({ firstName: 'Between' });
      await allPlaced(acme);
      dataOf(await key.patch(`/webhooks/manage/${old.id}`, { isActive: true }));
      made = await webhook();
    });
    await acme.contact({ firstName: 'After' });
    for (const { id } of [old, made]) {
      await eventually(async () => (await deliveriesOf({ id })).length > 0);
      const [first, ...more] = await deliveriesOf({ id });
      expect([first!.payload.data.firstName, more]).toEqual(['After', []]);
    }
  });
});

describe('a webhook that is given other names of events', () => {
  const [made, changed] = ['contact.created', 'contact.updated'];
  const patched = async ({ id }: Loose, events: string[]) => dataOf(await key.patch(`/webhooks/manage/${id}`, { events }));
  /** Which contacts' events it was sent, up to the last one that it is. */
  const sentTo = async (hook: Loose) => {
    await eventually(async () => (await deliveriesOf(hook)).some(({ payload }) => payload.data.firstName === 'After'));
    const own = (await deliveriesOf(hook)).filter(({ event }) => event.startsWith('contact.'));
    return own.map(({ event, payload }) => `${event} ${payload.data.firstName}`).sort();
  };

  it('is sent nothing from before of those that are new to it, and all of those that it had, however late the feed is read', async () => {
    const [further, all, fewer, again] = [[changed], [changed], ['*'], [made, changed]].map((events) => webhook({ events }));
    const each = { further: await further, all: await all, fewer: await fewer, again: await again };
    await whileUnread(acme, 'webhooks', async () => {
      const { id } = await acme.contact({ firstName: 'Before' });
      dataOf(await acme.owner.patch(`/contacts/${id}`, { firstName: 'Changed' }));
      await allPlaced(acme);
      await patched(each.further, [changed, made]);
      await patched(each.all, ['*']);
      await patched(each.fewer, [made, changed]);
      await patched(each.again, [changed]);
      await patched(each.again, [changed, made]);
      await patched(each.again, [made, changed]);
    });
    await acme.contact({ firstName: 'After' });
    const [old, late] = [[`${made} Before`], [`${made} After`, `${changed} Changed`]];
    expect(await sentTo(each.fewer)).toEqual([...late, ...old].sort());
    for (const hook of [each.further, each.all, each.again]) expect(await sentTo(hook)).toEqual(late);
  });

  it('is sent what it takes by * or by a name alike, whichever it was first', async () => {
    const hook = await webhook({ events: [changed] });
    await whileUnread(acme, 'webhooks', async () => {
      const { id } = await acme.contact({ firstName: 'Before' });
      dataOf(await acme.owner.patch(`/contacts/${id}`, { firstName: 'Changed' }));
      await allPlaced(acme);
      await patched(hook, ['*']);
      await acme.contact({ firstName: 'Between' });
      await allPlaced(acme);
      await patched(hook, [made]);
      await patched(hook, ['*']);
    });
    await acme.contact({ firstName: 'After' });
    expect(await sentTo(hook)).toEqual([`${made} After`, `${made} Between`]);
  });
});

describe('an event that is not for the workspace', () => {
  it('since it is for one person alone, goes nowhere', async () => {
    await webhook({ events: ['*'] });
    const filters = { field: 'firstName', op: 'eq', value: 'Ada' };
    for (const shared of [false, true]) dataOf(await acme.owner.post('/smart-lists', { name: `shared ${shared}`, filters, shared }));
    await eventually(() => payloads().some(({ event, data }) => event.startsWith('smart_list.') && data.name === 'shared true'));
    expect(payloads().filter(({ data }) => data.name === 'shared false')).toEqual([]);
  });

  it('since it is of another one, goes nowhere', async () => {
    await webhook({ events: ['*'] });
    await (await api.seed.account()).contact({ firstName: 'Foreign' });
    await acme.contact({ firstName: 'Own' });
    await eventually(() => payloads().some(({ data }) => data.firstName === 'Own'));
    expect(new Set(payloads().map(({ workspaceId }) => workspaceId))).toEqual(new Set([acme.id]));
    expect(receiver.received.some(({ body }) => body.includes('Foreign'))).toBe(false);
  });
});

describe('a webhook to which nothing but failures came of five days', () => {
  it('is switched off, what waits is cancelled, and owners and admins are told by mail', async () => {
    receiver.answer = (_, response) => void response.writeHead(500).end();
    const made = await webhook();
    const admin = await acme.member('admin');
    const member = await acme.member();
    const contact = async () => dataOf(await key.post('/contacts', { firstName: 'Ada' }));
    await contact();
    const first = await eventually(async () => (await deliveriesOf(made))[0]);
    await failing(api, first.id, 8);
    expect(dataOf(await key.get(`/webhooks/manage/${made.id}`))).toMatchObject({ isActive: true, disabledAt: null });
    api.clock.advance(7 * day);
    await contact();
    const second = (await eventually(async () => (await deliveriesOf(made)).find(({ id }) => id !== first.id))) as Loose;
    await failing(api, second.id, 7);
    // After days without an attempt those that failed say little: the delivery goes on.
    expect(dataOf(await key.get(`/webhooks/manage/${made.id}`))).toMatchObject({ isActive: true, disabledAt: null });
    await contact();
    await failing(api, second.id, 8);
    const off = await eventually(async () => {
      const now = dataOf(await key.get(`/webhooks/manage/${made.id}`));
      return !now.isActive && now;
    });
    expect(off.disabledAt).not.toBeNull();
    expect((await deliveriesOf(made)).map(({ status }) => status)).toEqual(['cancelled', 'failed', 'failed']);
    for (const to of [acme.ownerEmail, admin.email]) {
      const mail = await eventually(async () => (await mailsTo(api, to)).find(({ subject }) => /switched off/.test(subject)));
      expect(mail.body).toContain(made.id);
    }
    expect((await mailsTo(api, member.email)).filter(({ subject }) => /switched off/.test(subject))).toEqual([]);
    await allPlaced(acme);
    const told = dataOf(await key.get('/events?names=webhook.updated')).data;
    expect(told.at(-1)).toMatchObject({ changes: { isActive: { from: true, to: false } }, actor: { name: 'Webhooks' } });
    receiver.answer = (_, response) => void response.end();
    expect(dataOf(await key.patch(`/webhooks/manage/${made.id}`, { isActive: true }))).toMatchObject({
      disabledAt: null,
      failingSince: null,
    });
    await contact();
    await eventually(async () => (await deliveriesOf(made)).some(({ status }) => status === 'delivered'));
    api.clock.reset();
  });
});

describe('GET /webhooks/deliveries/{id}/explain', () => {
  it('says how a delivery stands, why, and what is next', async () => {
    receiver.answer = (_, response, nth) => void response.writeHead(nth === 1 ? 500 : 200).end();
    const made = await webhook();
    await acme.contact();
    const { id } = await eventually(async () => (await deliveriesOf(made))[0]);
    const { firstAttemptAt } = await attempted(api, id, 1);
    const explained = dataOf(await key.get(`/webhooks/deliveries/${id}/explain`));
    expect(explained).toMatchObject({ deliveryId: id, event: 'contact.created', status: 'pending', reason: 'retry', url: receiver.url });
    expect(explained.explanation).toMatch(/^Attempt 1 was answered by 500; the next one is due at /);
    expect(explained.attempts).toMatchObject([{ responseStatus: 500 }]);
    expect(explained.planned.map(({ attempt }: Loose) => attempt)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(Date.parse(explained.planned.at(-1).at) - firstAttemptAt.getTime()).toBe(72 * hour);
    api.clock.advance(61 * second);
    await attempted(api, id, 2);
    api.clock.reset();
    const { data } = await key.gql(
      `{ webhookDeliveryExplanation(id: "${id}") { reason explanation planned { at } attempts { responseStatus } } }`,
    );
    expect(data.webhookDeliveryExplanation).toEqual({
      ...{ reason: 'delivered', explanation: 'It arrived with 2 attempts: the last one was answered by 200.', planned: [] },
      attempts: [{ responseStatus: 500 }, { responseStatus: 200 }],
    });
  });
});

describe('GET /webhooks/deliveries/{id}/explain of what was late', () => {
  it('plans each attempt after the one before', async () => {
    receiver.answer = (_, response) => void response.writeHead(500).end();
    const made = await webhook();
    await acme.contact();
    const { id } = await eventually(async () => (await deliveriesOf(made))[0]);
    const { firstAttemptAt } = await attempted(api, id, 1);
    api.clock.advance(2 * hour);
    await attempted(api, id, 2);
    const { planned } = dataOf(await key.get(`/webhooks/deliveries/${id}/explain`));
    api.clock.reset();
    expect(planned.map(({ attempt }: Loose) => attempt)).toEqual([3, 4, 5, 6, 7, 8]);
    const after = planned.map(({ at }: Loose) => Date.parse(at) - firstAttemptAt.getTime());
    for (const [nth, at] of after.slice(1).entries()) expect(at - after[nth]).toBeGreaterThanOrEqual(30 * second);
    expect(after.slice(3)).toEqual([6 * hour, 24 * hour, 72 * hour]);
  });
});

describe('what a delivery costs', () => {
  it('is at most three statements, all in all', async () => {
    await webhook();
    const rows = Array.from({ length: 100 }, (_, n) => ({ firstName: `Row ${n}` }));
    const { id } = dataOf(await acme.owner.post('/imports', { rows }));
    const queries = async () => (await api.metrics.queries.get()).values.reduce((sum, { value }) => sum + value, 0);
    const begun = await queries();
    dataOf(await acme.owner.post(`/imports/${id}/process`));
    await receiver.until(100, 30_000);
    const all = (await queries()) - begun;
    // Without a webhook, the same import tells what it costs by itself, with the looks of idle workers.
    const beside = await api.seed.account();
    const other = dataOf(await beside.owner.post('/imports', { rows }));
    const before = await queries();
    dataOf(await beside.owner.post(`/imports/${other.id}/process`));
    await eventually(async () => dataOf(await beside.owner.get(`/imports/${other.id}`)).status === 'completed');
    expect((all - ((await queries()) - before)) / 100).toBeLessThanOrEqual(3);
  });
});
