import { afterAll, expect, it } from '@jest/globals';
import pg from 'pg';
import twilio from 'twilio';
import { v4 } from 'uuid';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { type Account, dataOf, type Loose, onPostgres, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
let ours: string;
let outside: pg.Client;

const connected = async () => {
  const client = new pg.Client(api.place.databaseUrl);
  await client.connect();
  return client;
};

/** How many statements of the server wait for a lock. */
const waiting = async (): Promise<number> => {
  const { rows } = await outside.query("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'");
  return rows.length;
};
const wait = (most: number) => eventually(async () => (await waiting()) >= most, 20_000);

/** Holds a note of a contact, up to which the merge of that contact comes; answers what lets it go on. */
async function holdNote(contactId: string): Promise<() => Promise<void>> {
  const { id } = dataOf(await acme.owner.post('/notes', { body: 'Held', contactId }));
  const holder = await connected();
  await holder.query('begin');
  await holder.query('select 1 from notes where id = $1 for update', [id]);
  return async () => {
    await holder.query('commit');
    await holder.end();
  };
}

async function stop(from: string): Promise<{ status: number }> {
  const { authToken } = await (api.app.vendors.sms as SimulatedSms).simulator.config();
  const path = '/webhooks/twilio/sms';
  const form = { From: from, To: ours, Body: 'STOP', MessageSid: `SM${v4()}` };
  const signature = twilio.getExpectedTwilioSignature(authToken, `${api.app.config.publicUrl}${path}`, form);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
  return api.anybody().raw({ method: 'POST', path, headers, payload: new URLSearchParams(form).toString() });
}

onPostgres(it)('an opt-out stays with whom its contact is merged into at that moment, one merge after the other', async () => {
  api = await server();
  acme = await api.seed.account();
  outside = await connected();
  const [free] = dataOf(await acme.owner.get('/settings/numbers/available'));
  ours = dataOf(await acme.owner.post('/settings/numbers', { number: free.number })).number;
  const phone = '+14157770123';
  const known: Loose = await acme.contact({ phone });
  const pairs = [];
  for (let n = 0; n < 2; n++)
    pairs.push({ primary: (await acme.contact({ firstName: 'Kept' })).id, secondary: (await acme.contact({ phone })).id });
  const [first, second] = pairs as [Loose, Loose];
  // Before anything waits, which it does for two seconds at most.
  const letGo = [await holdNote(first.secondary), await holdNote(second.secondary)] as const;
  const merge = ({ primary, secondary }: Loose) => acme.owner.post('/contacts/merge', { primaryId: primary, secondaryId: secondary });
  const mergedFirst = merge(first);
  await wait(1);
  const mergedSecond = merge(second);
  await wait(2);
  const stopped = stop(phone);
  await wait(3);
  await letGo[0]();
  dataOf(await mergedFirst);
  // It begins anew, and waits for the other one.
  await wait(2);
  await letGo[1]();
  dataOf(await mergedSecond);
  expect((await stopped).status).toBe(200);
  const optedOut = async (id: string) => dataOf(await acme.owner.get(`/contacts/${id}`)).optedOutSms;
  expect(await Promise.all([known.id, first.primary, second.primary].map(optedOut))).toEqual([true, true, true]);
});

afterAll(async () => {
  await outside?.end();
  await api?.close();
});
