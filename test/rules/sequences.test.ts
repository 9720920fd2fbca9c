import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { type Account, dataOf, day, hour, type KeyClient, minute, onPostgres, second, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';
import { aStep, Sequences } from '../support/sequences.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let sequences: Sequences;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account({ name: 'Acme & Sons' });
  key = await acme.key();
  sequences = new Sequences(acme, key);
});
afterEach(() => api.clock.reset());
afterAll(() => api.close());

const inZone = async (timezone: string) => {
  await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone } });
  api.clock.reset();
};
const acting = async () => (await actingForAccount(api.app, acme.id, { actor: { kind: 'sender', id: null, name: 'Sequence' } }))!;

describe('a run', () => {
  it.each([
    ['the clocks going forward', 'America/New_York', '2027-03-12T14:00:00Z', [0, 2, 3], ['2027-03-14T13:00:00Z', '2027-03-15T13:00:00Z']],
    ['the clocks going back', 'Europe/Berlin', '2027-10-30T00:30:00Z', [0, 1, 2], ['2027-10-31T00:30:00Z', '2027-11-01T01:30:00Z']],
    ['leap day', 'Europe/Berlin', '2028-02-28T11:00:00Z', [0, 1, 2], ['2028-02-29T11:00:00Z', '2028-03-01T11:00:00Z']],
    ['a year with a leap day', 'Europe/Berlin', '2027-06-01T10:00:00Z', [0, 274, 366], ['2028-03-01T11:00:00Z', '2028-06-01T10:00:00Z']],
  ])('sends each step at the local time of its enrollment, over %s', async (_what, zone, begin, delays, moments) => {
    await inZone(zone);
    api.clock.set(begin);
    const { id: contact, email } = await sequences.reader();
    const id = await sequences.begin(
      delays.map((days) => aStep(days)),
      contact,
    );
    // The simulator keeps no mail for long.
    const newest = async () => (await mailsTo(api, email)).at(-1)?.subject;
    await sequences.sent(id, 1);
    expect(await newest()).toBe(`Day ${delays[0]}`);
    for (const [nth, moment] of moments.entries()) {
      const { nextEmailAt, status } = await sequences.run(id);
      // Within the seconds that the test has taken.
      expect(Math.abs(nextEmailAt!.getTime() - Date.parse(moment))).toBeLessThan(minute);
      expect(status).toBe('active');
      api.clock.set(new Date(nextEmailAt!.getTime() - minute));
      await sequences.looked();
      expect(await sequences.mails(id)).toHaveLength(nth + 1);
      api.clock.set(nextEmailAt!);
      await sequences.sent(id, nth + 2);
      expect(await newest()).toBe(`Day ${delays[nth + 1]}`);
    }
    expect(await sequences.done(id, 3)).toMatchObject({ status: 'completed', endReason: 'completed', nextEmailAt: null, dueAt: null });
    await inZone('UTC');
  });
});

describe('the mails of a run', () => {
  it('name whoever enrolled the contact', async () => {
    const { id: contact } = await sequences.reader();
    const id = await sequences.make([aStep(0, { subject: 'From {{user.name}}', body: 'Yours, {{user.name}}' })]);
    dataOf(await acme.owner.post(`/emails/sequences/${id}/enroll`, { contactIds: [contact] }));
    const { rows } = await api.app.database.execute('select name from memberships where user_id = $1', [acme.ownerId]);
    const [{ name }] = rows as [{ name: string }];
    const { message } = api.app.database.prisma;
    const mail = await eventually(() => message.findFirst({ where: { accountId: acme.id, contactId: contact } }));
    expect([name.length > 0, mail]).toMatchObject([true, { subject: `From ${name}`, body: `Yours, ${name}` }]);
  });

  it('end it where one becomes larger than 500 KB by the values of its merge fields', async () => {
    const body = '{{contact.customFields.note}}'.repeat(10);
    const { id: contact } = await sequences.reader({ customFields: { note: 'x'.repeat(60_000) } });
    const id = await sequences.begin([aStep(0), aStep(0, { body }), aStep(0)], contact);
    await eventually(async () => (await sequences.run(id)).endedAt);
    expect(await sequences.run(id)).toMatchObject({ status: 'failed', endReason: 'too_large', currentStep: 1, dueAt: null });
    expect(await sequences.mails(id)).toHaveLength(1);
  });

  it('say the values of its contact and workspace, escaped in HTML, and never again what they say', async () => {
    const html = '<p>{{contact.firstName}} of {{workspace.name}}: {{contact.customFields.tier}}{{contact.nothing}}</p>';
    const template = { name: 'Welcome', channel: 'email', subject: 'For {{contact.firstName}}', body: 'Dear {{contact.firstName}}' };
    const templateId = dataOf(await key.post('/emails/templates', { ...template, bodyHtml: html })).id;
    const { id: contact } = await sequences.reader({ firstName: '<{{contact.email}}>', customFields: { tier: 2 } });
    const steps = [
      { templateId, delayDays: 0 },
      { templateId, delayDays: 0, subject: 'Once more, {{contact.firstName}}', body: 'Own words for {{workspace.name}}' },
    ];
    const id = await sequences.begin(steps, contact);
    const [first, second] = await sequences.sent(id, 2);
    expect(first).toMatchObject({
      ...{ subject: 'For <{{contact.email}}>', body: 'Dear <{{contact.email}}>', templateId, stepOrder: 1, userId: null },
      bodyHtml: '<p>&lt;{{contact.email}}&gt; of Acme &amp; Sons: 2</p>',
    });
    expect(second).toMatchObject({ subject: 'Once more, <{{contact.email}}>', body: 'Own words for Acme & Sons', bodyHtml: null });
  });

  it('are those of the steps that it began with', async () => {
    const one = await sequences.make([aStep(0), aStep(1)]);
    const [id] = (await sequences.enroll(one, (await sequences.reader()).id)) as [string];
    await sequences.sent(id, 1);
    await sequences.change(one, { steps: [aStep(0), aStep(5), aStep(6)] });
    api.clock.advance(day);
    const [, second] = await sequences.sent(id, 2);
    expect(second!.subject).toBe('Day 1');
    expect((await sequences.run(id)).status).toBe('completed');
  });

  it('go in the order of the steps', async () => {
    const id = await sequences.begin([aStep(2), aStep(1)]);
    api.clock.advance(day + hour);
    await sequences.looked();
    expect(await sequences.mails(id)).toEqual([]);
    api.clock.advance(day);
    expect((await sequences.sent(id, 2)).map(({ subject }) => subject)).toEqual(['Day 2', 'Day 1']);
  });
});

describe('a run, one of whose mails is empty by its merge fields', () => {
  it('ends there', async () => {
    for (const words of [{ body: ' {{contact.lastName}} ' }, { subject: '{{lastName}}' }]) {
      const id = await sequences.begin([aStep(0), aStep(0, words), aStep(0)]);
      await eventually(async () => (await sequences.run(id)).endedAt);
      expect(await sequences.run(id)).toMatchObject({ status: 'failed', endReason: 'empty', currentStep: 1, dueAt: null });
      expect(await sequences.mails(id)).toHaveLength(1);
    }
  });

  it('ends there also where the subject is that of a template, whose name stands in only where there is none at all', async () => {
    const template = async (subject: string | null) =>
      dataOf(await key.post('/emails/templates', { name: 'Ours alone', channel: 'email', subject, body: 'B' })).id;
    const [empty, none] = [await template('{{lastName}}'), await template(null)];
    for (const words of [{ templateId: empty }, { templateId: none, subject: '{{lastName}}' }]) {
      const id = await sequences.begin([{ delayDays: 0, ...words }]);
      await eventually(async () => (await sequences.run(id)).endedAt);
      expect(await sequences.run(id)).toMatchObject({ status: 'failed', endReason: 'empty' });
      expect(await sequences.mails(id)).toEqual([]);
    }
    const [mail] = await sequences.sent(await sequences.begin([{ delayDays: 0, templateId: none }]), 1);
    expect(mail!.subject).toBe('Ours alone');
  });
});

describe('a merge field that is a moment', () => {
  it('reads in a mail of a sequence as in one to many, and as REST shows it', async () => {
    const [contact, body] = [await sequences.reader(), 'Since {{contact.createdAt}}'];
    const [mail] = await sequences.sent(await sequences.begin([aStep(0, { body })], contact.id), 1);
    dataOf(await key.post('/email/send-bulk', { contactIds: [contact.id], subject: 'To many', body }));
    const { createdAt } = dataOf(await key.get(`/contacts/${contact.id}`));
    const { data } = dataOf(await key.get(`/messages?contact_id=${contact.id}`));
    expect(mail!.body).toBe(`Since ${createdAt}`);
    expect(data.map((message: { body: string }) => message.body)).toEqual([mail!.body, mail!.body]);
  });
});

describe('a contact who is enrolled again', () => {
  const again = async (id: string, contactId: string) =>
    dataOf(await key.post(`/emails/sequences/${id}/enroll`, { contactIds: [contactId] })).details[0];

  it('within minutes gets nothing twice, though the run is complete; later the run is meant', async () => {
    const [one, { id: contact, email }] = [await sequences.make([aStep(0)]), await sequences.reader()];
    const [first] = (await sequences.enroll(one, contact)) as [string];
    await sequences.sent(first, 1);
    expect(await sequences.run(first)).toMatchObject({ status: 'completed' });
    expect(await again(one, contact)).toMatchObject({ status: 'skipped', reason: 'already_enrolled' });
    api.clock.advance(6 * minute);
    const { enrollmentId } = await again(one, contact);
    await sequences.sent(enrollmentId, 1);
    expect(await mailsTo(api, email)).toHaveLength(2);
  });

  it('runs once more at once where the run was ended, or began long before', async () => {
    const [one, { id: ended }, { id: long }] = [
      await sequences.make([aStep(0), aStep(1)]),
      await sequences.reader(),
      await sequences.reader(),
    ];
    const [, run] = (await sequences.enroll(one, ended, long)) as [string, string];
    dataOf(await key.post(`/emails/sequences/${one}/unenroll`, { contactId: ended }));
    expect(await again(one, ended)).toMatchObject({ status: 'enrolled' });
    api.clock.advance(day + minute);
    await sequences.done(run, 2);
    expect(await again(one, long)).toMatchObject({ status: 'enrolled' });
  });
});

describe('twenty mails that are due at once', () => {
  it('take at most six statements each', async () => {
    const readers = await Promise.all(Array.from({ length: 20 }, () => sequences.reader()));
    await sequences.enroll(await sequences.make([aStep(1)]), ...readers.map(({ id }) => id));
    const { prisma } = api.app.database;
    const sent = { accountId: acme.id, contactId: { in: readers.map(({ id }) => id) }, status: 'sent' };
    const sofar = async () => (await api.metrics.queries.get()).values.reduce((sum, { value }) => sum + value, 0);
    const before = await sofar();
    let looks = 0;
    api.clock.advance(day);
    await eventually(async () => ++looks && (await prisma.message.count({ where: sent })) === readers.length);
    expect(((await sofar()) - before - looks) / readers.length).toBeLessThanOrEqual(6);
  });
});

describe('a step that is done twice', () => {
  it('is one mail, whether its worker repeats it or another one has it too', async () => {
    const id = await sequences.begin([aStep(1), aStep(1), aStep(1)]);
    const due = api.app.registry.due.get('enrollments')!;
    const taken = { attempt: 7, leasedUntil: new Date(Date.now() + hour), dueAt: api.clock.now() };
    await sequences.patchRun(id, taken);
    const ctx = await acting();
    const attempt = () => due.work(ctx, { id, attempt: 7 });
    await Promise.all([attempt(), attempt()]);
    await attempt();
    expect((await sequences.mails(id)).map(({ stepOrder }) => stepOrder)).toEqual([1]);
    expect(await sequences.run(id)).toMatchObject({ currentStep: 1, status: 'active', leasedUntil: null });
    // One who lost the lease.
    await sequences.patchRun(id, { ...taken, attempt: 9 });
    await due.work(ctx, { id, attempt: 8 });
    expect(await sequences.mails(id)).toHaveLength(1);
  });

  it('cannot be kept twice', async () => {
    const id = await sequences.begin([aStep(0)]);
    const [first] = await sequences.sent(id, 1);
    const { prisma } = api.app.database;
    const { metadata: _metadata, causes: _causes, ...row } = first!;
    await expect(prisma.message.create({ data: { ...row, id: api.clock.id() } })).rejects.toMatchObject({ code: 'P2002' });
  });
});

onPostgres(describe)('twenty who enroll the same contacts at once', () => {
  it('make one enrollment of each', async () => {
    const one = await sequences.make([aStep(1)]);
    const ids = [(await sequences.reader()).id, (await sequences.reader()).id, (await sequences.reader()).id];
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => key.post(`/emails/sequences/${one}/enroll`, { contactIds: n % 2 ? ids : [...ids].reverse() })),
    );
    expect(replies.map((reply) => dataOf(reply)).reduce((sum, { enrolled }) => sum + enrolled, 0)).toBe(3);
    const { enrolled, active } = dataOf(await key.get(`/emails/sequences/${one}/stats`));
    expect([enrolled, active]).toEqual([3, 3]);
  });

  it('while it is made inactive hold every run that they begin', async () => {
    const one = await sequences.make([aStep(1)]);
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await sequences.reader()).id));
    const post = (contactId: string) => key.post(`/emails/sequences/${one}/enroll`, { contactIds: [contactId] });
    await Promise.all([...ids.slice(0, 5).map(post), sequences.change(one, { isActive: false }), ...ids.slice(5).map(post)]);
    const runs = await api.app.database.prisma.enrollment.findMany({ where: { accountId: acme.id, sequenceId: one } });
    expect(runs.filter(({ heldAt, dueAt }) => heldAt === null || dueAt !== null)).toEqual([]);
  });
});

describe('an inactive sequence', () => {
  it('sends nothing; what is left is later by the time that it was inactive', async () => {
    const one = await sequences.make([aStep(0), aStep(2), aStep(4)]);
    const [id] = (await sequences.enroll(one, (await sequences.reader()).id)) as [string];
    await sequences.sent(id, 1);
    const planned = (await sequences.run(id)).nextEmailAt!.getTime();
    await sequences.change(one, { isActive: false });
    expect(await sequences.run(id)).toMatchObject({ status: 'active', dueAt: null, heldAt: expect.any(Date) });
    api.clock.advance(10 * day);
    await sequences.looked();
    expect(await sequences.mails(id)).toHaveLength(1);
    await sequences.change(one, { isActive: true });
    const { nextEmailAt, heldAt } = await sequences.run(id);
    expect(heldAt).toBeNull();
    expect(Math.abs(nextEmailAt!.getTime() - planned - 10 * day)).toBeLessThan(20 * second);
    api.clock.set(nextEmailAt!);
    await sequences.sent(id, 2);
    const last = (await sequences.run(id)).nextEmailAt!.getTime();
    expect(Math.abs(last - nextEmailAt!.getTime() - 2 * day)).toBeLessThan(20 * second);
  });

  it('holds a mail that waits to be tried again, also of a run that is complete', async () => {
    const one = await sequences.make([aStep(0)]);
    const [id] = (await sequences.enroll(one, (await sequences.reader()).id)) as [string];
    await sequences.sent(id, 1);
    // As if the mail server had not been there.
    const again = new Date(api.clock.now().getTime() + hour);
    await sequences.patchMails(id, { status: 'queued', sentAt: null, dueAt: again, error: 'mail_server_unavailable' });
    await sequences.change(one, { isActive: false });
    api.clock.advance(2 * hour);
    await eventually(async () => (await sequences.mails(id))[0]!.dueAt === null);
    expect((await sequences.mails(id))[0]).toMatchObject({ status: 'queued', sentAt: null, leasedUntil: null });
    await sequences.change(one, { isActive: true });
    expect((await sequences.sent(id, 1))[0]).toMatchObject({ status: 'sent', error: null });
  });
});
