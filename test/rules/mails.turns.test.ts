import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/kernel/base/clock.js';
import { mailsSent } from '../../src/modules/auth/auth.mail.js';
import { SmtpSimulator } from '../../src/vendors/email/smtpSimulator.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';
import { TcpProxy } from '../support/proxy.js';

const outboxDir = mkdtempSync(join(tmpdir(), 'crm-turns-'));
const smtp = new SmtpSimulator({ outboxDir, clock: systemClock, inbound: { url: 'http://127.0.0.1:9', secret: 'nobody brings any' } });
let base: string;
let proxy: TcpProxy;
let api: TestServer;
let acme: Account;
beforeAll(async () => {
  const listening = await smtp.listen();
  base = listening.base;
  proxy = await TcpProxy.before(listening.smtpUrl);
  api = await server({ config: { smtpUrl: proxy.through(listening.smtpUrl) } });
  acme = await api.seed.account();
  await mailsSent();
});
afterAll(async () => {
  await api.close();
  await proxy.close();
  smtp.close();
  rmSync(outboxDir, { recursive: true, force: true });
});

let readers = 0;
const reader = () => acme.contact({ email: `turn${++readers}@example.com` });
const mail = ({ id }: Loose) => acme.owner.post('/email/send', { contactId: id, subject: 'Offer', body: 'Hello' });
/** Mails at once to the mail server. */
const turns = 5;

/** As many mails as may be under way at once, which the mail server holds until it is cut off. */
async function heldMails() {
  const headers = { 'content-type': 'application/json' };
  for (let n = 0; n < turns; n++) await fetch(`${base}/simulator/next`, { method: 'POST', body: '{"kind":"hold"}', headers });
  const held = await Promise.all(Array.from({ length: turns }, reader));
  const sending = Promise.all(held.map(mail));
  await eventually(async () => ((await (await fetch(`${base}/simulator/waiting`)).json()) as Loose).waiting === 0);
  return { sending };
}

describe('a mail that waits for its turn at the mail server', () => {
  it('goes only where its contact may still be written to', async () => {
    const { sending } = await heldMails();
    const contacts = [await reader(), await reader(), await reader()] as const;
    const [unwilling, deleted] = contacts;
    const where = { accountId: acme.id, contactId: { in: contacts.map(({ id }) => id) }, leasedUntil: { not: null } };
    const { message } = api.app.database.prisma;
    const sent = Promise.all(contacts.map(mail));
    await eventually(async () => (await message.count({ where })) === contacts.length);
    dataOf(await acme.owner.patch(`/contacts/${unwilling.id}`, { doNotContact: true }));
    dataOf(await acme.owner.del(`/contacts/${deleted.id}`));
    proxy.cut();
    expect((await sent).map(({ body }) => [body.data.status, body.data.error])).toEqual([
      ['failed', 'do_not_contact'],
      ['cancelled', 'contact_deleted'],
      ['sent', null],
    ]);
    expect((await sending).map(({ body }) => body.data.status)).toEqual(Array(turns).fill('queued'));
    const counts = await Promise.all(contacts.map(async ({ email }) => (await mailsTo({ outboxDir }, email)).length));
    expect(counts).toEqual([0, 0, 1]);
  });
});
