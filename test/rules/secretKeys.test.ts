import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { Webhook } from 'standardwebhooks';
import { sealOf } from '../../src/kernel/base/crypto.js';
import { newSecret, signingSecretOf } from '../../src/modules/webhooks/webhook.queue.js';
import { sweep } from '../../src/workers/sweeps.js';
import { actingFor, attempted, kept, queued } from '../support/deliveries.js';
import { type Account, dataOf, expectRefusal, minute, password, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';
import { Receiver } from '../support/receiver.js';

let api: TestServer;
let acme: Account;
let receiver: Receiver;
let first: string;
const [second, third] = ['the second key, which is in use by now', 'a third key, which is in use after that'];
beforeAll(async () => {
  api = await server();
  first = api.app.config.secretKey;
  receiver = await Receiver.open();
});
afterAll(async () => {
  await receiver.close();
  await api.close();
});

/** The server as it is once it was started with another key. */
const useKey = (secretKey: string, ...previousSecretKeys: string[]) => Object.assign(api.app.config, { secretKey, previousSecretKeys });

beforeEach(async () => {
  useKey(first);
  api.clock.reset();
  acme = await api.seed.account();
  receiver.received.length = 0;
  receiver.answer = (_request, response) => void response.end('ok');
});

/** What arrived last is signed by the secret. */
function expectSigned(secret: string) {
  const { headers, body } = receiver.received.at(-1)!;
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  const signature = new Webhook(secret).sign(headers['webhook-id'] as string, at, body);
  expect((headers['webhook-signature'] as string).split(' ')).toContain(signature);
}

/** Makes a contact, and waits until as many events have come in. */
async function delivered(count: number) {
  dataOf(await acme.owner.post('/contacts', { firstName: `Ada ${count}` }));
  await receiver.until(count);
}

describe('another SECRET_KEY, with the one before as SECRET_KEY_PREVIOUS,', () => {
  it('seals anew what is kept, so that the key before is needed no more for it', async () => {
    const { secret } = dataOf(await acme.owner.post('/webhooks/manage', { url: receiver.url, events: ['contact.created'] }));
    const { secret: mfa } = dataOf(await acme.owner.post('/auth/mfa/setup', { password }));
    dataOf(await acme.owner.put('/settings/vendor-line', { apiKey: 'line_keys' }));
    await delivered(1);
    expectSigned(secret);
    useKey(second, first);
    await delivered(2);
    expectSigned(secret);
    await sweep(api.app);
    const { prisma } = api.app.database;
    const sealed = [
      (await prisma.webhook.findFirstOrThrow({ where: { accountId: acme.id } })).secret,
      (await prisma.user.findFirstOrThrow({ where: { email: acme.ownerEmail } })).mfaSecret!,
      (await prisma.vendorConnection.findFirstOrThrow({ where: { accountId: acme.id } })).sealedKey,
    ];
    expect(sealed.filter((text) => !text.startsWith(sealOf(api.app)))).toEqual([]);
    useKey(second);
    await delivered(3);
    expectSigned(secret);
    const code = new TOTP({ secret: Secret.fromBase32(mfa) }).generate({ timestamp: api.clock.now().getTime() });
    expect(dataOf(await acme.owner.post('/auth/mfa/enable', { code })).recoveryCodes).toHaveLength(10);
    expect((await acme.owner.get('/settings/vendor-line/lines')).status).toBe(200);
  });

  it('seals anew what the version before sealed without naming its key, and the own secret of a delivery', async () => {
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    const own = newSecret(api.app);
    const id = await queued(api, acme, { url: receiver.url, secret: own });
    const { secret: sealed } = await attempted(api, id, 1);
    const older = `v1.${sealed.split('.').slice(-3).join('.')}`;
    await api.app.database.execute('update webhook_deliveries set secret = $1 where id = $2::uuid', [older, id]);
    useKey(third, second, first);
    // The look before found nothing of these keys: a process that was started with others looks at once.
    const again = Object.create(api.app);
    await sweep(again);
    useKey(third);
    expect((await kept(api, id)).secret.startsWith(sealOf(api.app))).toBe(true);
    receiver.answer = (_request, response) => void response.end('ok');
    api.clock.advance(minute);
    expect(await attempted(api, id, 2)).toMatchObject({ status: 'delivered' });
    expectSigned(own);
  });
});

it('a new key answers a request under an Idempotency-Key as the process before did, with credentials or without', async () => {
  const email = `keyed-${acme.id}@example.com`;
  const requests = [
    (name: string) => acme.owner.post('/contacts', { firstName: name }, { 'idempotency-key': 'a contact' }),
    (name: string) =>
      acme.owner.post('/webhooks/manage', { url: `${receiver.url}?${name}`, events: ['deal.won'] }, { 'idempotency-key': 'a webhook' }),
    (name: string) =>
      api.anybody().post('/auth/register', { email, password, accountName: name, name: 'Ada' }, { 'idempotency-key': 'somebody new' }),
  ];
  for (const request of requests) {
    useKey(first);
    const done = await request('Keyed');
    useKey(second, first);
    const again = await request('Keyed');
    expect(done.status).toBeLessThan(300);
    expect([again.status, again.headers['idempotent-replayed'], again.text]).toEqual([done.status, 'true', done.text]);
    expect((await request('Another')).status).toBe(409);
  }
});

describe('the key before another one', () => {
  it('is accepted for what it signed: addresses of feeds and recovery codes, and signs by both where a source has no secret', async () => {
    const calendar = dataOf(await acme.owner.post('/calendars', { name: 'Visits', timezone: 'Europe/Berlin' }));
    const { url } = dataOf(await acme.owner.get(`/calendars/${calendar.id}/feed`));
    const statusOf = async (address: string) => (await api.anybody().raw({ path: new URL(address).pathname })).status;
    const source = { kind: 'workflow', id: api.app.clock.id() } as const;
    const ctx = await actingFor(api, acme);
    const before = signingSecretOf(ctx, source);
    useKey(second, first);
    expect(await statusOf(url)).toBe(200);
    await attempted(api, await queued(api, acme, { url: receiver.url, source }), 1);
    expectSigned(before);
    expect(signingSecretOf(ctx, source)).not.toBe(before);
    expectSigned(signingSecretOf(ctx, source));
    const { url: now } = dataOf(await acme.owner.get(`/calendars/${calendar.id}/feed`));
    useKey(second);
    expect([await statusOf(url), await statusOf(now)]).toEqual([404, 200]);
  });

  it('is accepted for the links by which readers of mails to many unsubscribe, and no longer than it is configured', async () => {
    const paths: string[] = [];
    for (const n of [1, 2]) {
      const { id, email } = await acme.contact({ firstName: 'Ada', email: `keys-${n}-${acme.id}@example.com` });
      dataOf(await acme.owner.post('/email/send-bulk', { contactIds: [id], subject: 'News', body: 'Hello' }));
      const mail = await eventually(async () => (await mailsTo(api, email))[0]);
      paths.push(/<(.*)>/.exec(mail.headers['List-Unsubscribe'])![1]!.slice(api.app.config.publicUrl.length));
    }
    const statuses: number[] = [];
    for (const [n, path] of paths.entries()) {
      useKey(second, ...(n === 0 ? [first] : []));
      statuses.push((await api.anybody().raw({ method: 'POST', path })).status);
    }
    expect(statuses).toEqual([200, 404]);
  });
});

describe('a delivery whose secret cannot be read', () => {
  it('has failed for that reason, and goes once the key is there again', async () => {
    const own = newSecret(api.app);
    useKey(first);
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    const id = await queued(api, acme, { url: receiver.url, secret: own });
    await attempted(api, id, 1);
    useKey(second);
    api.clock.advance(minute);
    const failed = await attempted(api, id, 2);
    expect(failed).toMatchObject({ status: 'pending', error: 'secret_unreadable', responseStatus: null, leasedUntil: null });
    expect(receiver.received).toHaveLength(1);
    expect(api.logs.some((line) => line.includes('a delivery cannot be signed'))).toBe(true);
    useKey(second, first);
    receiver.answer = (_request, response) => void response.end('ok');
    api.clock.advance(4 * minute + 5000);
    expect(await attempted(api, id, 3)).toMatchObject({ status: 'delivered', error: null });
    expectSigned(own);
  });
});

describe('a webhook whose secret cannot be read', () => {
  const madeUnreadable = async () => {
    const { id } = dataOf(await acme.owner.post('/webhooks/manage', { url: receiver.url, events: ['contact.created'] }));
    useKey(second);
    return `/webhooks/manage/${id}`;
  };
  const toldOf = (path: string) =>
    api.logs.filter((line) => line.includes('the former secret of a webhook cannot be read') && line.includes(path.split('/').at(-1)!));

  it('fails a test, which says why', async () => {
    const reply = await acme.owner.post(`${await madeUnreadable()}/test`);
    expectRefusal(reply, 502);
    expect(reply.body).toMatchObject({ code: 'vendor_unavailable', success: false, statusCode: null });
    expect(reply.text).toContain('secret_unreadable');
    expect(receiver.received).toEqual([]);
  });

  it('is signed by the new one alone as soon as it has another', async () => {
    const path = await madeUnreadable();
    const { secret } = dataOf(await acme.owner.post(`${path}/rotate-secret`));
    await delivered(1);
    expectSigned(secret);
    const { headers } = receiver.received[0]!;
    expect([(headers['webhook-signature'] as string).split(' ').length, headers['x-service-signature-previous']]).toEqual([1, undefined]);
    expect(toldOf(path)).toHaveLength(1);
  });

  it('is told of once a minute at most, and not at each delivery', async () => {
    const path = await madeUnreadable();
    dataOf(await acme.owner.post(`${path}/rotate-secret`));
    for (const n of [1, 2, 3]) await delivered(n);
    expect(receiver.received).toHaveLength(3);
    expect(toldOf(path)).toHaveLength(1);
  });
});
