import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Background } from '../../src/workers/background.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';
import { codeBlocks } from '../support/readme.js';

let crm: TestServer;
let account: Account;
beforeAll(async () => {
  crm = await server();
  account = await crm.seed.account();
});
afterAll(() => crm.close());

const whole = readFileSync('docs/restore.md', 'utf8');
/** The statements of the document, in their order. */
const statements = codeBlocks('sql', whole.replaceAll(/^ {3}/gm, ''))
  .flatMap((block) => block.split(/;\n/))
  .filter((text) => text.trim() !== '');

type Run = (text: string, ...values: unknown[]) => Promise<Loose[]>;

/** Does something in the database of which nothing stays. */
async function undone(work: (run: Run) => Promise<void>): Promise<void> {
  const end = new Error('the end');
  const working = crm.app.database.prisma.$transaction(
    async (tx) => {
      await work(async (text, ...values) => {
        if (/^\s*select/i.test(text)) return tx.$queryRawUnsafe<Loose[]>(text, ...values);
        await tx.$executeRawUnsafe(text, ...values);
        return [];
      });
      throw end;
    },
    { timeout: 60_000, maxWait: 30_000 },
  );
  await expect(working).rejects.toBe(end);
}

describe('what is said of a restore', () => {
  it('can be done in this database, and takes back what was due', async () => {
    const contact = await account.contact({ phone: '+14155550123' });
    const made = `insert into messages (account_id, id, contact_id, channel, direction, body, status, due_at, created_at, updated_at)
      select $1::uuid, gen_random_uuid(), $2::uuid, 'sms', 'outbound', status, status, now() + late, now(), now()
      from (values ('queued', interval '-1 hour'), ('scheduled', interval '-1 hour'), ('scheduled', interval '1 hour')) m(status, late)`;
    await undone(async (run) => {
      await run(made, account.id, contact.id);
      const answers: Loose[][] = [];
      for (const text of statements) answers.push(await run(text));
      expect(answers[0]).toEqual(expect.arrayContaining([expect.objectContaining({ what: 'messages', of: 'sms', count: 2n })]));
      const left = await run(
        'select status, error, due_at is null as settled from messages where account_id = $1::uuid order by status',
        account.id,
      );
      const cancelled = { status: 'cancelled', error: 'restored', settled: true };
      expect(left).toEqual([cancelled, cancelled, { status: 'scheduled', error: null, settled: false }]);
      expect(await run('select id from sessions where revoked_at is null')).toEqual([]);
    });
    expect(statements.length).toBeGreaterThan(8);
  });
});

describe('what is due after a restore', () => {
  /** What only asks for news, and what its receivers know a second time. */
  const mayGoOn = ['vendor_connections', 'webhook_deliveries'];

  it('is looked at and put off in every table that a worker takes from', () => {
    const tables = [...crm.app.registry.due.values()].map(({ table }) => table);
    const shown = (table: string) => statements[0]!.includes(`FROM ${table} WHERE due_at <= now()`);
    const isPutOff = (table: string) =>
      statements.some((text) => new RegExp(`^\\s*UPDATE ${table} SET [^;]*\\bdue_at = [^;]*WHERE due_at <= now\\(\\)`).test(text));
    expect(tables.length).toBeGreaterThan(5);
    expect(tables.filter((table) => table !== 'vendor_connections' && !shown(table))).toEqual([]);
    expect(tables.filter((table) => !mayGoOn.includes(table) && !isPutOff(table))).toEqual([]);
  });

  it('says of schedules what they miss while they are put off, and by what those are known', () => {
    const [, said = ''] = /The last statement puts off schedules\.([\s\S]*?)Deliveries of webhooks/.exec(whole) ?? [];
    const known = ['also at the moments that come meanwhile', 'off and on', '`nextRunAt` in the past', 'it runs the missed moment at once'];
    for (const words of known) expect(said).toContain(words);
  });

  it('holds no schedule whose moment has passed once that is done', async () => {
    const made = `insert into automations (account_id, id, name, active, next_run_at, due_at, created_at, updated_at)
      select $1::uuid, gen_random_uuid(), 'Daily', true, now() + late, now() + late, now(), now()
      from (values (interval '-1 hour'), (interval '1 hour')) m(late)`;
    await undone(async (run) => {
      await run(made, account.id);
      const [first, ...others] = statements;
      expect(await run(first!)).toEqual(expect.arrayContaining([expect.objectContaining({ what: 'schedules', count: 1n })]));
      for (const text of others) await run(text);
      const left = await run(
        `select due_at <= now() as "isDue", due_at > now() + interval '2 hours' as "isPutOff" from automations where account_id = $1::uuid
         order by next_run_at`,
        account.id,
      );
      expect(left).toEqual([
        { isDue: false, isPutOff: true },
        { isDue: false, isPutOff: false },
      ]);
    });
  });
});

describe('what people said since the backup', () => {
  it('is looked for wherever it is known: opt-outs, do-not-contact, deletions and merges', () => {
    const [, said = ''] = /\n5\. ([\s\S]*?)\n6\. /.exec(whole) ?? [];
    const known = [
      'optedOutSms',
      'optedOutEmail',
      '/e/unsubscribe/',
      'doNotContact',
      'DELETE /contacts/',
      '/contacts/merge',
      '/bulk/contacts/delete',
    ];
    expect(known.filter((words) => !said.includes(words))).toEqual([]);
  });

  it('is said once more by the link of a mail that was sent before it', async () => {
    const acme = await crm.seed.account();
    const { id, email } = await acme.contact({ firstName: 'Ann', email: 'ann.restored@example.com' });
    dataOf(await acme.owner.post('/email/send-bulk', { contactIds: [id], subject: 'News', body: 'Hello' }));
    const mail = await eventually(async () => (await mailsTo(crm, email))[0]);
    const path = /<(.*)>/.exec(mail.headers['List-Unsubscribe'])![1]!.slice(crm.app.config.publicUrl.length);
    const leave = async () => (await crm.anybody().raw({ method: 'POST', path })).status;
    expect(await leave()).toBe(200);
    const { prisma } = crm.app.database;
    await prisma.contact.updateMany({ where: { id }, data: { optedOutEmail: false } });
    await prisma.message.updateMany({ where: { contactId: id }, data: { unsubscribedAt: null } });
    await prisma.addressFact.deleteMany({ where: { accountId: acme.id, address: email } });
    expect([await leave(), await leave()]).toEqual([200, 200]);
    expect(dataOf(await acme.owner.get(`/contacts/${id}`)).optedOutEmail).toBe(true);
    expect(await prisma.addressFact.count({ where: { accountId: acme.id, address: email, holds: true } })).toBe(1);
  });
});

describe('a database whose numbers of events are behind its events', () => {
  const setting = statements.find((text) => text.includes('outbox_events_seq_seq'))!;

  it('is refused at the start until they are set as it is said', async () => {
    await account.contact();
    const background = new Background(crm.app.config, crm.app.database, undefined, crm.app.log);
    await crm.app.database.execute('update feed_floor set seq = seq + 1000000');
    await expect(background.prepare(crm.app)).rejects.toThrow('outbox_events_seq_seq is behind the events');
    await crm.app.database.execute(setting);
    await background.prepare(crm.app);
    await background.stop();
  });
});
