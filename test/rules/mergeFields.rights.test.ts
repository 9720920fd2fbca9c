import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  type KeyClient,
  type Loose,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';
import { aStep } from '../support/sequences.js';

let api: TestServer;
let acme: Account;
let contactIds: string[];
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const { id } = await acme.contact({ firstName: 'Ada', email: 'ada@example.com', customFields: { ssn: '078-05-1120' } });
  contactIds = [id];
});
afterAll(() => api.close());

/** A key after its first use, which the server notes. */
async function keyFor(...scopes: string[]): Promise<KeyClient> {
  const key = await acme.key({ permission: 'read-write', scopes });
  dataOf(await key.get('/auth/me'));
  return key;
}

const beyond = ['{{contact.customFields.ssn}}', '{{ leadScore }}', 'Hi {{firstName}}, {{contact.jobTitle}}'];
/** What a workflow knows besides the contact. */
const ofRuns = ['{{record.jobTitle}}', '{{changes.jobTitle.to}}', '{{deal.value}}', '{{record.customFields.ssn}}', '{{Contact.jobTitle}}'];
const shown =
  'Dear {{contact.firstName}} {{lastName}} ({{email}}, {{contact.phone}}) of {{contact.company}} at {{workspace.name}}, yours {{user.name}}';

describe('mails to many by a key that must not read contacts', () => {
  const mail = (more: Loose = {}) => ({ contactIds, subject: 'News', body: 'Hello', ...more });

  it('say no more of a contact than a conversation shows', async () => {
    const key = await keyFor('messages');
    await expectNothingWritten(api, async () => {
      for (const text of beyond)
        for (const field of ['subject', 'body', 'bodyHtml'])
          expectRefusal(await key.post('/email/send-bulk', mail({ [field]: text })), 403, field);
      const document = 'mutation ($input: SendEmailsInput!) { sendEmails(input: $input) { sent } }';
      expectGraphQLRefusal(await key.gql(document, { input: mail({ body: beyond[0] }) }), 403, 'body');
    });
    expect(dataOf(await key.post('/email/send-bulk', mail({ subject: shown, body: shown, bodyHtml: shown })))).toMatchObject({ sent: 1 });
  });

  it('say anything where the key may read contacts, and where a person sends them', async () => {
    const whole = await keyFor('messages', 'contacts');
    for (const caller of [whole, await acme.key(), await acme.member()])
      expect(dataOf(await caller.post('/email/send-bulk', mail({ body: beyond[0] })))).toMatchObject({ sent: 1 });
    const { data } = dataOf(await acme.owner.get(`/messages?contact_id=${contactIds[0]}`));
    expect(data.map(({ body }: Loose) => body)).toContain('078-05-1120');
  });
});

const template = (more: Loose = {}) => ({ name: 'Welcome', channel: 'email', body: 'Hello', ...more });

describe('templates and sequences of a key that reads messages, and must not read contacts,', () => {
  let key: KeyClient;
  beforeAll(async () => {
    key = await keyFor('emails', 'messages');
  });

  it('are refused merge fields of a contact that a conversation does not show; texts that somebody else wrote stay', async () => {
    const theirs = dataOf(await acme.owner.post('/emails/templates', template({ body: beyond[0] })));
    await expectNothingWritten(api, async () => {
      for (const field of ['subject', 'body', 'bodyHtml'])
        expectRefusal(await key.post('/emails/templates', template({ [field]: beyond[0] })), 403, field);
      expectRefusal(await key.patch(`/emails/templates/${theirs.id}`, { body: beyond[1] }), 403, 'body');
    });
    const same = { name: 'Renamed', body: beyond[0], subject: shown };
    expect(dataOf(await key.patch(`/emails/templates/${theirs.id}`, same))).toMatchObject(same);
  });

  it('name the step at fault: steps.1.body', async () => {
    const steps = [aStep(0, { body: beyond[0] }), aStep(1)];
    const { id } = dataOf(await acme.owner.post('/emails/sequences', { name: 'Theirs', steps }));
    await expectNothingWritten(api, async () => {
      expectRefusal(await key.post('/emails/sequences', { name: 'Mine', steps: [aStep(0), steps[0]] }), 403, 'steps.1.body');
      const changed = [steps[0], aStep(1, { subject: beyond[1] })];
      expectRefusal(await key.patch(`/emails/sequences/${id}`, { steps: changed }), 403, 'steps.1.subject');
    });
    const kept = [steps[0], aStep(2, { body: shown })];
    expect(dataOf(await key.patch(`/emails/sequences/${id}`, { steps: kept })).steps).toMatchObject(kept as object[]);
    dataOf(await key.post('/emails/sequences', { name: 'Mine', steps: [aStep(0, { body: shown })] }));
  });

  it('may name any field where the key cannot read messages', async () => {
    const writer = await keyFor('emails');
    dataOf(await writer.post('/emails/templates', template({ body: beyond[2] })));
    dataOf(await writer.post('/emails/sequences', { name: 'Free', steps: [aStep(0, { body: beyond[2] })] }));
  });
});

describe('what a run knows of its record, in a text of a key that reads messages and not contacts,', () => {
  let key: KeyClient;
  beforeAll(async () => {
    key = await keyFor('emails', 'messages');
  });

  it('is refused, but of types that the key reads', async () => {
    await expectNothingWritten(api, async () => {
      for (const text of ofRuns) {
        expectRefusal(await key.post('/emails/templates', template({ body: text })), 403, 'body');
        expectRefusal(await key.post('/emails/sequences', { name: 'Mine', steps: [aStep(0, { subject: text })] }), 403, 'steps.0.subject');
      }
    });
    const ofDeals = await keyFor('emails', 'messages', 'deals');
    expectRefusal(await ofDeals.post('/emails/templates', template({ body: '{{deal.value}} {{record.value}}' })), 403, 'body');
    dataOf(
      await ofDeals.post('/emails/templates', template({ body: '{{deal.value}} {{event.name}} {{workflow.name}} {{automation.name}}' })),
    );
  });

  it('is refused of a template that a workflow of somebody else mails', async () => {
    const { id } = dataOf(await acme.owner.post('/emails/templates', template({ subject: 'Hello' })));
    const actions = [{ type: 'send_email', config: { templateId: id } }];
    const workflow = dataOf(await acme.owner.post('/workflows', { name: 'Mailer', trigger: { event: 'contact.created' }, actions }));
    dataOf(await acme.owner.post(`/workflows/${workflow.id}/activate`, {}));
    for (const field of ['subject', 'body', 'bodyHtml'])
      expectRefusal(await key.patch(`/emails/templates/${id}`, { [field]: `Hi {{firstName}}, ${ofRuns[0]}` }), 403, field);
    dataOf(await key.patch(`/emails/templates/${id}`, { body: 'Hi {{firstName}} by {{workflow.name}}' }));
    const contact = await acme.contact({ firstName: 'Grace', jobTitle: 'Secret', email: 'grace@example.com' });
    const [mail] = (await eventually(async () => {
      const { data } = dataOf(await key.get(`/messages?contact_id=${contact.id}`));
      return data.length > 0 && data;
    })) as Loose[];
    expect(mail).toMatchObject({ body: 'Hi Grace by Mailer' });
  });
});
