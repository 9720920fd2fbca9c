import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { messageToSend, settle } from '../../src/modules/messages/message.due.js';
import { bounce, inboundMail, mailing } from '../support/inboundMail.js';
import { type Account, dataOf, day, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';
import { aStep, Sequences } from '../support/sequences.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let sequences: Sequences;
beforeAll(async () => {
  api = await server({ config: { inboundMail } });
  acme = await api.seed.account({ name: 'Acme & Sons' });
  key = await acme.key();
  sequences = new Sequences(acme, key);
});
afterEach(() => api.clock.reset());
afterAll(() => api.close());

const write = (contactId: string, fields: Loose = {}) =>
  key.post('/messages', { contactId, channel: 'sms', direction: 'inbound', body: 'Yes', ...fields });
const acting = async () => (await actingForAccount(api.app, acme.id, { actor: { kind: 'sender', id: null, name: 'Sequence' } }))!;

/** Two runs of a contact, whose sequences say the contrary of what ends them. */
async function twoRuns(flag: string, contact: string): Promise<[string, string]> {
  const steps = [aStep(0), aStep(1)];
  const [ending] = await sequences.enroll(await sequences.make(steps, { [flag]: true }), contact);
  const [lasting] = await sequences.enroll(await sequences.make(steps, { [flag]: false }), contact);
  await Promise.all([sequences.sent(ending!, 1), sequences.sent(lasting!, 1)]);
  return [ending!, lasting!];
}

const ended = (status: string, endReason: string) => ({ status, endReason, nextEmailAt: null, dueAt: null, endedAt: expect.any(Date) });

describe('a run ends', () => {
  it('when the contact answers, on any channel, where its sequence says so; what waits is not sent', async () => {
    const { id: contact, email } = await sequences.reader();
    const [ending, lasting] = await twoRuns('autoUnenrollOnReply', contact);
    const dueAt = new Date(api.clock.now().getTime() + day);
    await api.app.database.prisma.message.updateMany({
      where: { accountId: acme.id, enrollmentId: ending },
      data: { status: 'queued', sentAt: null, dueAt },
    });
    dataOf(await write(contact, { metadata: { automatic: true } }));
    expect(await sequences.run(ending)).toMatchObject({ status: 'active' });
    dataOf(await write(contact));
    expect(await sequences.run(ending)).toMatchObject(ended('cancelled', 'replied'));
    expect(await sequences.mails(ending)).toMatchObject([{ status: 'cancelled', error: 'replied', dueAt: null }]);
    api.clock.advance(day);
    await sequences.sent(lasting, 2);
    expect((await mailsTo(api, email)).filter(({ subject }) => subject === 'Day 1')).toHaveLength(1);
  });

  it('when the contact opts out of e-mail, where its sequence says so; otherwise it says what was not sent', async () => {
    const { id: contact, email } = await sequences.reader();
    const [ending, lasting] = await twoRuns('autoUnenrollOnUnsubscribe', contact);
    dataOf(await key.post('/bulk/contacts/update', { updates: [{ id: contact, optedOutEmail: true }] }));
    expect(await sequences.run(ending)).toMatchObject(ended('unsubscribed', 'unsubscribed'));
    api.clock.advance(day);
    expect(await sequences.done(lasting, 2)).toMatchObject({ status: 'completed' });
    await eventually(async () => (await sequences.mails(lasting))[1]!.error === 'recipient_opted_out');
    expect(await mailsTo(api, email)).toHaveLength(2);
  });

  it('when its mail cannot be delivered, where its sequence says so', async () => {
    const { id: contact } = await sequences.reader();
    const [ending, lasting] = await twoRuns('autoUnenrollOnBounce', contact);
    const [{ id }] = (await sequences.mails(ending)) as [Loose];
    const dueAt = new Date(api.clock.now().getTime() + day);
    await api.app.database.prisma.message.updateMany({ where: { accountId: acme.id, id }, data: { status: 'queued', dueAt, attempt: 7 } });
    const ctx = await acting();
    await settle(ctx, (await messageToSend(ctx, id, 7))!, { kind: 'failed', error: 'refused' });
    expect(await sequences.run(ending)).toMatchObject(ended('failed', 'bounced'));
    expect(await sequences.run(lasting)).toMatchObject({ status: 'active' });
  });
});

describe('a run goes on', () => {
  it('when a mail comes back from an address that its contact no longer has, in whatever case it is written', async () => {
    const [moved, gone, same, kept] = await Promise.all([1, 2, 3, 4].map(() => sequences.reader()));
    const id = await sequences.make([aStep(0), aStep(1)]);
    const runs = await sequences.enroll(id, moved!.id, gone!.id, same!.id);
    await Promise.all(runs.map((run) => sequences.sent(run, 1)));
    const right = `right.${moved!.email}`;
    dataOf(await key.patch(`/contacts/${moved!.id}`, { email: right }));
    dataOf(await key.post('/contacts/merge', { primaryId: kept!.id, secondaryId: gone!.id }));
    dataOf(await key.patch(`/contacts/${same!.id}`, { email: same!.email.toUpperCase() }));
    for (const { email } of [moved!, gone!, same!]) {
      const [mail] = await mailsTo(api, email);
      expect((await mailing(api, acme).brought(bounce(mail!.messageId, '5.1.1'))).status).toBe(200);
    }
    expect((await Promise.all(runs.map((run) => sequences.run(run)))).map(({ status }) => status)).toEqual(['active', 'active', 'failed']);
    expect(await sequences.mails(runs[0]!)).toMatchObject([{ status: 'failed', error: 'bounced' }]);
    api.clock.advance(day);
    await eventually(async () => (await mailsTo(api, right)).length === 1);
  });
});

describe('a run ends as well', () => {
  it('when a mail comes back that had failed before by our own account, where its sequence says so', async () => {
    const { id: contact, email } = await sequences.reader();
    const [ending, lasting] = await twoRuns('autoUnenrollOnBounce', contact);
    for (const run of [ending, lasting]) await sequences.patchMails(run, { status: 'failed', error: 'interrupted', dueAt: null });
    const [mail] = await mailsTo(api, email);
    expect((await mailing(api, acme).brought(bounce(mail!.messageId, '5.1.1'))).status).toBe(200);
    expect(await sequences.run(ending)).toMatchObject(ended('failed', 'bounced'));
    expect(await sequences.run(lasting)).toMatchObject({ status: 'active' });
  });

  it('when nobody may write to the contact, and when there is no address any more', async () => {
    const [silent, moved] = [await sequences.reader(), await sequences.reader()];
    const one = await sequences.make([aStep(1)]);
    const [a, b] = (await sequences.enroll(one, silent.id, moved.id)) as [string, string];
    dataOf(await key.patch(`/contacts/${silent.id}`, { doNotContact: true }));
    dataOf(await key.patch(`/contacts/${moved.id}`, { email: null, phone: '+14155550100' }));
    expect(await sequences.run(a)).toMatchObject(ended('cancelled', 'do_not_contact'));
    api.clock.advance(day);
    expect(await eventually(async () => (await sequences.run(b)).endedAt && sequences.run(b))).toMatchObject(ended('failed', 'no_email'));
    expect(await sequences.mails(b)).toEqual([]);
  });

  it('when the contact is deleted, told like any other change', async () => {
    const { id: contact } = await sequences.reader();
    const id = await sequences.begin([aStep(1)], contact);
    dataOf(await key.del(`/contacts/${contact}`));
    expect(await sequences.run(id)).toMatchObject(ended('cancelled', 'contact_deleted'));
    const told = await api.app.database.prisma.outboxEvent.findMany({
      where: { accountId: acme.id, entityId: id },
      orderBy: { seq: 'asc' },
    });
    expect(told.map(({ name }) => name)).toEqual(['enrollment.created', 'enrollment.updated']);
    expect(told[1]!.changes).toEqual({ status: { from: 'active', to: 'cancelled' }, endReason: { from: null, to: 'contact_deleted' } });
  });

  it('never twice, and what has ended stays so', async () => {
    const { id: contact } = await sequences.reader();
    const id = await sequences.begin([aStep(0)], contact);
    const before = await sequences.done(id, 1);
    dataOf(await write(contact));
    dataOf(await key.del(`/contacts/${contact}`));
    expect(await sequences.run(id)).toEqual(before);
  });
});

describe('an opt-out of somebody else with the address of its contact', () => {
  it('ends an enrollment at its next step where its sequence says so; otherwise it says what was not sent', async () => {
    const { id: contact, email } = await sequences.reader();
    const [ending, lasting] = await twoRuns('autoUnenrollOnUnsubscribe', contact);
    dataOf(await key.post('/contacts', { email: email.toUpperCase(), optedOutEmail: true }));
    expect(await sequences.run(ending)).toMatchObject({ status: 'active' });
    api.clock.advance(day);
    const run = await eventually(async () => (await sequences.run(ending)).endedAt && sequences.run(ending));
    expect(run).toMatchObject(ended('unsubscribed', 'unsubscribed'));
    expect(await sequences.mails(ending)).toHaveLength(1);
    expect(await sequences.done(lasting, 2)).toMatchObject({ status: 'completed' });
    await eventually(async () => (await sequences.mails(lasting))[1]!.error === 'recipient_opted_out');
    expect(await mailsTo(api, email)).toHaveLength(2);
  });
});

describe('the last mail of a run, complete while that waits to be tried again,', () => {
  it('is taken back by what would end the run, and by unenrolling', async () => {
    const waits = async (fields: Loose = {}) => {
      const { id: contact } = await sequences.reader();
      const sequence = await sequences.make([aStep(0)], fields);
      const [run] = (await sequences.enroll(sequence, contact)) as [string];
      await sequences.sent(run, 1);
      const dueAt = new Date(api.clock.now().getTime() + day);
      await sequences.patchMails(run, { status: 'queued', sentAt: null, error: 'mail_server_unavailable', dueAt });
      return { contact, sequence, run };
    };
    const [answered, left, lasting] = [await waits(), await waits(), await waits({ autoUnenrollOnReply: false })];
    for (const { contact } of [answered, lasting]) dataOf(await write(contact));
    expect(await sequences.run(answered.run)).toMatchObject({ status: 'completed', endReason: 'completed' });
    expect(await sequences.mails(answered.run)).toMatchObject([{ status: 'cancelled', error: 'replied', dueAt: null }]);
    expect(await sequences.mails(lasting.run)).toMatchObject([{ status: 'queued' }]);
    const unenroll = async () => dataOf(await key.post(`/emails/sequences/${left.sequence}/unenroll`, { contactIds: [left.contact] }));
    expect(await unenroll()).toMatchObject({ unenrolled: 1, skipped: 0, details: [{ status: 'unenrolled', reason: null }] });
    expect(await sequences.mails(left.run)).toMatchObject([{ status: 'cancelled', error: 'unenrolled' }]);
    expect(await unenroll()).toMatchObject({ unenrolled: 0, details: [{ reason: 'not_enrolled' }] });
  });
});

describe('merging contacts', () => {
  it('leaves one run of a sequence: that of the contact that is kept, and hands over the others', async () => {
    const [kept, gone] = [await sequences.reader(), await sequences.reader()];
    const [both, single] = [await sequences.make([aStep(1)]), await sequences.make([aStep(1)])];
    const [keptRun, goneRun] = (await sequences.enroll(both, kept.id, gone.id)) as [string, string];
    const [handed] = (await sequences.enroll(single, gone.id)) as [string];
    dataOf(await key.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id }));
    expect(await sequences.run(keptRun)).toMatchObject({ status: 'active', contactId: kept.id });
    expect(await sequences.run(goneRun)).toMatchObject({ ...ended('cancelled', 'merged'), contactId: kept.id });
    expect(await sequences.run(handed)).toMatchObject({ status: 'active', contactId: kept.id });
    api.clock.advance(day);
    await Promise.all([sequences.sent(keptRun, 1), sequences.sent(handed, 1)]);
    expect([(await mailsTo(api, kept.email)).length, (await mailsTo(api, gone.email)).length]).toEqual([2, 0]);
  });
});

describe('merging a contact into one whom nobody may write to', () => {
  it('ends the enrollments that are handed over, as the flag of the kept contact does', async () => {
    const [silent, out, ...gone] = [
      await sequences.reader({ doNotContact: true }),
      await sequences.reader({ optedOutEmail: true }),
      await sequences.reader(),
      await sequences.reader(),
    ];
    const steps = [aStep(1)];
    const [ending, lasting] = [await sequences.make(steps), await sequences.make(steps, { autoUnenrollOnUnsubscribe: false })];
    const [a, b] = (await sequences.enroll(ending, ...gone.map(({ id }) => id))) as [string, string];
    const [, c] = (await sequences.enroll(lasting, ...gone.map(({ id }) => id))) as [string, string];
    for (const [nth, kept] of [silent, out].entries())
      dataOf(await key.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone[nth]!.id }));
    expect(await sequences.run(a)).toMatchObject({ ...ended('cancelled', 'do_not_contact'), contactId: silent.id });
    expect(await sequences.run(b)).toMatchObject({ ...ended('unsubscribed', 'unsubscribed'), contactId: out.id });
    expect(await sequences.run(c)).toMatchObject({ status: 'active', contactId: out.id });
  });
});

describe('the figures of a sequence', () => {
  it('count once whoever unsubscribes by a mail of it: by the last one, and where that ends no run', async () => {
    const [ending, lasting] = [[aStep(0)], [aStep(0), aStep(1)]];
    const made = [await sequences.make(ending), await sequences.make(lasting, { autoUnenrollOnUnsubscribe: false })];
    for (const [nth, one] of made.entries()) {
      const readers = [await sequences.reader(), await sequences.reader()];
      const [run, other] = (await sequences.enroll(one, ...readers.map(({ id }) => id))) as [string, string];
      await Promise.all([sequences.sent(run, 1), sequences.sent(other, 1)]);
      const mail = await eventually(async () => (await mailsTo(api, readers[0]!.email))[0]);
      const path = /<(.*)>/.exec(mail.headers['List-Unsubscribe']!)![1]!.slice(api.app.config.publicUrl.length);
      for (let twice = 0; twice < 2; twice++) expect((await api.anybody().raw({ method: 'POST', path })).status).toBe(200);
      const { status } = await sequences.run(run);
      const figures = dataOf(await key.get(`/emails/sequences/${one}/stats`));
      expect([status, figures.unsubscribed]).toEqual([['completed', 'active'][nth], 1]);
    }
  });

  it('count what was sent, opened, followed, answered and came back', async () => {
    const one = await sequences.make([aStep(0), aStep(1)]);
    const stats = async () => dataOf(await key.get(`/emails/sequences/${one}/stats`));
    expect(await stats()).toEqual({
      ...{ enrolled: 0, active: 0, completed: 0, sent: 0, opened: 0, clicked: 0, replied: 0, bounced: 0, unsubscribed: 0 },
      ...{ openRate: 0, clickRate: 0 },
    });
    const readers = await Promise.all(Array.from({ length: 4 }, () => sequences.reader()));
    const ids = await sequences.enroll(one, ...readers.map(({ id }) => id));
    await Promise.all(ids.map((id) => sequences.sent(id, 1)));
    const mark = (nth: number, data: Loose) =>
      api.app.database.prisma.message.updateMany({ where: { accountId: acme.id, enrollmentId: ids[nth]! }, data });
    await mark(0, { openedAt: api.clock.now() });
    await mark(1, { clickedAt: api.clock.now() });
    await mark(2, { bouncedAt: api.clock.now() });
    dataOf(await write(readers[0]!.id, { channel: 'email', subject: 'Re: Day 0' }));
    dataOf(await key.post('/bulk/contacts/update', { updates: [{ id: readers[3]!.id, optedOutEmail: true }] }));
    api.clock.advance(day);
    await sequences.done(ids[1]!, 2);
    await Promise.all([sequences.sent(ids[1]!, 2), sequences.sent(ids[2]!, 2)]);
    expect(await stats()).toEqual({
      ...{ enrolled: 4, active: 0, completed: 2, sent: 6, opened: 2, clicked: 1, replied: 1, bounced: 1, unsubscribed: 1 },
      ...{ openRate: 0.3333, clickRate: 0.1667 },
    });
    expect(dataOf(await key.get(`/emails/sequences/${one}`))).toMatchObject({ enrolledCount: 4, completedCount: 2, activeCount: 0 });
    expect((await sequences.mails(ids[0]!))[0]!.repliedAt).not.toBeNull();
  });
});
