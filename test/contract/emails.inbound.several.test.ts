import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answer, answered, inboundMail, mailing } from '../support/inboundMail.js';
import { type Account, dataOf, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let mails: ReturnType<typeof mailing>;
beforeAll(async () => {
  api = await server({ config: { inboundMail } });
  acme = await api.seed.account();
  mails = mailing(api, acme);
});
afterAll(() => api.close());

/** Two mails of ours to one reader, and one to another. */
async function twice() {
  const [first, other] = [await mails.sent(), await mails.sent()];
  return [first, await mails.sentTo(first.contact, 1), other];
}

describe('an answer to several contacts', () => {
  it.each([
    ['of one workspace', async () => [await mails.sent(), await mails.sent()]],
    ['of one workspace, one of them twice', async () => twice()],
  ])('%s stands in the thread of each, once', async (_what, make) => {
    const all = await make();
    const raw = answer({ to: all.map(({ mail }) => mail.replyTo).join('>, <') });
    for (let i = 0; i < 3; i++) expect(answered(await mails.brought(raw))).toEqual({ taken: true });
    for (const { contact } of all) {
      const kept = await mails.thread(contact.id);
      expect(kept.filter(({ direction }) => direction === 'inbound')).toMatchObject([{ subject: 'Re: Offer ✓' }]);
    }
  });

  it('stands in the thread of each where it is brought for one after the other', async () => {
    const [one, other] = [await mails.sent(), await mails.sent()];
    const raw = answer({ to: 'list@acme.example' });
    for (const { mail } of [one, other, one]) await mails.brought(`Delivered-To: ${mail.replyTo}\r\n${raw}`);
    for (const { contact } of [one, other]) expect(await mails.thread(contact.id)).toHaveLength(2);
  });

  it('stands in the thread of each where its long id is cut within a character', async () => {
    for (const begins of [161, 162]) {
      const all = [await mails.sent(), await mails.sent()];
      const id = `<${'a'.repeat(begins)}😀${begins}@${'b'.repeat(15)}.example>`;
      const raw = answer({ to: all.map(({ mail }) => mail.replyTo).join('>, <') }).replace(/<answer-.*>/, id);
      for (let i = 0; i < 2; i++) await mails.brought(raw);
      const kept = await Promise.all(all.map(({ contact }) => mails.thread(contact.id)));
      expect(kept.map((messages) => messages.filter(({ direction }) => direction === 'inbound').length)).toEqual([1, 1]);
    }
  });

  it('is not doubled by a merge of them', async () => {
    const [one, other] = [await mails.sent(), await mails.sent()];
    const raw = answer({ to: `${one.mail.replyTo}>, <${other.mail.replyTo}` });
    await mails.brought(raw);
    dataOf(await acme.owner.post('/contacts/merge', { primaryId: other.contact.id, secondaryId: one.contact.id }));
    await mails.brought(raw);
    expect(await mails.thread(other.contact.id)).toHaveLength(4);
  });
});
