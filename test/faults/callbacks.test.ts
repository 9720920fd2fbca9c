import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { bye, entry, graph, loggedCall, publishedOn, voiceNotice } from '../support/callFlows.js';
import { waitingIn, whileLocked } from '../support/heldUp.js';
import { type Account, dataOf, type Loose, onPostgres, type Reply, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

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

/** What a vendor tells while a contact is locked, for longer than a statement waits: until it waits for the second time. */
async function toldWhileLocked(contactId: string, tell: () => Promise<Reply>): Promise<Reply> {
  const held = `select 1 from contacts where id = '${contactId}' for update`;
  return whileLocked(api, held, tell, async (look) => {
    const first = await eventually(async () => (await waitingIn(look))[0]);
    await eventually(async () => (await waitingIn(look)).some(({ since }) => since.getTime() - first!.since.getTime() > 1000));
  });
}

onPostgres(describe)('what a vendor tells once, of a contact who is locked for longer than a statement waits', () => {
  const From = '+14155550177';
  let contact: Loose;
  beforeAll(async () => {
    contact = await acme.contact({ phone: From });
  });

  it('is kept: a text message', async () => {
    const form = { From, To: ours, Body: 'Are you there?', MessageSid: `SM${v4()}` };
    const reply = await toldWhileLocked(contact.id, () => voiceNotice(api, '/webhooks/twilio/sms', form));
    expect(reply.status).toBe(200);
    const { data } = dataOf(await acme.owner.get(`/messages?contact_id=${contact.id}`));
    expect(data.map(({ body }: Loose) => body)).toEqual(['Are you there?']);
  });

  it('is kept: that a call begins, and how it ends', async () => {
    await publishedOn(ours, graph(entry('bye'), bye), acme);
    const CallSid = `CA${v4()}`;
    const call = { CallSid, From, To: ours };
    const begun = await toldWhileLocked(contact.id, () => voiceNotice(api, '/webhooks/twilio/voice', call));
    expect(begun.status).toBe(200);
    const ended = await toldWhileLocked(contact.id, () =>
      voiceNotice(api, '/webhooks/twilio/voice/status', { ...call, CallStatus: 'completed', CallDuration: '7' }),
    );
    expect(ended.status).toBe(200);
    expect(await loggedCall(api, acme, CallSid)).toMatchObject({ contactId: contact.id, duration: 7 });
  });
});
