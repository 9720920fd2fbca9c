import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Alone } from '../support/alone.js';
import type { Client } from '../support/client.js';
import { dataOf, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import type { ServerProcess } from '../support/process.js';
import { aStep } from '../support/sequences.js';
import { freePort, Simulators, type Vendor } from '../support/simulators.js';

jest.setTimeout(120_000);

const patience = 45_000;
/** Longer than it takes to begin all that one kill is to meet. */
const lease = '6';

let vendors: Simulators;
let crm: Alone;
let other: { process: ServerProcess; caller: Client };
let people = 0;

async function person(): Promise<Loose> {
  const nth = String(++people).padStart(4, '0');
  return dataOf(await other.caller.post('/contacts', { email: `person${nth}@example.com`, phone: `+1415777${nth}` }));
}
const messagesOf = async ({ id }: Loose): Promise<Loose[]> => dataOf(await other.caller.get(`/messages?contact_id=${id}`)).data;
const outcome = async (contact: Loose) => (await messagesOf(contact)).map(({ status, error }) => [status, error]);

/** Of all that waits, not the workers of both processes, who look for deliveries one after the other. */
const waitingForRows = `select 1 from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query not like '%take_deliveries%'`;

/** Holds rows from outside while something is done, which is told how many statements wait for them. */
async function whileLocked(table: string, ids: string[], work: (waiting: () => Promise<number>) => Promise<void>): Promise<void> {
  const client = new pg.Client(crm.databaseUrl);
  await client.connect();
  try {
    await client.query('begin');
    await client.query(`select id from ${table} where id = any($1) for update`, [ids]);
    await work(async () => (await client.query(waitingForRows)).rows.length);
  } finally {
    await client.query('rollback');
    await client.end();
  }
}

const text = (at: Client, contactId: string, more: Loose) => at.post('/messages/sms/send', { contactId, body: 'Hello', ...more });
const mail = (at: Client, contactId: string) => at.post('/email/send', { contactId, subject: 'Offer', body: 'Hello' });

interface Channel {
  vendor: Vendor;
  send(at: Client, contact: Loose): Promise<unknown>;
  address(contact: Loose): string;
}
const primaryKey = ({ id }: Loose) => ({ idempotencyKey: `primary ${id}` });
const keptKey = ({ id }: Loose) => ({ idempotencyKey: `kept ${id}` });
const channels: Record<string, Channel> = {
  'an e-mail': { vendor: 'mail', send: (at, { id }) => mail(at, id), address: ({ email }) => email },
  'a line': {
    vendor: 'line',
    send: (at, { id }) => text(at, id, { transport: 'vendor_line', idempotencyKey: `line ${id}` }),
    address: ({ phone }) => phone,
  },
  'a text message': { vendor: 'sms', send: (at, contact) => text(at, contact.id, primaryKey(contact)), address: ({ phone }) => phone },
};

/** Something that was under way at the kill: how its request ended, and how many messages the vendor had then. */
interface Met {
  contact: Loose;
  ended: Promise<unknown>;
  address?: string;
  taken?: number;
}
const met = new Map<string, Met>();
const cut = (asked: Promise<unknown>) =>
  asked.then(
    () => 'answered',
    () => 'cut',
  );

/** Messages of a channel: one that the vendor holds before it takes it, one that it takes and says nothing. */
async function beginMessages(channel: string): Promise<void> {
  const { vendor, send, address } = channels[channel]!;
  for (const [kind, taken] of [
    ['hold', 0],
    ['hang', 1],
  ] as const) {
    const contact = await person();
    await vendors.tell(vendor, 'next', { kind });
    met.set(`${kind} ${channel}`, { contact, ended: cut(send(crm.caller, contact)), address: address(contact) });
    await vendors.met(vendor);
    await eventually(() => vendors.sentTo(address(contact)).length === taken, patience);
  }
}

const repliedBy = ({ id, phone }: Loose) => ({ from: phone, body: 'Are you there?', sid: `SM${id}` });

/** Kills the process while all of this is under way. */
async function killAmidAll(): Promise<void> {
  const [kept, told] = [await person(), await person()];
  await whileLocked('contacts', [kept.id, told.id], async (waiting) => {
    await Promise.all(Object.keys(channels).map(beginMessages));
    met.set('kept', { contact: kept, ended: cut(text(crm.caller, kept.id, keptKey(kept))) });
    // Else both may be committed together, and wait as one statement.
    await eventually(async () => (await waiting()) === 1, patience);
    met.set('told', { contact: told, ended: vendors.tell('sms', 'reply', repliedBy(told)) });
    await eventually(async () => (await waiting()) >= 2, patience);
    await crm.process.kill();
    for (const one of met.values()) if (one.address) one.taken = vendors.sentTo(one.address).length;
  });
}

/** What the mail server left without an answer is tried again after a minute: at once here, if it was the other process's. */
async function bringForward(): Promise<void> {
  const client = new pg.Client(crm.databaseUrl);
  await client.connect();
  await client.query("update messages set due_at = now() - interval '1 second' where due_at > now() and leased_until is null");
  await client.end();
}

/** Each has one message, which is sent, and one file. */
async function expectOneEach(all: Loose[]): Promise<void> {
  const areSent = async () => {
    await bringForward();
    return (await Promise.all(all.map(outcome))).every((one) => JSON.stringify(one) === '[["sent",null]]');
  };
  await eventually(areSent, patience);
  expect(all.map(({ email }) => vendors.sentTo(email).length)).toEqual(all.map(() => 1));
}

function twoProcesses(): void {
  beforeAll(async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    vendors = await Simulators.begin(publicUrl);
    crm = await Alone.begin({ ...vendors.settings, PORT: String(port), PUBLIC_URL: publicUrl, LEASE_SECONDS: lease });
    other = await crm.beside({ PORT: '0' });
    const userId = dataOf(await crm.caller.get('/users')).data[0].id;
    dataOf(await crm.caller.post('/settings/numbers', { number: vendors.settings.TWILIO_FROM }));
    dataOf(await crm.caller.put('/settings/vendor-line', { apiKey: 'line_acme' }));
    dataOf(await crm.caller.put('/settings/vendor-line/lines/acme-1', { userId }));
  });
  afterAll(async () => {
    await other.process.kill();
    await crm.end();
    await vendors.end();
  });
}

function vendorsThatKnowTheMessage(): void {
  it.each(['an e-mail', 'a line'])('before the vendor of %s took it is sent by the other, once', async (channel) => {
    const { contact, ended, taken } = met.get(`hold ${channel}`)!;
    expect([await ended, taken]).toEqual(['cut', 0]);
    await eventually(async () => (await messagesOf(contact))[0]?.status === 'sent', patience);
    expect(vendors.sentTo(channels[channel]!.address(contact))).toHaveLength(1);
    expect(await outcome(contact)).toEqual([['sent', null]]);
  });

  it.each(['an e-mail', 'a line'])(
    'after the vendor of %s took it is handed over again, and is the same message there',
    async (channel) => {
      const { contact, ended, taken } = met.get(`hang ${channel}`)!;
      expect([await ended, taken]).toEqual(['cut', 1]);
      await eventually(async () => (await messagesOf(contact))[0]?.status === 'sent', patience);
      expect(vendors.sentTo(channels[channel]!.address(contact))).toHaveLength(1);
      expect(await outcome(contact)).toEqual([['sent', null]]);
    },
  );
}

function textMessages(): void {
  // The database ends what it has begun, whoever asked for it is gone: the message may be kept.
  it('while a text message was being kept goes once when the client repeats it', async () => {
    const { contact, ended } = met.get('kept')!;
    const { id, phone } = contact;
    expect(await ended).toBe('cut');
    const sent = await eventually(async () => {
      const reply = await text(other.caller, id, keptKey(contact));
      expect([201, 409]).toContain(reply.status);
      return reply.status === 201 && dataOf(reply);
    }, patience);
    expect(dataOf(await text(other.caller, id, keptKey(contact)))).toEqual(sent);
    expect([await outcome({ id }), vendors.sentTo(phone).length]).toEqual([[['sent', null]], 1]);
  });

  it.each([
    ['before', 'hold', 0],
    ['after', 'hang', 1],
  ])('%s the vendor of text messages took it is never sent by guess', async (_when, kind, taken) => {
    const { contact, ended, ...at } = met.get(`${kind} a text message`)!;
    expect([await ended, at.taken]).toEqual(['cut', taken]);
    await eventually(async () => (await messagesOf(contact))[0]?.error === 'unconfirmed', patience);
    expect([await outcome(contact), vendors.sentTo(contact.phone).length]).toEqual([[['sending', 'unconfirmed']], taken]);
    // Only the client sends it again; what is settled then stays as it is.
    const sent = dataOf(await text(other.caller, contact.id, primaryKey(contact)));
    expect(sent.status).toBe('sent');
    expect(dataOf(await text(other.caller, contact.id, primaryKey(contact)))).toEqual(sent);
    expect(vendors.sentTo(contact.phone)).toHaveLength(taken + 1);
  });
}

function oneKey(): void {
  it('answered fifty requests with one key over both with one message', async () => {
    const { id, phone } = await person();
    const key = { idempotencyKey: `fifty ${id}` };
    const replies = await Promise.all(Array.from({ length: 50 }, (_, n) => text((n % 2 ? crm : other).caller, id, key)));
    const kept = replies.filter(({ status }) => status === 201).map(({ body }) => body.data.id);
    expect(replies.filter(({ status }) => status !== 201).map(({ body }) => body.code)).toEqual(
      Array(50 - kept.length).fill('send_in_progress'),
    );
    expect(new Set(kept).size).toBe(1);
    expect([await outcome({ id }), vendors.sentTo(phone).length]).toEqual([[['sent', null]], 1]);
  });
}

function manyMails(): void {
  it('within a bulk of thirty mails goes on with the other: one mail to each', async () => {
    const all = await Promise.all(Array.from({ length: 30 }, person));
    const count = () => all.filter(({ email }) => vendors.sentTo(email).length > 0).length;
    await vendors.tell('mail', 'next', { kind: 'hang' });
    const body = { contactIds: all.map(({ id }) => id), subject: 'News', body: 'Hello' };
    expect(dataOf(await crm.caller.post('/email/send-bulk', body))).toMatchObject({ sent: 30 });
    await eventually(() => count() >= 5, patience);
    await crm.process.kill();
    await expectOneEach(all);
  });

  it('within the steps of thirty runs goes on with the other: one mail of each step', async () => {
    await crm.start();
    const all = await Promise.all(Array.from({ length: 30 }, person));
    const { id } = dataOf(await crm.caller.post('/emails/sequences', { name: 'Killed', steps: [aStep(0)] }));
    await vendors.tell('mail', 'next', { kind: 'hang' });
    dataOf(await crm.caller.post(`/emails/sequences/${id}/enroll`, { contactIds: all.map((one) => one.id) }));
    await eventually(() => all.some(({ email }) => vendors.sentTo(email).length > 0), patience);
    await crm.process.kill();
    await expectOneEach(all);
    expect(dataOf(await other.caller.get(`/emails/sequences/${id}/stats`))).toMatchObject({ enrolled: 30, completed: 30, sent: 30 });
  });
}

function whatCameIn(): void {
  it('while somebody wrote is told again by the vendor, and kept once', async () => {
    const { contact, ended } = met.get('told')!;
    const told = repliedBy(contact);
    expect(await ended).not.toMatchObject({ status: 200 });
    // All of it is one statement, which the database may still have done: whoever tells it does not know.
    expect((await messagesOf(contact)).length).toBeLessThanOrEqual(1);
    await crm.start();
    expect(await vendors.tell('sms', 'reply', told)).toEqual({ status: 200 });
    expect(await vendors.tell('sms', 'reply', told)).toEqual({ status: 200 });
    expect((await messagesOf(contact)).map(({ body, status }) => [body, status])).toEqual([['Are you there?', 'received']]);
  });
}

onPostgres(describe)('what one of two processes was doing when it was killed', () => {
  twoProcesses();
  oneKey();
  describe('with all of this at once', () => {
    beforeAll(killAmidAll);
    vendorsThatKnowTheMessage();
    textMessages();
    whatCameIn();
  });
  manyMails();
});
