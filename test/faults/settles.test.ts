import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SmsRefused } from '../../src/vendors/sms/sms.js';
import { untilWaitingAgain, whileLocked } from '../support/heldUp.js';
import { type Account, dataOf, type Loose, onPostgres, type Reply, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server({ config: { leaseSeconds: 15 } });
  acme = await api.seed.account();
  const [free] = dataOf(await acme.owner.get('/settings/numbers/available'));
  dataOf(await acme.owner.post('/settings/numbers', { number: free.number }));
});
afterAll(() => api.close());

/** A moment that something waits for. */
function moment() {
  let come = () => {};
  const whenCome = new Promise<void>((resume) => {
    come = resume;
  });
  return { come, whenCome };
}

/** The next answer of a vendor, which does nothing before it is let go. */
interface NextAnswer {
  whenAsked: Promise<void>;
  letGo(): void;
}

/** Of the mail server, which has taken the mail by then. */
function nextOfMail(): NextAnswer {
  const { email } = api.app.vendors;
  const { send } = email;
  const [asked, answered] = [moment(), moment()];
  email.send = async (mail) => {
    email.send = send;
    const taken = await send.call(email, mail);
    asked.come();
    await answered.whenCome;
    return taken;
  };
  return { whenAsked: asked.whenCome, letGo: answered.come };
}

/** Of the carrier, whose recipient has opted out. */
function nextOfTexts(): NextAnswer {
  const { sms } = api.app.vendors;
  const { send } = sms;
  const [asked, answered] = [moment(), moment()];
  sms.send = async () => {
    sms.send = send;
    asked.come();
    await answered.whenCome;
    throw new SmsRefused('recipient_opted_out', 'has opted out');
  };
  return { whenAsked: asked.whenCome, letGo: answered.come };
}

/** Sends something, and holds rows from before the answer of the vendor on. */
async function sentWhileHeld(next: NextAnswer, held: string, send: () => Promise<Reply>, until: Parameters<typeof whileLocked>[3]) {
  const sent = send();
  await next.whenAsked;
  const goOn = () => {
    next.letGo();
    return sent;
  };
  return dataOf(await whileLocked(api, held, goOn, until));
}

const mail = ({ id }: Loose) => acme.owner.post('/email/send', { contactId: id, subject: 'Offer', body: 'Hello' });
const messageOf = async (contact: Loose): Promise<Loose> => dataOf(await acme.owner.get(`/messages?contact_id=${contact.id}`)).data[0];
const messagesHeld = ({ id }: Loose) => `select 1 from messages where contact_id = '${id}' for update`;
const untilNoted: Parameters<typeof whileLocked>[3] = (look) =>
  eventually(async () => (await look.query('select from due_outcomes')).rows.length > 0);
const noted = async () => (await api.app.database.execute('select from due_outcomes', [])).rows.length;

onPostgres(describe)('what a vendor answers about a message that is held for longer than a statement waits', () => {
  it('is kept: a mail has gone once', async () => {
    const contact = await acme.contact({ email: 'held@example.com' });
    const sent = await sentWhileHeld(nextOfMail(), messagesHeld(contact), () => mail(contact), untilWaitingAgain);
    expect(sent).toMatchObject({ status: 'sent', error: null });
    expect(await mailsTo(api, contact.email)).toHaveLength(1);
  });

  it('is noted where that lasts, and the mail does not go again', async () => {
    const contact = await acme.contact({ email: 'held.long@example.com' });
    const sent = await sentWhileHeld(nextOfMail(), messagesHeld(contact), () => mail(contact), untilNoted);
    expect(sent).toMatchObject({ status: 'queued', error: null });
    expect((await acme.owner.post(`/messages/${sent.id}/cancel`)).status).toBe(409);
    await eventually(async () => (await messageOf(contact)).status === 'sent');
    expect(await mailsTo(api, contact.email)).toHaveLength(1);
    expect(await noted()).toBe(0);
  });

  it('is noted where the contact is held: an opt-out that the carrier tells', async () => {
    const contact = await acme.contact({ phone: '+14155550179' });
    const held = `select 1 from contacts where id = '${contact.id}' for update`;
    const text = () => acme.owner.post('/messages/sms/send', { contactId: contact.id, body: 'Hello' });
    const sent = await sentWhileHeld(nextOfTexts(), held, text, untilNoted);
    expect(sent).toMatchObject({ status: 'sending', error: null });
    await eventually(async () => (await messageOf(contact)).status === 'failed');
    expect((await messageOf(contact)).error).toBe('recipient_opted_out');
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`)).optedOutSms).toBe(true);
    expect(await noted()).toBe(0);
  });
});
