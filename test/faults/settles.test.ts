import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SmsRefused } from '../../src/vendors/sms/sms.js';
import { sweep } from '../../src/workers/sweeps.js';
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

type Until = Parameters<typeof whileLocked>[3];

/** What is sent while rows are held, how, and until when. */
interface HeldSending {
  next: NextAnswer;
  held: string;
  send: () => Promise<Reply>;
  /** Until the sending is answered, where nothing else is said. */
  until?: Until;
}

/** Sends something, and holds rows from before the answer of the vendor on. */
async function sentWhileHeld({ next, held, send, until }: HeldSending) {
  const sent = send();
  await next.whenAsked;
  const goOn = () => {
    next.letGo();
    return sent;
  };
  const untilNoted: Until = async (look) => {
    await sent;
    expect((await look.query('select from due_outcomes')).rows).toHaveLength(1);
  };
  return dataOf(await whileLocked(api, held, goOn, until ?? untilNoted));
}

const mail = ({ id }: Loose) => acme.owner.post('/email/send', { contactId: id, subject: 'Offer', body: 'Hello' });
const messageOf = async (contact: Loose): Promise<Loose> => dataOf(await acme.owner.get(`/messages?contact_id=${contact.id}`)).data[0];
const messagesHeld = ({ id }: Loose) => `select 1 from messages where contact_id = '${id}' for update`;
const contactHeld = ({ id }: Loose) => `select 1 from contacts where id = '${id}' for update`;
const noted = async () => (await api.app.database.execute('select from due_outcomes', [])).rows.length;

onPostgres(describe)('what a vendor answers about a message that is held for longer than a statement waits', () => {
  it('is kept: a mail has gone once', async () => {
    const contact = await acme.contact({ email: 'held@example.com' });
    const sent = await sentWhileHeld({
      next: nextOfMail(),
      held: messagesHeld(contact),
      send: () => mail(contact),
      until: untilWaitingAgain,
    });
    expect(sent).toMatchObject({ status: 'sent', error: null });
    expect(await mailsTo(api, contact.email)).toHaveLength(1);
  });

  it('is noted where that lasts, and the mail does not go again', async () => {
    const contact = await acme.contact({ email: 'held.long@example.com' });
    const sent = await sentWhileHeld({ next: nextOfMail(), held: messagesHeld(contact), send: () => mail(contact) });
    expect(sent).toMatchObject({ status: 'queued', error: null });
    expect((await acme.owner.post(`/messages/${sent.id}/cancel`)).status).toBe(409);
    await eventually(async () => (await messageOf(contact)).status === 'sent');
    expect(await mailsTo(api, contact.email)).toHaveLength(1);
    expect(await noted()).toBe(0);
  });

  it('is noted where the contact is held: an opt-out that the carrier tells', async () => {
    const contact = await acme.contact({ phone: '+14155550179' });
    const text = () => acme.owner.post('/messages/sms/send', { contactId: contact.id, body: 'Hello' });
    const sent = await sentWhileHeld({ next: nextOfTexts(), held: contactHeld(contact), send: text });
    expect(sent).toMatchObject({ status: 'sending', error: null });
    await eventually(async () => (await messageOf(contact)).status === 'failed');
    expect((await messageOf(contact)).error).toBe('recipient_opted_out');
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`)).optedOutSms).toBe(true);
    expect(await noted()).toBe(0);
  });
});

onPostgres(describe)('what a vendor answers about a message whose lease is soon over', () => {
  it('is noted before, and whoever takes the mail then does not send it', async () => {
    const contact = await acme.contact({ email: 'held.lease@example.com' });
    const next = nextOfMail();
    const sent = mail(contact);
    await next.whenAsked;
    // The mail server took its time.
    const lease = `update messages set leased_until = now() + interval '6 seconds' where contact_id = '${contact.id}' returning attempt`;
    const { rows } = await api.app.database.execute(lease, []);
    const attempts = async (look: Parameters<Until>[0]) =>
      (await look.query(`select attempt from messages where contact_id = '${contact.id}'`)).rows[0].attempt;
    const goOn = async () => next.letGo();
    const untilTakenAgain: Until = (look) => eventually(async () => (await attempts(look)) > (rows[0] as Loose).attempt);
    await whileLocked(api, contactHeld(contact), goOn, untilTakenAgain);
    await sent;
    await eventually(async () => (await messageOf(contact)).status === 'sent');
    expect(await mailsTo(api, contact.email)).toHaveLength(1);
    expect(await noted()).toBe(0);
  });
});

onPostgres(describe)('what is noted of a message that nobody takes any more', () => {
  /** Sends something while its contact is held, and lets nobody take it before `after` is done with its row. */
  async function left(contact: Loose, { next, send }: Pick<HeldSending, 'next' | 'send'>, after: string) {
    const sent = send();
    await next.whenAsked;
    await change(contact, "leased_until = now() + interval '1 hour'");
    await sentWhileHeld({ next, held: contactHeld(contact), send: () => sent });
    await change(contact, `leased_until = null, ${after}`);
    expect(await noted()).toBe(1);
  }
  const change = ({ id }: Loose, set: string) => api.app.database.execute(`update messages set ${set} where contact_id = '${id}'`, []);

  it('is written: a mail that went and was taken back by who held it', async () => {
    const contact = await acme.contact({ email: 'held.cancelled@example.com' });
    await left(contact, { next: nextOfMail(), send: () => mail(contact) }, "status = 'cancelled', due_at = null");
    await sweep(api.app);
    expect(await messageOf(contact)).toMatchObject({ status: 'sent', error: null });
    expect(await mailsTo(api, contact.email)).toHaveLength(1);
    expect(await noted()).toBe(0);
  });

  it('is forgotten where the message was settled otherwise', async () => {
    const contact = await acme.contact({ phone: '+14155550178' });
    const send = () => acme.owner.post('/messages/sms/send', { contactId: contact.id, body: 'Hello' });
    await left(contact, { next: nextOfTexts(), send }, "status = 'delivered', due_at = null");
    await sweep(api.app);
    expect((await messageOf(contact)).status).toBe('delivered');
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`)).optedOutSms).toBe(true);
    expect(await noted()).toBe(0);
  });
});
