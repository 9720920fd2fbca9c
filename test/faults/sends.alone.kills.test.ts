import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Alone } from '../support/alone.js';
import { dataOf, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import { freePort, Simulators, type Vendor } from '../support/simulators.js';

jest.setTimeout(180_000);

// What one process was doing when it was killed and begins again with, on whichever database: there is no other that takes it up.
const patience = 45_000;

let vendors: Simulators;
let crm: Alone;
let people = 0;

beforeAll(async () => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  vendors = await Simulators.begin(publicUrl);
  crm = await Alone.begin({ ...vendors.settings, PORT: String(port), PUBLIC_URL: publicUrl, LEASE_SECONDS: '5' });
  // What a vendor is told to do next is for ours.
  await eventually(() => vendors.sentTo('alone@example.com').length > 0, patience);
  const userId = dataOf(await crm.caller.get('/users')).data[0].id;
  dataOf(await crm.caller.post('/settings/numbers', { number: vendors.settings.TWILIO_FROM }));
  dataOf(await crm.caller.put('/settings/vendor-line', { apiKey: 'line_acme' }));
  dataOf(await crm.caller.put('/settings/vendor-line/lines/acme-1', { userId }));
});
afterAll(async () => {
  await crm?.end();
  await vendors?.end();
});

async function person(): Promise<Loose> {
  const nth = String(++people).padStart(4, '0');
  return dataOf(await crm.caller.post('/contacts', { email: `alone${nth}@example.com`, phone: `+1415779${nth}` }));
}
const messageOf = async ({ id }: Loose): Promise<Loose> => dataOf(await crm.caller.get(`/messages?contact_id=${id}`)).data[0];
const text = (contactId: string, more: Loose) => crm.caller.post('/messages/sms/send', { contactId, body: 'Hello', ...more });
const keyOf = ({ id }: Loose) => ({ idempotencyKey: `alone ${id}` });

interface Channel {
  vendor: Vendor;
  send(contact: Loose): Promise<unknown>;
  address(contact: Loose): string;
}
const channels: Record<string, Channel> = {
  'an e-mail': {
    vendor: 'mail',
    send: ({ id }) => crm.caller.post('/email/send', { contactId: id, subject: 'Offer', body: 'Hello' }),
    address: ({ email }) => email,
  },
  'a line': {
    vendor: 'line',
    send: (contact) => text(contact.id, { transport: 'vendor_line', ...keyOf(contact) }),
    address: ({ phone }) => phone,
  },
  'a text message': { vendor: 'sms', send: (contact) => text(contact.id, keyOf(contact)), address: ({ phone }) => phone },
};

/** Kills the process while the vendor has what it was handed, and says nothing. Answers how many it had taken by then. */
async function killedWhile(channel: string, kind: 'hold' | 'hang', contact: Loose): Promise<number> {
  const { vendor, send, address } = channels[channel]!;
  await vendors.tell(vendor, 'next', { kind });
  const ended = send(contact).catch(() => 'cut');
  await vendors.met(vendor);
  await eventually(() => vendors.sentTo(address(contact)).length === (kind === 'hang' ? 1 : 0), patience);
  await crm.process.kill();
  expect(await ended).toBe('cut');
  return vendors.sentTo(address(contact)).length;
}

const begun = ['hold', 'hang'] as const;

it.each(['an e-mail', 'a line'].flatMap((channel) => begun.map((kind) => [channel, kind] as const)))(
  'sends %s by itself, once, where its vendor did %s it',
  async (channel, kind) => {
    const contact = await person();
    await killedWhile(channel, kind, contact);
    await crm.start();
    await eventually(async () => (await messageOf(contact)).status === 'sent', patience);
    expect(vendors.sentTo(channels[channel]!.address(contact))).toHaveLength(1);
  },
);

it.each(begun)('never sends a text message by guess, where its vendor did %s it', async (kind) => {
  const contact = await person();
  const taken = await killedWhile('a text message', kind, contact);
  await crm.start();
  await eventually(async () => (await messageOf(contact)).error === 'unconfirmed', patience);
  expect([(await messageOf(contact)).status, vendors.sentTo(contact.phone).length]).toEqual(['sending', taken]);
  const sent = dataOf(await text(contact.id, keyOf(contact)));
  expect(sent.status).toBe('sent');
  expect(dataOf(await text(contact.id, keyOf(contact)))).toEqual(sent);
  expect(vendors.sentTo(contact.phone)).toHaveLength(taken + 1);
});

/** Kills the process once the vendor has answered and before anything is kept of it, which has to wait for the contact. */
async function killedUnsettled(channel: string, contact: Loose): Promise<void> {
  const holder = new pg.Client(crm.databaseUrl);
  await holder.connect();
  await holder.query('begin');
  await holder.query('select 1 from contacts where id = $1 for no key update', [contact.id]);
  const ended = channels[channel]!.send(contact).catch(() => 'cut');
  const waiting = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await eventually(async () => (await holder.query(waiting)).rows.length > 0, patience);
  expect(vendors.sentTo(channels[channel]!.address(contact))).toHaveLength(1);
  await crm.process.kill();
  // What has begun in the database would be done all the same.
  await holder.query(`select pg_terminate_backend(pid) from (${waiting}) w`);
  await holder.query('rollback');
  await holder.end();
  expect(await ended).toBe('cut');
}

onPostgres(describe)('a process that was killed between the answer of a vendor and what is kept of it', () => {
  it.each(['an e-mail', 'a line'])('has sent %s once', async (channel) => {
    const contact = await person();
    await killedUnsettled(channel, contact);
    await crm.start();
    await eventually(async () => (await messageOf(contact)).status === 'sent', patience);
    expect(vendors.sentTo(channels[channel]!.address(contact))).toHaveLength(1);
  });

  it('does not know of a text message, and leaves it to the client', async () => {
    const contact = await person();
    await killedUnsettled('a text message', contact);
    await crm.start();
    await eventually(async () => (await messageOf(contact)).error === 'unconfirmed', patience);
    expect([(await messageOf(contact)).status, vendors.sentTo(contact.phone).length]).toEqual(['sending', 1]);
  });
});

it('gives up a mail in whose middle it is killed again and again, which is one mail all the same', async () => {
  const contact = await person();
  await vendors.tell('mail', 'next', { kind: 'hang' });
  const body = { contactIds: [contact.id], subject: 'News', body: 'Hello' };
  expect(dataOf(await crm.caller.post('/email/send-bulk', body))).toMatchObject({ sent: 1 });
  /** Kills it once it has handed the mail over; as many more kills are made up. */
  const killed = async (more: number) => {
    await vendors.met('mail');
    await vendors.tell('mail', 'next', { kind: 'hang' });
    await crm.onceStopped(async ({ execute }) => {
      await execute('update messages set leased_until = now() where leased_until is not null', []);
      await execute('update due_lapses set n = n + $1::int', [more]);
    });
    await crm.start();
  };
  await killed(0);
  await killed(4);
  const message = await eventually(async () => {
    const seen = await messageOf(contact);
    return seen.status === 'failed' && seen;
  }, patience);
  expect(message).toMatchObject({ error: 'interrupted', sentAt: null });
  expect(vendors.sentTo(contact.email)).toHaveLength(1);
});
