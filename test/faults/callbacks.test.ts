import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { anAgent, bye, entry, graph, loggedCall, pathOf, publishedOn, voiceNotice } from '../support/callFlows.js';
import { untilWaitingAgain, whileLocked } from '../support/heldUp.js';
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

const contactHeld = (id: string) => `select 1 from contacts where id = '${id}' for update`;

/** What a vendor tells while a row is locked, for longer than a statement waits: until it waits for the second time. */
const toldWhileLocked = (held: string, tell: () => Promise<Reply>): Promise<Reply> => whileLocked(api, held, tell, untilWaitingAgain);

onPostgres(describe)('what a vendor tells once, of a contact who is locked for longer than a statement waits', () => {
  const From = '+14155550177';
  let contact: Loose;
  beforeAll(async () => {
    contact = await acme.contact({ phone: From });
  });

  it('is kept: a text message', async () => {
    const form = { From, To: ours, Body: 'Are you there?', MessageSid: `SM${v4()}` };
    const reply = await toldWhileLocked(contactHeld(contact.id), () => voiceNotice(api, '/webhooks/twilio/sms', form));
    expect(reply.status).toBe(200);
    const { data } = dataOf(await acme.owner.get(`/messages?contact_id=${contact.id}`));
    expect(data.map(({ body }: Loose) => body)).toEqual(['Are you there?']);
  });

  it('is kept: that a call begins, and how it ends', async () => {
    await publishedOn(ours, graph(entry('bye'), bye), acme);
    const CallSid = `CA${v4()}`;
    const call = { CallSid, From, To: ours };
    const begun = await toldWhileLocked(contactHeld(contact.id), () => voiceNotice(api, '/webhooks/twilio/voice', call));
    expect(begun.status).toBe(200);
    const ended = await toldWhileLocked(contactHeld(contact.id), () =>
      voiceNotice(api, '/webhooks/twilio/voice/status', { ...call, CallStatus: 'completed', CallDuration: '7' }),
    );
    expect(ended.status).toBe(200);
    expect(await loggedCall(api, acme, CallSid)).toMatchObject({ contactId: contact.id, duration: 7 });
  });

  it('is kept: that a call goes on', async () => {
    const { userId, phone } = await anAgent(acme, '+14155550178');
    const menu = { id: 'menu', kind: 'menu', text: 'Press one', options: [{ digit: '1', next: 'ring' }], next: 'bye' };
    const ring = { id: 'ring', kind: 'agent', userId, ringSeconds: 5, next: 'bye' };
    const [free] = dataOf(await acme.owner.get('/settings/numbers/available'));
    const { number: To } = dataOf(await acme.owner.post('/settings/numbers', { number: free.number }));
    await publishedOn(To, graph(entry('menu'), menu, ring, bye), acme);
    const call = { CallSid: `CA${v4()}`, From, To };
    const begun = await voiceNotice(api, '/webhooks/twilio/voice', call);
    const [, pressed] = /<Gather[^>]* action="([^"]+)"/.exec(begun.text)!;
    const held = `select 1 from live_calls where provider_id = '${call.CallSid}' for update`;
    const rung = await toldWhileLocked(held, () => voiceNotice(api, pathOf(api, pressed!), { ...call, Digits: '1' }));
    expect([rung.status, rung.text]).toEqual([200, expect.stringContaining(phone)]);
  });
});
