import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Alone } from '../support/alone.js';
import { dataOf, type Loose } from '../support/index.js';
import { eventually } from '../support/live.js';
import { Receiver } from '../support/receiver.js';
import { freePort, Simulators } from '../support/simulators.js';

/** KILLS: how often the server is killed while people write, text, and workflows and webhooks react to it. */
const kills = Number(process.env.KILLS ?? 50);
const writers = 4;
/** How long what was begun may take to end once nothing is killed any more. */
const patience = 400_000;

jest.setTimeout(kills * 20_000 + 2 * patience);

let vendors: Simulators;
let receiver: Receiver;
let crm: Alone;
/** Resolves when the server is up again. */
let up: Promise<unknown> = Promise.resolve();
let over = false;
/** The contacts that were acknowledged, with how often a text was asked for. */
const people: { id: string; email: string; phone: string; asked: number }[] = [];

const get = async (path: string): Promise<Loose> => dataOf(await crm.caller.get(path));

/** Asks until there is an answer that is not of the moment. */
async function answered(ask: () => Promise<{ status: number }>): Promise<Loose> {
  for (;;) {
    await up;
    const reply = await ask().catch(() => undefined);
    if (reply && reply.status < 500 && reply.status !== 409) return dataOf(reply as never);
    await setTimeout(50);
  }
}

async function write(writer: number): Promise<void> {
  for (let n = 0; !over; n++) {
    const nth = `${writer}${String(n).padStart(4, '0')}`;
    const given = { firstName: `P${nth}`, email: `p${nth}@example.com`, phone: `+141555${nth}` };
    const once = { 'idempotency-key': `contact ${nth}` };
    const { id } = await answered(() => crm.caller.post('/contacts', given, once));
    const person = { id, email: given.email, phone: given.phone, asked: 0 };
    people.push(person);
    const text = { contactId: id, body: 'Hello', idempotencyKey: `text ${nth}` };
    await answered(() => {
      person.asked++;
      return crm.caller.post('/messages/sms/send', text);
    });
    await setTimeout(Math.random() * 100);
  }
}

/** Kills it in the middle of something, each time once more was done: what no process has the time for is given up in the end. */
async function killing(): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    const wanted = people.length + 2 + Math.random() * 2 * writers;
    await eventually(() => people.length >= wanted, patience);
    await setTimeout(Math.random() * 200);
    up = crm.process.kill().then(() => crm.start());
    await up;
  }
  over = true;
}

/** All events of these names. */
async function told(names: string[]): Promise<Loose[]> {
  const events: Loose[] = [];
  for (;;) {
    const { data } = await get(`/events?per_page=200&after=${events.at(-1)?.id ?? 0}`);
    if (data.length === 0) return events.filter(({ name }) => names.includes(name));
    events.push(...data);
  }
}

const names = ['contact.created', 'contact.updated', 'message.sent', 'task.created'];
let workflow: Loose;

beforeAll(async () => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  vendors = await Simulators.begin(publicUrl);
  receiver = await Receiver.open();
  crm = await Alone.begin({
    ...vendors.settings,
    ...{ PORT: String(port), PUBLIC_URL: publicUrl, LEASE_SECONDS: '8', WEBHOOK_ALLOW_PRIVATE: '1' },
  });
  dataOf(await crm.caller.post('/settings/numbers', { number: vendors.settings.TWILIO_FROM }));
  dataOf(await crm.caller.post('/webhooks/manage', { url: `${receiver.url}/registered`, events: names }));
  const actions = [
    { type: 'create_task', config: { title: 'Call {{contact.firstName}}' } },
    { type: 'send_email', config: { subject: 'Hello {{contact.firstName}}', body: 'B' } },
    { type: 'send_webhook', config: { url: `${receiver.url}/acted` } },
    { type: 'update_field', config: { field: 'jobTitle', value: 'Welcomed' } },
  ];
  workflow = dataOf(await crm.caller.post('/workflows', { name: 'W', trigger: { event: 'contact.created' }, actions }));
  dataOf(await crm.caller.post(`/workflows/${workflow.id}/activate`, {}));
});
afterAll(async () => {
  over = true;
  await crm?.end();
  await receiver?.close();
  await vendors?.end();
});

it(`people text, and workflows and webhooks react, while the server is killed ${kills} times`, async () => {
  await Promise.all([killing(), ...Array.from({ length: writers }, (_, n) => write(n))]);
  expect(people.length).toBeGreaterThan(2 * kills);
});

it('has run the workflow once for each contact, to its end', async () => {
  const page = async (n: number) => get(`/workflows/${workflow.id}/runs?per_page=200&page=${n}`);
  const runs = await eventually(async () => {
    const all: Loose[] = [];
    for (let n = 1; all.length === 200 * (n - 1); n++) all.push(...(await page(n)).data);
    return all.length >= people.length && all.every(({ status }) => status !== 'running') && all;
  }, patience);
  expect((runs as Loose[]).filter(({ status }) => status !== 'success')).toEqual([]);
  expect((runs as Loose[]).map(({ contactId }) => contactId).sort()).toEqual(people.map(({ id }) => id).sort());
});

it('has done each action once, and sent each mail once', async () => {
  const queued = async (): Promise<Loose[]> => (await get('/messages?status=queued&channel=email')).data;
  await eventually(async () => (await queued()).length === 0, patience).catch(async () => expect(await queued()).toEqual([]));
  const wrong: unknown[] = [];
  for (const { id, email } of people) {
    const [tasks, mails, contact] = [
      (await get(`/tasks?contact_id=${id}`)).meta.total,
      (await get(`/messages?contact_id=${id}&channel=email`)).data.map(({ status }: Loose) => status),
      await get(`/contacts/${id}`),
    ];
    const seen = [tasks, mails.join(), vendors.sentTo(email).length, contact.jobTitle];
    if (seen.join() !== '1,sent,1,Welcomed') wrong.push([email, ...seen]);
  }
  expect(wrong).toEqual([]);
});

it('has one message for each text, sent once where nobody asked again, and never by guess', async () => {
  const wrong: unknown[] = [];
  let unconfirmed = 0;
  for (const { id, phone, asked } of people) {
    const texts = await eventually(async () => {
      const { data } = await get(`/messages?contact_id=${id}&channel=sms`);
      return (data as Loose[]).every(({ status, error }) => status === 'sent' || error === 'unconfirmed') && (data as Loose[]);
    }, patience);
    const taken = vendors.sentTo(phone).length;
    const [text] = texts as Loose[];
    if (text?.status !== 'sent') unconfirmed++;
    const isWhole = texts && (texts as Loose[]).length === 1 && taken <= asked && (text!.status !== 'sent' || taken > 0);
    if (!isWhole) wrong.push([phone, texts, taken, asked]);
  }
  expect(wrong).toEqual([]);
  expect(unconfirmed).toBeLessThanOrEqual(kills * writers);
});

it('has told every webhook of every event at least once, each time in the same bytes', async () => {
  const events = await told(names);
  expect(events.length).toBeGreaterThan(3 * people.length);
  const bodies = new Map<string, Set<string>>();
  const received = () => {
    for (const { headers, body, path } of receiver.received.splice(0)) {
      const key = `${path.split('/').at(-1)} ${headers['webhook-id']}`;
      bodies.set(key, (bodies.get(key) ?? new Set()).add(body));
    }
    return events.filter(({ eventId }) => !bodies.has(`registered ${eventId}`));
  };
  await eventually(() => received().length === 0, patience);
  const registered = [...bodies.keys()].filter((key) => key.startsWith('registered '));
  expect(registered.length).toBe(events.length);
  expect([...bodies].filter(([, texts]) => texts.size > 1)).toEqual([]);
  await eventually(() => received() && [...bodies.keys()].filter((key) => key.startsWith('acted ')).length >= people.length, patience);
  expect([...bodies.keys()].filter((key) => key.startsWith('acted ')).length).toBe(people.length);
});
