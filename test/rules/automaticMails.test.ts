import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { MailRefused } from '../../src/vendors/email/email.js';
import { Automations, aNode } from '../support/automations.js';
import { answer, answered, bounce, inboundMail, mailing } from '../support/inboundMail.js';
import { type Account, dataOf, type Loose, minute, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';
import { aStep, Sequences } from '../support/sequences.js';
import { activeWorkflow, endedRuns } from '../support/workflows.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server({ config: { inboundMail } });
  acme = await api.seed.account();
});
afterAll(() => api.close());

const byItself = (mail: Loose) => mail.headers?.['Auto-Submitted'];
const firstMailTo = (email: string): Promise<Loose> => eventually(async () => (await mailsTo(api, email))[0]);
const write = (contactId: string) =>
  acme.owner.post('/messages', { contactId, channel: 'email', direction: 'inbound', subject: 'Hi', body: 'Hello' });

/** The runs behind what was told last of the one mail to a contact, as they are stored: another version may read them. */
async function lastCauses(contactId: string): Promise<unknown> {
  const { prisma } = api.app.database;
  const { id: entityId } = await prisma.message.findFirstOrThrow({ where: { accountId: acme.id, contactId } });
  const where = { accountId: acme.id, name: 'message.updated', entityId };
  return (await prisma.outboxEvent.findFirstOrThrow({ where, orderBy: { seq: 'desc' } })).causes;
}

describe('a mail', () => {
  it('of a sequence says that it was sent by itself, and one that a person sends does not', async () => {
    const sequences = new Sequences(acme, await acme.key());
    const [ofStep, ofMany, ofOne] = [await sequences.reader(), await sequences.reader(), await sequences.reader()];
    await sequences.begin([aStep(0)], ofStep.id);
    dataOf(await acme.owner.post('/email/send-bulk', { contactIds: [ofMany.id], subject: 'News', body: 'Hello' }));
    dataOf(await acme.owner.post('/email/send', { contactId: ofOne.id, subject: 'Offer', body: 'Hello' }));
    const mails = [await firstMailTo(ofStep.email), await firstMailTo(ofMany.email), await firstMailTo(ofOne.email)];
    expect(mails.map(byItself)).toEqual(['auto-generated', undefined, undefined]);
    expect(mails[0]!.headers['List-Unsubscribe']).toBeDefined();
  });
});

describe('a workflow that mails whoever writes', () => {
  it('mails a machine once, and a person each time', async () => {
    const { id, email } = await acme.contact({ email: 'machine@example.com' });
    const workflow = await activeWorkflow(acme, {
      trigger: { event: 'message.received', conditions: { contactId: id } },
      actions: [{ type: 'send_email', config: { subject: 'We have it', body: 'Thank you' } }],
    });
    dataOf(await write(id));
    const mail = await firstMailTo(email);
    expect(byItself(mail)).toBe('auto-generated');
    const { brought, thread } = mailing(api, acme);
    const ofMachine = answer({ to: mail.replyTo, more: ['Auto-Submitted: auto-replied'] }, 'Ticket 1');
    expect(answered(await brought(ofMachine))).toEqual({ taken: true });
    const outcomes = async (n: number) => (await endedRuns(acme, workflow, n)).map(({ status, error }) => error ?? status).sort();
    expect(await outcomes(2)).toEqual(['loop', 'success']);
    expect((await thread(id)).map(({ direction }) => direction)).toEqual(['inbound', 'outbound', 'inbound']);
    expect(answered(await brought(answer({ to: mail.replyTo })))).toEqual({ taken: true });
    expect(await outcomes(3)).toEqual(['loop', 'success', 'success']);
    await eventually(async () => (await mailsTo(api, email)).length === 2);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });
});

describe('a mail that comes back', () => {
  const bounced = { event: 'message.updated', conditions: { error: 'bounced' } };
  const mail = { subject: 'Is this you?', body: 'Please answer' };
  const cameBack = async ({ messageId }: Loose) =>
    expect(answered(await mailing(api, acme).brought(bounce(messageId, '5.1.1')))).toEqual({ taken: true });

  it('is mailed after once by a workflow that does so, whose own mail comes back as well', async () => {
    const contact = await acme.contact({ email: 'dead@example.com' });
    const workflow = await activeWorkflow(acme, { trigger: bounced, actions: [{ type: 'send_email', config: mail }] });
    const { mail: first } = await mailing(api, acme).sentTo(contact);
    await cameBack(first);
    const second = await eventually(async () => (await mailsTo(api, contact.email)).find(({ subject }) => subject === mail.subject));
    await cameBack(second!);
    const outcomes = (await endedRuns(acme, workflow, 2)).map(({ status, error }) => error ?? status).sort();
    expect(outcomes).toEqual(['loop', 'success']);
    expect(await mailsTo(api, contact.email)).toHaveLength(2);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });

  it('ends the wait of the automation that sent it', async () => {
    const contact = await acme.contact({ email: 'gone@example.com' });
    const automations = new Automations(acme, await acme.key());
    const id = await automations.make([
      aNode('mail', 'action', { type: 'send_email', config: mail }, 'wait'),
      aNode('wait', 'wait', bounced, 'end'),
      aNode('end', 'end'),
    ]);
    const [run] = await automations.enroll(id, contact.id);
    await automations.until(run!, 'waiting');
    await cameBack(await firstMailTo(contact.email));
    await automations.until(run!, 'success');
    expect(await lastCauses(contact.id)).toMatchObject([{ kind: 'automation', id, runId: run, isReport: true }]);
  });
});

describe('a mail that is opened', () => {
  const isOpened = { and: [{ field: 'changes.openedAt.to', op: 'is_not_null' }] };
  const mail = { subject: 'You have looked', body: 'Shall we talk?' };
  const open = async ({ html }: Loose) => {
    const [pixel] = /http[^"'\s]*\/e\/open\/[^"'\s]*/.exec(html)!;
    const reply = await api.anybody().raw({ path: pixel.slice(api.app.config.publicUrl.length) });
    expect(reply.status).toBe(200);
  };

  it('is mailed after once by a workflow that does so, whose own mail is opened by a program', async () => {
    const contact = await acme.contact({ email: 'fetches@example.com' });
    const trigger = { event: 'message.updated', conditions: isOpened };
    const workflow = await activeWorkflow(acme, { trigger, actions: [{ type: 'send_email', config: mail }] });
    dataOf(await acme.owner.post('/email/send-bulk', { contactIds: [contact.id], subject: 'News', body: 'Hello' }));
    await open(await firstMailTo(contact.email));
    const second = await eventually(async () => (await mailsTo(api, contact.email)).find(({ subject }) => subject === mail.subject));
    await open(second!);
    const outcomes = (await endedRuns(acme, workflow, 2)).map(({ status, error }) => error ?? status).sort();
    expect(outcomes).toEqual(['loop', 'success']);
    expect(await mailsTo(api, contact.email)).toHaveLength(2);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });

  it.each(['sent', 'sending'] as const)('ends the wait of the automation that sent it, as far as we know %s', async (status) => {
    const contact = await acme.contact({ email: `opens.${status}@example.com` });
    const automations = new Automations(acme, await acme.key());
    const id = await automations.make([
      aNode('mail', 'action', { type: 'send_email', config: mail }, 'wait'),
      aNode('wait', 'wait', { event: 'message.updated', conditions: isOpened }, 'end'),
      aNode('end', 'end'),
    ]);
    const [run] = await automations.enroll(id, contact.id);
    await automations.until(run!, 'waiting');
    const first = await firstMailTo(contact.email);
    const { prisma } = api.app.database;
    const where = { accountId: acme.id, contactId: contact.id };
    await eventually(async () => (await prisma.message.count({ where: { ...where, status: 'sent' } })) === 1);
    await prisma.message.updateMany({ where, data: { status, error: status === 'sending' ? 'unconfirmed' : null } });
    await open(first);
    await automations.until(run!, 'success');
    expect(await lastCauses(contact.id)).toMatchObject([{ kind: 'automation', id, runId: run, isReport: true }]);
  });
});

describe('a mail that the mail server refuses', () => {
  it('ends the wait of the automation that sent it', async () => {
    const contact = await acme.contact({ email: 'unknown@example.com' });
    const automations = new Automations(acme, await acme.key());
    const failed = { event: 'message.updated', conditions: { status: 'failed' } };
    const id = await automations.make([
      aNode('mail', 'action', { type: 'send_email', config: { subject: 'Is this you?', body: 'Please answer' } }, 'wait'),
      aNode('wait', 'wait', failed, 'end'),
      aNode('end', 'end'),
    ]);
    const refused = jest.spyOn(api.app.vendors.email, 'send').mockRejectedValueOnce(new MailRefused('550 5.1.1 user unknown', true));
    const [run] = await automations.enroll(id, contact.id);
    await automations.until(run!, 'success');
    refused.mockRestore();
    expect((await automations.steps(run!))[1]!.output).toMatchObject({ ended: 'event', event: 'message.updated' });
  });

  it('for now does not end it, and once it does so for good', async () => {
    const contact = await acme.contact({ email: 'busy@example.com' });
    const automations = new Automations(acme, await acme.key());
    const id = await automations.make([
      aNode('mail', 'action', { type: 'send_email', config: { subject: 'Is this you?', body: 'Please answer' } }, 'wait'),
      aNode('wait', 'wait', { event: 'message.updated' }, 'end'),
      aNode('end', 'end'),
    ]);
    const refused = jest.spyOn(api.app.vendors.email, 'send').mockRejectedValueOnce(new MailRefused('450 4.2.0 try again later', false));
    const [run] = await automations.enroll(id, contact.id);
    const { prisma } = api.app.database;
    const stands = (status: string, error: string) =>
      eventually(async () => (await prisma.message.count({ where: { accountId: acme.id, contactId: contact.id, status, error } })) === 1);
    await stands('queued', 'mail_server_unavailable');
    await automations.until(run!, 'waiting');
    await automations.read();
    expect(await automations.standing(run!)).toBe('waiting message.updated');
    refused.mockRejectedValueOnce(new MailRefused('550 5.1.1 user unknown', true));
    api.clock.advance(minute);
    await stands('failed', 'refused');
    await automations.until(run!, 'success');
    refused.mockRestore();
    api.clock.reset();
  });
});

describe('a sequence that an automation enrolls into', () => {
  let readers = 0;
  /** A run that enrolls a new contact in a sequence of one mail, and waits for an event. */
  async function enrolls(wait: Loose) {
    const key = await acme.key();
    const [automations, sequences] = [new Automations(acme, key), new Sequences(acme, key)];
    const contact = await acme.contact({ email: `enrolled${++readers}@example.com` });
    const config = { sequenceId: await sequences.make([aStep(0)]) };
    const id = await automations.make([
      aNode('enroll', 'action', { type: 'enroll_sequence', config }, 'wait'),
      aNode('wait', 'wait', wait, 'end'),
      aNode('end', 'end'),
    ]);
    const [run] = await automations.enroll(id, contact.id);
    return { automations, contact, run: run! };
  }

  it('ends its wait once it is complete', async () => {
    const { automations, run } = await enrolls({ event: 'enrollment.updated', conditions: { status: 'completed' } });
    await automations.until(run, 'success');
    expect((await automations.steps(run))[1]!.output).toMatchObject({ ended: 'event', event: 'enrollment.updated' });
  });

  it('does not end its wait by a mail on its way, nor by what a machine answers to it', async () => {
    const sends = await enrolls({ event: 'message.sent' });
    const { automations, contact, run } = await enrolls({ event: 'message.received' });
    const mail = await firstMailTo(contact.email);
    await firstMailTo(sends.contact.email);
    const { brought } = mailing(api, acme);
    expect(answered(await brought(answer({ to: mail.replyTo, more: ['Auto-Submitted: auto-replied'] }, 'I am away')))).toEqual({
      taken: true,
    });
    await automations.read();
    expect(await automations.standing(run)).toBe('waiting message.received');
    expect(await automations.standing(sends.run)).toBe('waiting message.sent');
    expect(answered(await brought(answer({ to: mail.replyTo })))).toEqual({ taken: true });
    await automations.until(run, 'success');
  });
});
