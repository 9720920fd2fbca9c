import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { logger } from '../../src/kernel/base/log.js';
import { MailRefused } from '../../src/vendors/email/email.js';
import { type Loose, server, type TestServer } from '../support/index.js';

/** The error of a line, as the log tells it. */
function told(err: Error): Loose {
  const lines: string[] = [];
  logger('warn', { write: (line: string) => void lines.push(line) }).warn({ err }, 'told');
  return JSON.parse(lines[0]!).err;
}

describe('an error in the log', () => {
  let api: TestServer;
  beforeAll(async () => {
    api = await server();
  });
  afterAll(() => api.close());

  it('does not quote the row that the database refused', async () => {
    const { owner } = await api.seed.account();
    await api.app.database.execute(`alter table contacts add constraint nobody check (last_name <> 'Verbatim')`);
    const contact = { lastName: 'Verbatim', jobTitle: 'Canary keeper', email: 'verbatim@example.com' };
    await expect(owner.post('/contacts', contact)).rejects.toThrow('500');
    const logged = api.logs.join('');
    expect(logged).toContain('violates check constraint');
    for (const text of Object.values(contact)) expect(logged).not.toContain(text);
  });

  it('does not quote it either where Prisma hands the fault on; its code and its words stay', () => {
    const cause = { originalCode: '23502', originalMessage: 'null value', detail: 'Failing row contains (Ada, Lovelace).' };
    const driverAdapterError = Object.assign(new Error('postgres'), { cause });
    const { meta, message } = told(Object.assign(new Error('no'), { meta: { modelName: 'Contact', driverAdapterError } }));
    expect([message, meta.modelName]).toEqual(['no', 'Contact']);
    expect(meta.driverAdapterError.cause).toEqual({ originalCode: '23502', originalMessage: 'null value' });
  });

  it('names no address that a mail server names, and stays legible', () => {
    const refused = told(new MailRefused('550 5.1.1 <ann.lee+crm@mail.example.com>: user unknown', true));
    expect(refused).toMatchObject({ type: 'MailRefused', message: '550 5.1.1 <<address>>: user unknown', isPermanent: true });
    expect(JSON.stringify(refused)).not.toContain('ann.lee');
    const reply = { responseCode: 550, response: '550 <ann@example.com>', rejected: ['ann@example.com'] };
    const fault = Object.assign(new Error('refused'), reply, { stack: 'Error: refused\n  at /app/node_modules/@prisma/client/x.js:1:2' });
    expect(told(fault)).toEqual({ type: 'Error', message: 'refused', stack: fault.stack, responseCode: 550 });
  });

  it('names no address whose letters have marks', () => {
    for (const address of ['संपर्क@उदाहरण.भारत', 'ติดต่อ@ตัวอย่าง.ไทย', 'zoe\u0308@example.com'])
      expect(told(new Error(`550 <${address}>: user unknown`)).message).toBe('550 <<address>>: user unknown');
  });

  it.each(['a', 'a\u0301', '\u0301'])('takes no longer for a long text of %j', (sign) => {
    const begun = performance.now();
    const text = sign.repeat(1_000_000);
    expect(told(new Error(text)).message).toBe(text);
    expect(performance.now() - begun).toBeLessThan(1000);
  });

  it('is told although it refers to itself', () => {
    const fault: Loose = new Error('round');
    fault.part = { fault };
    expect(told(fault)).toMatchObject({ type: 'Error', message: 'round' });
  });
});
