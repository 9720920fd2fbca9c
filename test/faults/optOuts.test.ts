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

/** Merges one contact into another, up to its note; answers what lets it go on. */
async function mergeUpToNote(primaryId: string, secondaryId: string, others: number): Promise<() => Promise<void>> {
  const { id } = dataOf(await acme.owner.post('/notes', { body: 'Held', contactId: secondaryId }));
  const holder = await connected();
  await holder.query('begin');
  await holder.query('select 1 from notes where id = $1 for update', [id]);
  const merged = acme.owner.post('/contacts/merge', { primaryId, secondaryId });
  await wait(others + 1);
  return async () => {
    await holder.query('commit');
    await holder.end();
    dataOf(await merged);
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
  const endFirst = await mergeUpToNote(first.primary, first.secondary, 0);
  const endSecond = await mergeUpToNote(second.primary, second.secondary, 1);
  const stopped = stop(phone);
  await wait(3);
  await endFirst();
  // It begins anew, and waits for the other one.
  await wait(2);
  await endSecond();
  expect((await stopped).status).toBe(200);
  const optedOut = async (id: string) => dataOf(await acme.owner.get(`/contacts/${id}`)).optedOutSms;
  expect(await Promise.all([known.id, first.primary, second.primary].map(optedOut))).toEqual([true, true, true]);
});

afterAll(async () => {
  await outside?.end();
  await api?.close();
});
