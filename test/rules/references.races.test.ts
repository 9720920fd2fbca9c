import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import twilio from 'twilio';
import { v4 } from 'uuid';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { aFlow, entry, graph, loggedCall, publish, voiceNotice } from '../support/callFlows.js';
import { type Account, dataOf, type Loose, onPostgres, type Reply, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let ours: string;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const [free] = dataOf(await acme.owner.get('/settings/numbers/available'));
  ours = dataOf(await acme.owner.post('/settings/numbers', { number: free.number })).number;
});
afterAll(() => api.close());

const rounds = Array.from({ length: 6 }, (_, n) => n);
const few = Array.from({ length: 6 }, (_, n) => n);
const made = (replies: Reply[]): string[] => replies.filter(({ status }) => status === 201).map((reply) => dataOf(reply).id);

/** None is an error of the server, and what was refused is refused for the field that names who is gone. */
function expectRefusalsOf(replies: Reply[], field: string): void {
  for (const { status, body } of replies) {
    expect([200, 201, 400]).toContain(status);
    if (status === 400) expect(body.details.map((detail: Loose) => detail.field)).toEqual([field]);
  }
}

const contactOf = async (table: string, id: string): Promise<string> => {
  const rows = await api.app.database.prisma.$queryRawUnsafe<{ contact_id: string }[]>(
    `select contact_id::text from ${table} where id = '${id}'`,
  );
  return rows[0]!.contact_id;
};

onPostgres(describe)('what is written about a contact while it is merged', () => {
  const item = { description: 'Work', quantity: 1, unitPrice: 10 };
  const kinds: [string, string, (contactId: string, pipeline: Loose) => object][] = [
    ['tasks', '/tasks', (contactId) => ({ title: 'Call', contactId })],
    ['notes', '/notes', (contactId) => ({ body: 'Called', contactId })],
    ['deals', '/deals', (contactId, { id, stages }) => ({ title: 'Sale', contactId, pipelineId: id, stageId: stages[0].id })],
    ['calls', '/calls', (contactId) => ({ contactId, direction: 'outbound', fromNumber: '+14155550100', toNumber: '+14155550101' })],
    ['invoices', '/invoices', (contactId) => ({ contactId, items: [item] })],
    ['messages', '/messages', (contactId) => ({ contactId, channel: 'sms', direction: 'outbound', body: 'Hello' })],
  ];

  it.each(kinds)('is about the contact that is kept: %s', async (table, path, body) => {
    const pipeline = await acme.pipeline();
    for (const _ of rounds) {
      const [kept, gone] = [await acme.contact(), await acme.contact()];
      const writes = few.map(() => acme.owner.post(path, body(gone.id, pipeline)));
      const merge = acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id });
      const more = few.map(() => acme.owner.post(path, body(gone.id, pipeline)));
      const [merged, replies] = await Promise.all([merge, Promise.all([...writes, ...more])]);
      expect(merged.status).toBe(200);
      expectRefusalsOf(replies, 'contactId');
      for (const id of made(replies)) expect(await contactOf(table, id)).toBe(kept.id);
    }
  });

  it('is about the contact that is kept: a text that comes in', async () => {
    const { authToken } = await (api.app.vendors.sms as SimulatedSms).simulator.config();
    const path = '/webhooks/twilio/sms';
    let people = 0;
    const send = (From: string) => {
      const form = { From, To: ours, Body: 'Hello', MessageSid: `SM${v4()}` };
      const signature = twilio.getExpectedTwilioSignature(authToken, `${api.app.config.publicUrl}${path}`, form);
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
      return api.anybody().raw({ method: 'POST', path, headers, payload: new URLSearchParams(form).toString() });
    };
    for (const _ of rounds) {
      const phone = `+1415888${String(++people).padStart(4, '0')}`;
      const [kept, gone] = [await acme.contact({ firstName: 'Kept' }), await acme.contact({ firstName: 'Gone', phone })];
      const merge = acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id });
      const [merged, ...texts] = await Promise.all([merge, ...few.map(() => send(phone))]);
      expect([merged.status, ...texts.map(({ status }) => status)]).toEqual([200, ...few.map(() => 200)]);
      expect(dataOf(await acme.owner.get(`/messages?contact_id=${kept.id}`)).data).toHaveLength(few.length);
    }
  });
});

onPostgres(describe)('a call of somebody who is merged', () => {
  it('is with the contact that is kept, whether it begins, goes on or ends meanwhile', async () => {
    const bye = { id: 'bye', kind: 'hangup' };
    const number = dataOf(await acme.owner.get('/settings/numbers/available'))[0].number as string;
    dataOf(await publish(acme, await aFlow(acme, { phoneNumber: number, draftGraph: graph(entry('bye'), bye) })));
    const told = (sid: string, From: string, ends = false) => {
      const form = { CallSid: sid, From, To: number, ...(ends && { CallStatus: 'completed', CallDuration: '5' }) };
      return voiceNotice(api, `/webhooks/twilio/voice${ends ? '/status' : ''}`, form);
    };
    for (const round of Array.from({ length: 20 }, (_, n) => n)) {
      const phone = `+1415777${String(round).padStart(4, '0')}`;
      const [kept, gone] = [await acme.contact({ firstName: 'Kept' }), await acme.contact({ firstName: 'Gone', phone })];
      const sids = few.map((n) => `CAmerged${round}-${n}`);
      for (const sid of sids.slice(0, 3)) await told(sid, phone);
      const merge = acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id });
      const calls = [...sids.slice(0, 3).map((sid) => told(sid, phone, true)), ...sids.slice(3).map((sid) => told(sid, phone))];
      const [merged, ...replies] = await Promise.all([merge, ...calls]);
      expect([merged.status, ...replies.map(({ status }) => status)]).toEqual([200, ...few.map(() => 200)]);
      for (const sid of sids.slice(3)) await told(sid, phone, true);
      for (const sid of sids) expect(await loggedCall(api, acme, sid)).toMatchObject({ contactId: kept.id });
    }
  });
});

onPostgres(describe)('what is given to a person while they are removed', () => {
  it('is nobody’s afterwards, also a hundred contacts at once', async () => {
    const ids = await Promise.all(Array.from({ length: 100 }, async () => (await acme.contact()).id as string));
    for (const _ of rounds) {
      const { userId } = await acme.member();
      const edit = acme.owner.post('/bulk/contacts/edit', { ids, changes: { assignedTo: userId } });
      const single = few.map((n) => acme.owner.patch(`/contacts/${ids[n]}`, { assignedTo: userId }));
      const tasks = few.map(() => acme.owner.post('/tasks', { title: 'Call', assignedTo: userId }));
      const [removed, edited, replies] = await Promise.all([acme.owner.del(`/users/${userId}`), edit, Promise.all([...single, ...tasks])]);
      expect([removed.status, edited.status < 500]).toEqual([200, true]);
      expectRefusalsOf(replies, 'assignedTo');
      for (const path of ['contacts', 'tasks']) expect(dataOf(await acme.owner.get(`/${path}?assigned_to=${userId}`)).data).toEqual([]);
    }
  });
});

onPostgres(describe)('what is linked to a company while it is deleted', () => {
  it('is without it afterwards', async () => {
    for (const _ of rounds) {
      const { id } = await acme.company();
      const contact = () => acme.owner.post('/contacts', { firstName: 'Ada', companyId: id });
      const company = () => acme.owner.post('/companies', { name: 'Below', parentCompanyId: id });
      const before = few.flatMap(() => [contact(), company()]);
      const gone = acme.owner.del(`/companies/${id}`);
      const after = few.flatMap(() => [contact(), company()]);
      const [deleted, replies] = await Promise.all([gone, Promise.all([...before, ...after])]);
      expect(deleted.status).toBe(200);
      for (const { status } of replies) expect([201, 400]).toContain(status);
      const { prisma } = api.app.database;
      expect(await prisma.contact.count({ where: { accountId: acme.id, companyId: id } })).toBe(0);
      expect(await prisma.company.count({ where: { accountId: acme.id, parentCompanyId: id } })).toBe(0);
    }
  });
});

describe('holding what a record names', () => {
  it('takes no statement of its own', async () => {
    const [{ userId }, company, contact] = [await acme.member(), await acme.company(), await acme.contact()];
    const links = { companyId: company.id, assignedTo: userId };
    const other = await acme.member();
    let n = 0;
    // Whoever looks for work beside it asks, too, and on a machine that is busy with every run.
    const least = async (work: () => Promise<unknown>): Promise<number> => {
      const counts: number[] = [];
      for (let run = 0; run < 4; run++) counts.push(await api.statements(work));
      return Math.min(...counts);
    };
    const counts = {
      contact: await least(async () => dataOf(await acme.owner.post('/contacts', { firstName: 'Ada', ...links }))),
      task: await least(async () => dataOf(await acme.owner.post('/tasks', { title: 'Call', contactId: contact.id }))),
      patched: await least(async () =>
        dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { assignedTo: n++ % 2 ? userId : other.userId })),
      ),
    };
    expect(counts).toEqual({ contact: 1, task: 1, patched: 2 });
  });
});
