import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { v4 } from 'uuid';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  hour,
  type Loose,
  minute,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server({ config: { mailFrom: 'Acme <hello@acme.example>' } });
  acme = await api.seed.account();
});
afterAll(() => api.close());

let readers = 0;
const reader = async (fields: Loose = {}) => {
  const email = `reader${++readers}@example.com`;
  return { email, ...(await acme.contact({ email, ...fields })) };
};
const send = (body: Loose) => acme.owner.post('/email/send', { subject: 'Offer', body: 'Hello', ...body });
const messageOf = (id: string) => api.app.database.prisma.message.findFirstOrThrow({ where: { accountId: acme.id, id } });

describe('POST /email/send', () => {
  it('hands the mail over and answers the message as sent', async () => {
    const { id: contactId, email } = await reader();
    const message = dataOf(await send({ contactId, bodyHtml: '<p>Hello</p>' }));
    expect(message).toMatchObject({ contactId, channel: 'email', direction: 'outbound', status: 'sent', toEmail: email, error: null });
    const [mail] = await mailsTo(api, email);
    expect(mail).toMatchObject({
      subject: 'Offer',
      body: 'Hello',
      html: '<p>Hello</p>',
      messageId: expect.stringMatching(/^<[0-9a-z]{64}@/),
    });
    expect(dataOf(await acme.owner.get(`/contacts/${contactId}`)).lastContactedAt).toBe(message.sentAt);
  });

  it('has one subject, whatever lines it is written in', async () => {
    const { id: contactId, email } = await reader();
    dataOf(await send({ contactId, subject: 'Offer\r\nBcc: eve@example.com\r\n\r\nHello' }));
    const [mail] = await mailsTo(api, email);
    expect(mail!.subject).toMatch(/^Offer[^\r\n]*$/);
    expect(await mailsTo(api, 'eve@example.com')).toEqual([]);
  });

  it('sends later at its moment, by the clock, to where the contact is then', async () => {
    const { id: contactId } = await reader();
    const scheduledAt = new Date(api.clock.now().getTime() + 3 * hour).toISOString();
    const { id, status } = dataOf(await send({ contactId, scheduledAt }));
    expect(status).toBe('scheduled');
    const moved = `moved${contactId.slice(-6)}@example.com`;
    dataOf(await acme.owner.patch(`/contacts/${contactId}`, { email: moved }));
    api.clock.advance(3 * hour - minute);
    expect((await messageOf(id)).status).toBe('scheduled');
    api.clock.advance(minute);
    await eventually(async () => (await messageOf(id)).status === 'sent');
    expect(await mailsTo(api, moved)).toHaveLength(1);
    api.clock.reset();
  });

  it('takes a moment just past as now, and refuses an older one', async () => {
    const { id: contactId } = await reader();
    const past = (ms: number) => new Date(api.clock.now().getTime() - ms).toISOString();
    expect(dataOf(await send({ contactId, scheduledAt: past(30_000) })).status).toBe('sent');
    await expectNothingWritten(api, async () =>
      expectRefusal(await send({ contactId, scheduledAt: past(2 * minute) }), 400, 'scheduledAt'),
    );
  });
});

it('A mail is scheduled by every form of an instant that a due date takes', async () => {
  const { id: contactId } = await reader();
  const document = (at: string) =>
    `mutation { sendEmail(input: { contactId: "${contactId}", subject: "Offer", body: "Hello", scheduledAt: "${at}" }) { scheduledAt } }`;
  for (const written of [
    ...['2030-12-31T10:00:00Z', '2030-12-31T10:00Z', '2030-12-31t10:00:00.000z', '2030-12-31 10:00Z', ' 2030-12-31T12:00+02:00 '],
    ...['2030-12-31T12:00:00+0200', '2030-12-31T02:00-08:00'],
  ]) {
    const { dueDate } = dataOf(await acme.owner.post('/tasks', { title: 'a', dueDate: written }));
    expect(dataOf(await send({ contactId, scheduledAt: written })).scheduledAt).toBe(dueDate);
    expect((await acme.owner.gql(document(written))).data.sendEmail.scheduledAt).toBe(dueDate);
  }
  for (const wrong of [
    '2030-12-31T10:00',
    '2030-12-31',
    '2030-02-30T10:00Z',
    '2030-12-31T10Z',
    '2030-12-31T10:00+2',
    '10000-01-01T00:00Z',
  ]) {
    expectRefusal(await send({ contactId, scheduledAt: wrong }), 400, 'scheduledAt');
    expect((await acme.owner.gql(document(wrong))).errors).toMatchObject([{ extensions: { details: [{ field: 'scheduledAt' }] } }]);
  }
});

describe('a mail', () => {
  it('goes to nobody who must not be written to', async () => {
    const silent = await reader({ doNotContact: true });
    const nowhere = await acme.contact({ firstName: 'Nowhere' });
    const out = await reader();
    await api.app.database.prisma.contact.updateMany({ where: { id: out.id }, data: { optedOutEmail: true } });
    await expectNothingWritten(api, async () => {
      expect((await send({ contactId: silent.id })).body).toMatchObject({ code: 'do_not_contact' });
      expect((await send({ contactId: out.id })).body).toMatchObject({ code: 'recipient_opted_out' });
      expectRefusal(await send({ contactId: nowhere.id }), 400, 'contactId');
      expectRefusal(await send({ contactId: v4() }), 400, 'contactId');
      expectRefusal(await send({ contactId: silent.id, subject: undefined }), 400, 'subject');
      expectRefusal(await send({ contactId: silent.id, body: '' }), 400, 'body');
    });
    expect([...(await mailsTo(api, silent.email)), ...(await mailsTo(api, out.email))]).toEqual([]);
  });

  it('is not sent when its reader out between scheduling and going', async () => {
    const { id: contactId, email } = await reader();
    const { id } = dataOf(await send({ contactId, scheduledAt: new Date(api.clock.now().getTime() + hour).toISOString() }));
    dataOf(await acme.owner.patch(`/contacts/${contactId}`, { doNotContact: true }));
    api.clock.advance(hour);
    await eventually(async () => (await messageOf(id)).status === 'failed');
    expect((await messageOf(id)).error).toBe('do_not_contact');
    expect(await mailsTo(api, email)).toEqual([]);
    api.clock.reset();
  });

  it('is taken back while it waits, and not once it has gone', async () => {
    const { id: contactId, email } = await reader();
    const { id } = dataOf(await send({ contactId, scheduledAt: new Date(api.clock.now().getTime() + hour).toISOString() }));
    expect(dataOf(await acme.owner.post(`/messages/${id}/cancel`)).status).toBe('cancelled');
    api.clock.advance(2 * hour);
    expect(await mailsTo(api, email)).toEqual([]);
    api.clock.reset();
    const gone = dataOf(await send({ contactId }));
    expectRefusal(await acme.owner.post(`/messages/${gone.id}/cancel`), 409);
  });

  it('is not taken back while it is on its way', async () => {
    const { id: contactId } = await reader();
    const { id } = dataOf(await send({ contactId, scheduledAt: new Date(api.clock.now().getTime() + hour).toISOString() }));
    const lease = (seconds: number) =>
      api.app.database.execute(`update messages set leased_until = now() + make_interval(secs => ${seconds}) where id = '${id}'`);
    await lease(30);
    expectRefusal(await acme.owner.post(`/messages/${id}/cancel`), 409);
    await lease(-1);
    expect(dataOf(await acme.owner.post(`/messages/${id}/cancel`))).toMatchObject({ status: 'cancelled' });
  });

  it('is cancelled when its contact is deleted before', async () => {
    const { id: contactId } = await reader();
    const { id } = dataOf(await send({ contactId, scheduledAt: new Date(api.clock.now().getTime() + hour).toISOString() }));
    dataOf(await acme.owner.del(`/contacts/${contactId}`));
    expect(await messageOf(id)).toMatchObject({ status: 'cancelled', error: 'contact_deleted', dueAt: null });
  });
});

describe('the addresses of a mail', () => {
  it('takes an opt-out as that of the address, whichever contact has it', async () => {
    const out = await reader({ optedOutEmail: true });
    const later = await reader({ email: out.email.toUpperCase() });
    await expectNothingWritten(api, async () =>
      expect((await send({ contactId: later.id })).body).toMatchObject({ code: 'recipient_opted_out' }),
    );
    const many = { contactIds: [later.id], subject: 'News', body: 'Hello' };
    expect(dataOf(await acme.owner.post('/email/send-bulk', many)).results).toMatchObject([{ reason: 'recipient_opted_out' }]);
    expect(await mailsTo(api, out.email)).toEqual([]);
  });

  it('says which address it came from', async () => {
    const { id: contactId, email } = await reader();
    const { fromEmail } = dataOf(await send({ contactId }));
    expect(fromEmail).toBe('hello@acme.example');
    expect((await mailsTo(api, email))[0]!.from).toBe('Acme <hello@acme.example>');
  });
});

/** A server whose mails go to a mail server of its own. */
async function mailing(options: SMTPServerOptions, login = '') {
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    allowInsecureAuth: true,
    ...options,
  });
  smtp.on('error', () => {});
  await new Promise<void>((listening) => smtp.listen(0, '127.0.0.1', listening));
  const { port } = smtp.server.address() as AddressInfo;
  // Of 20 s, who waits has 8 for its turn, and who has it 16 in all: time enough between the two.
  const own = await server({ config: { smtpUrl: `smtp://${login}127.0.0.1:${port}`, leaseSeconds: 20 } });
  const account = await own.seed.account();
  const { owner } = account;
  const person = async (nth: number): Promise<string> => (await account.contact({ email: `smtp${nth}@example.com` })).id;
  const write = async (contactId: string) => dataOf(await owner.post('/email/send', { contactId, subject: 'Offer', body: 'Hello' }));
  const end = () => Promise.all([own.close(), new Promise<void>((closed) => smtp.close(closed))]);
  return { own, owner, person, write, end };
}

const atTheEnd = (fault: Error): SMTPServerOptions => ({
  onData: (stream, _session, done) => void stream.resume().on('end', () => done(fault)),
});
const no = (responseCode: number, words = 'No') => Object.assign(new Error(words), { responseCode });
/** What a mail server refuses, how, and what becomes of the mail. */
const refusals: [string, SMTPServerOptions, string][] = [
  ['a login', { onAuth: (_auth, _session, done) => done(no(535)) }, 'queued'],
  ['mails before a login', { onMailFrom: (_from, _session, done) => done(no(530, 'Login')) }, 'queued'],
  ['the sender', { onMailFrom: (_from, _session, done) => done(no(550)) }, 'queued'],
  [
    'the sender once it knows the reader',
    { onRcptTo: (_to, _session, done) => done(no(553, '<a@b.example>: Sender address rejected: not owned by user')) },
    'queued',
  ],
  ['the sender at the end', atTheEnd(no(554, 'SendAsDenied; not allowed')), 'queued'],
  [
    'a sender that nobody has verified',
    atTheEnd(no(554, 'Message rejected: Email address is not verified. The following identities failed the check in region EU')),
    'queued',
  ],
  ['a sender that is none of its own', atTheEnd(no(550, 'The from address does not match a verified Sender Identity.')), 'queued'],
  ...[
    '5.7.1 <a@b.example>: Relay access denied',
    '5.7.54 SMTP; Unable to relay recipient in non-accepted domain',
    'relay not permitted',
  ].map((words): (typeof refusals)[number] => [
    `to relay without a login: ${words}`,
    { onRcptTo: (_to, _session, done) => done(no(550, words)) },
    'queued',
  ]),
  ['the size of the mail', { onMailFrom: (_from, _session, done) => done(no(552)) }, 'failed'],
  ['an address', { onRcptTo: (_to, _session, done) => done(no(550)) }, 'failed'],
  ['what the mail says', atTheEnd(no(554)), 'failed'],
];

describe('a mail server', () => {
  it.each(refusals)('that refuses %s: the mail waits, or has failed', async (_what, options, status) => {
    const { person, write, end } = await mailing(options, options.onAuth ? 'user:wrong@' : '');
    expect(await write(await person(1))).toMatchObject({ status, error: status === 'failed' ? 'refused' : 'mail_server_unavailable' });
    await end();
  });

  it('that is slow is given no more mails than it takes: the others wait, and each goes once', async () => {
    const held: (() => void)[] = [];
    const taken: string[] = [];
    const onData: SMTPServerOptions['onData'] = (stream, { envelope }, done) => {
      stream.resume();
      const [to] = envelope.rcptTo;
      // Not to the readers: it verifies the owner's address.
      if (!to!.address.startsWith('smtp')) return done();
      taken.push(to!.address);
      if (taken.length > 5) done();
      else held.push(done);
    };
    const { own, owner, person, write, end } = await mailing({ onData });
    const people = await Promise.all(Array.from({ length: 7 }, (_, nth) => person(nth)));
    const answered: Loose[] = [];
    const answers = people.map((contactId) => write(contactId).then((message) => void answered.push(message)));
    await eventually(() => held.length === 5);
    await eventually(() => answered.length === 2);
    expect(answered).toMatchObject(Array.from({ length: 2 }, () => ({ status: 'queued', error: 'mail_server_unavailable' })));
    for (const done of held) done();
    await Promise.all(answers);
    expect(answered.slice(2).map(({ status, error }) => [status, error])).toEqual(Array.from({ length: 5 }, () => ['sent', null]));
    own.clock.advance(minute);
    await eventually(async () => dataOf(await owner.get('/messages?status=sent')).meta.total === 7);
    expect(new Set(taken).size).toBe(taken.length);
    await end();
  });
});
