import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/kernel/base/clock.js';
import { mailsSent } from '../../src/modules/auth/auth.mail.js';
import { type MailBehaviour, SmtpSimulator } from '../../src/vendors/email/smtpSimulator.js';
import { type Account, dataOf, expectRefusal, password, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo, tokenMailed } from '../support/mail.js';

const outboxDir = mkdtempSync(join(tmpdir(), 'crm-mails-'));
const inbound = { url: 'http://127.0.0.1:9', secret: 'nobody brings any' };
const smtp = new SmtpSimulator({ outboxDir, clock: systemClock, inbound });
let base: string;
let api: TestServer;
let acme: Account;
beforeAll(async () => {
  const listening = await smtp.listen();
  base = listening.base;
  api = await server({ config: { smtpUrl: listening.smtpUrl } });
  acme = await api.seed.account();
  await mailsSent();
});
afterAll(async () => {
  await api.close();
  smtp.close();
  rmSync(outboxDir, { recursive: true, force: true });
});

/** What the mail server does with the next mail. */
const next = (behaviour: MailBehaviour) =>
  fetch(`${base}/simulator/next`, { method: 'POST', body: JSON.stringify(behaviour), headers: { 'content-type': 'application/json' } });
const mails = (address: string) => mailsTo({ outboxDir }, address);

/** The queue goes on with what has waited for its time. */
async function later(): Promise<void> {
  await api.app.database.execute(
    "update pgboss.job set start_after = now() - interval '1 second' where name = 'mailOfToken' and state in ('created', 'retry')",
  );
  api.app.jobs.wake('mailOfToken');
}
const waiting = async () => {
  const states = "'created', 'retry', 'active'";
  const { rows } = await api.app.database.execute(`select 1 from pgboss.job where name = 'mailOfToken' and state in (${states})`);
  return rows.length;
};
const allDone = async () => {
  await later();
  return (await waiting()) === 0;
};

describe('the mail of somebody who does not know of one', () => {
  it('comes after the mail server refused it for the moment: an invitation', async () => {
    const email = 'refused.invite@example.com';
    for (let n = 0; n < 2; n++) await next({ kind: 'refuse', status: 421 });
    dataOf(await acme.owner.post('/users/invite', { email }));
    await mailsSent();
    expect(await mails(email)).toEqual([]);
    await eventually(allDone);
    expect(await mails(email)).toHaveLength(1);
    const token = await tokenMailed({ outboxDir }, email, 'accept-invite');
    expect(dataOf(await api.anybody().post('/auth/accept-invite', { token, password })).account.id).toBe(acme.id);
  });

  it('comes after the mail server refused it for the moment: the link that verifies an address', async () => {
    await next({ kind: 'refuse', status: 451 });
    const account = await api.seed.account();
    await mailsSent();
    expect(await mails(account.ownerEmail)).toEqual([]);
    await eventually(allDone);
    const token = await tokenMailed({ outboxDir }, account.ownerEmail, 'verify-email');
    dataOf(await api.anybody().post('/auth/verify-email', { token }));
  });

  it('comes once where it went at first, and not at all once there is a newer one', async () => {
    const [once, twice] = ['once@example.com', 'twice@example.com'];
    dataOf(await acme.owner.post('/users/invite', { email: once }));
    await mailsSent();
    await next({ kind: 'refuse', status: 421 });
    dataOf(await acme.owner.post('/users/invite', { email: twice }));
    await mailsSent();
    dataOf(await acme.owner.post('/users/invite', { email: twice }));
    await mailsSent();
    await eventually(allDone);
    expect([(await mails(once)).length, (await mails(twice)).length]).toEqual([1, 1]);
    const token = await tokenMailed({ outboxDir }, twice, 'accept-invite');
    expect(dataOf(await api.anybody().post('/auth/accept-invite', { token, password })).account.id).toBe(acme.id);
  });

  it('is tried no more once it was refused for good', async () => {
    const email = 'nobody.there@example.com';
    for (let n = 0; n < 2; n++) await next({ kind: 'refuse', status: 550 });
    dataOf(await acme.owner.post('/users/invite', { email }));
    await mailsSent();
    await eventually(allDone);
    expect(await mails(email)).toEqual([]);
  });

  it('stands nowhere in the clear until it goes', async () => {
    await next({ kind: 'refuse', status: 421 });
    const email = 'sealed@example.com';
    dataOf(await acme.owner.post('/users/invite', { email }));
    await mailsSent();
    const { rows } = await api.app.database.execute("select data::text as data from pgboss.job where name = 'mailOfToken'");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toMatch(/token=|sealed@/);
    await eventually(allDone);
    expect(await mails(email)).toHaveLength(1);
  });
});

describe('the mail of an invitation', () => {
  it('does not come any more where it was withdrawn meanwhile', async () => {
    const email = 'withdrawn@example.com';
    await next({ kind: 'refuse', status: 421 });
    const { id } = dataOf(await acme.owner.post('/users/invite', { email }));
    await mailsSent();
    dataOf(await acme.owner.del(`/users/${id}`));
    await eventually(allDone);
    expect(await mails(email)).toEqual([]);
  });
});

describe('a test mail', () => {
  it('that the mail server refuses is answered 502, and the log says why', async () => {
    const { id } = dataOf(await acme.owner.post('/emails/templates', { name: 'Refused', channel: 'email', body: 'Hello' }));
    await next({ kind: 'refuse', status: 451 });
    const reply = await acme.owner.post('/emails/templates/test-send', { templateId: id, toEmail: 'tested@example.com' });
    expectRefusal(reply, 502);
    const [line] = api.logs.filter((told) => told.includes('a test mail was refused')).map((told) => JSON.parse(told));
    expect(line).toMatchObject({ level: 40, err: { type: 'MailRefused', message: expect.stringContaining('451') } });
  });

  it('goes to no address of somebody who has opted out or must not be contacted', async () => {
    const { id: templateId } = dataOf(await acme.owner.post('/emails/templates', { name: 'Unasked', channel: 'email', body: 'Hello' }));
    await acme.contact({ firstName: 'Out', email: 'out@tests.example', optedOutEmail: true });
    await acme.contact({ firstName: 'Silent', email: 'silent@tests.example', doNotContact: true });
    await acme.contact({ firstName: 'Glad', email: 'glad@tests.example' });
    const send = (toEmail: string) => acme.owner.post('/emails/templates/test-send', { templateId, toEmail });
    expect((await send('Out@tests.example')).body).toMatchObject({ code: 'recipient_opted_out' });
    expect((await send('silent@tests.example')).body).toMatchObject({ code: 'do_not_contact' });
    dataOf(await send('glad@tests.example'));
    const counts = [];
    for (const name of ['Out', 'out', 'silent', 'glad']) counts.push((await mails(`${name}@tests.example`)).length);
    expect(counts).toEqual([0, 0, 0, 1]);
  });

  it('is counted by the account as well, apart from invitations', async () => {
    const strict = await server({ limits: { invite: 2 } });
    const { owner } = await strict.seed.account();
    const { id: templateId } = dataOf(await owner.post('/emails/templates', { name: 'Many', channel: 'email', body: 'Hello' }));
    const send = async (toEmail: string) => (await owner.post('/emails/templates/test-send', { templateId, toEmail })).status;
    expect([await send('one@tests.example'), await send('two@tests.example'), await send('three@tests.example')]).toEqual([200, 200, 429]);
    expect(await mailsTo(strict, 'three@tests.example')).toEqual([]);
    dataOf(await owner.post('/users/invite', { email: 'four@tests.example' }));
    await strict.close();
  });
});
