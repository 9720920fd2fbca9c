import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/kernel/base/clock.js';
import { mailsSent } from '../../src/modules/auth/auth.mail.js';
import { switchOff } from '../../src/modules/webhooks/webhook.disable.js';
import { type MailBehaviour, SmtpSimulator } from '../../src/vendors/email/smtpSimulator.js';
import { actingFor } from '../support/deliveries.js';
import { type Account, dataOf, day, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';

const outboxDir = mkdtempSync(join(tmpdir(), 'crm-switched-off-'));
const smtp = new SmtpSimulator({ outboxDir, clock: systemClock, inbound: { url: 'http://127.0.0.1:9', secret: 'nobody brings any' } });
let base: string;
let api: TestServer;
beforeAll(async () => {
  const listening = await smtp.listen();
  base = listening.base;
  api = await server({ config: { smtpUrl: listening.smtpUrl } });
});
afterAll(async () => {
  await api.close();
  smtp.close();
  rmSync(outboxDir, { recursive: true, force: true });
});

/** What the mail server does with the next mail. */
const next = (behaviour: MailBehaviour) =>
  fetch(`${base}/simulator/next`, { method: 'POST', body: JSON.stringify(behaviour), headers: { 'content-type': 'application/json' } });

/** The mails that tell an account's owner of it, or somebody else. */
const told = async ({ ownerEmail }: Account, email = ownerEmail) =>
  (await mailsTo({ outboxDir }, email)).filter(({ subject }) => /was switched off/.test(subject));

/** Switches a webhook of an account off, a new one by default, while the mail server does so much of what it is told with the next mails. */
async function switchedOff(behaviours: MailBehaviour[], of?: Account): Promise<Account> {
  const account = of ?? (await api.seed.account());
  await mailsSent();
  const key = await account.key();
  const { id } = dataOf(await key.post('/webhooks/manage', { url: 'http://127.0.0.1:9/', events: ['contact.created'] }));
  const failingSince = new Date(api.clock.now().getTime() - 6 * day);
  await api.app.database.prisma.webhook.updateMany({ where: { id }, data: { failingSince, failCount: 9 } });
  for (const behaviour of behaviours) await next(behaviour);
  await switchOff(await actingFor(api, account), id);
  return account;
}

/** The jobs that tell an account, after what waits for its time is made to be due. */
async function jobsOf({ id }: Account): Promise<{ state: string; tries: number }[]> {
  const { execute } = api.app.database;
  await execute(
    "update pgboss.job set start_after = now() - interval '1 second' where name = 'tellOfSwitchedOff' and state in ('created', 'retry')",
  );
  api.app.jobs.wake('tellOfSwitchedOff');
  return statesOf({ id });
}

async function statesOf({ id }: Pick<Account, 'id'>): Promise<{ state: string; tries: number }[]> {
  const text = `select state::text as state, retry_count::int + 1 as tries from pgboss.job
    where name = 'tellOfSwitchedOff' and data ->> 'accountId' = $1`;
  return (await api.app.database.execute(text, [id])).rows as { state: string; tries: number }[];
}

describe('the mail that tells of a webhook that was switched off', () => {
  it('comes once the mail server takes it, after more faults than a short while has', async () => {
    const account = await switchedOff(Array.from({ length: 4 }, () => ({ kind: 'refuse', status: 451 })));
    await eventually(async () => (await jobsOf(account)).every(({ state }) => state === 'completed' || state === 'failed'), 20_000);
    expect(await jobsOf(account)).toEqual([{ state: 'completed', tries: 5 }]);
    expect(await told(account)).toHaveLength(1);
  });

  it('goes to nobody who was removed meanwhile or is no admin any more', async () => {
    const account = await api.seed.account();
    const [removed, demoted, stays] = [await account.member('admin'), await account.member('admin'), await account.member('admin')];
    await switchedOff(
      Array.from({ length: 4 }, () => ({ kind: 'refuse', status: 451 })),
      account,
    );
    // A fault for each of the four: the first try tells nobody.
    await eventually(async () => (await statesOf(account)).every(({ state }) => state === 'retry'));
    dataOf(await account.owner.del(`/users/${removed.userId}`));
    dataOf(await account.owner.patch(`/users/${demoted.userId}`, { role: 'member' }));
    await eventually(async () => (await jobsOf(account)).every(({ state }) => state === 'completed'), 20_000);
    const counts: number[] = [];
    for (const { email } of [removed, demoted, stays, { email: account.ownerEmail }]) counts.push((await told(account, email)).length);
    expect(counts).toEqual([0, 0, 1, 1]);
  });

  it('is tried once where the mail server refuses it for good, which is no fault of ours', async () => {
    const account = await switchedOff([{ kind: 'refuse', status: 550 }]);
    await eventually(async () => (await jobsOf(account)).every(({ state }) => state === 'completed' || state === 'failed'), 20_000);
    expect(await jobsOf(account)).toEqual([{ state: 'completed', tries: 1 }]);
    expect(await told(account)).toEqual([]);
    expect(api.logs.filter((line) => line.includes('a mail was refused for good'))).toHaveLength(1);
  });
});
