import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { type Account, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';

const inboundMail = { secret: 'the secret of those who bring mail', domain: 'in.example.com' };

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server({ config: { inboundMail } });
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());

const live = () =>
  createClient({ url: `ws://127.0.0.1:${api.wire.port}/graphql`, webSocketImpl: WebSocket, connectionParams: bearer(key) });

/** What a subscription brings, as it comes. */
function following(client: Client, query: string, variables?: Record<string, unknown>): Loose[] {
  const events: Loose[] = [];
  client.subscribe<Loose>(
    { query, variables },
    { next: ({ data }) => void events.push(Object.values(data ?? {})[0]), error: () => {}, complete: () => {} },
  );
  return events;
}

async function asked(query: string, variables: Loose = {}, caller: { gql: KeyClient['gql'] } = key): Promise<Loose> {
  const { data, errors } = await caller.gql(query, variables);
  expect(errors).toBeUndefined();
  return data;
}

const subscribers = async () => (await api.metrics.registry.getSingleMetric('subscribers')!.get()).values[0]!.value;

const toEnroll = 'mutation ($id: ID!, $contactIds: [ID!]!) { enroll(id: $id, input: { contactIds: $contactIds }) { enrolled } }';
const aThread = `query ($id: ID!) { contact(id: $id) {
  conversation { conversationState unreadCount } messages(orderBy: { createdAt: asc }) { nodes { direction body repliedAt } }
  enrollments { nodes { status endReason } } } }`;

describe('a stranger who fills in a form', () => {
  const email = 'lin@example.com';

  /** A form, a sequence of two mails, and somebody who enrolls whoever is new. */
  async function prepared(client: Client): Promise<{ formId: string }> {
    const step = (delayDays: number) => `{ delayDays: ${delayDays}, subject: "Welcome", body: "Hello {{contact.firstName}}" }`;
    const made = await asked(`mutation {
      createForm(input: { name: "Contact us", fields: [{ key: "first_name", label: "Name" }, { key: "email", label: "E-mail", type: email }] }) { id }
      createSequence(input: { name: "Welcome", steps: [${step(0)}, ${step(3)}] }) { id } }`);
    client.subscribe<Loose>(
      { query: 'subscription { contactEvents(names: ["contact.created"]) { entityId } }' },
      {
        next: ({ data }) => void asked(toEnroll, { id: made.createSequence.id, contactIds: [data?.contactEvents.entityId] }),
        ...{ error: () => {}, complete: () => {} },
      },
    );
    return { formId: made.createForm.id };
  }

  it('is a contact, enrolled and written to; their answer stands in the thread and ends the run; all of it is told live', async () => {
    const client = live();
    const before = await subscribers();
    const told = following(client, 'subscription { events { name entityId } }');
    const runs = following(client, 'subscription { enrollmentEvents { enrollment { status endReason currentStep } } }');
    const { formId } = await prepared(client);
    await eventually(async () => (await subscribers()) === before + 3);

    const data = { first_name: 'Lin', email };
    const submitted = await asked(
      'mutation ($id: ID!, $data: JSONObject!) { submitForm(id: $id, input: { data: $data }) { contactId } }',
      { id: formId, data },
      api.anybody() as never,
    );
    const id = submitted.submitForm.contactId;
    const mail = await eventually(async () => (await mailsTo(api, email))[0]);
    expect(mail).toMatchObject({ subject: 'Welcome', text: expect.stringContaining('Hello Lin') });
    await eventually(() => told.some(({ name }) => name === 'message.sent'));

    const raw = [`From: Lin <${email}>`, `To: <${mail.replyTo}>`, 'Subject: Re: Welcome', 'Message-ID: <1@example.com>', '', 'Yes, please'];
    const payload = raw.join('\r\n');
    const signature = `sha256=${createHmac('sha256', inboundMail.secret).update(payload).digest('hex')}`;
    const headers = { 'content-type': 'message/rfc822', 'x-inbound-signature': signature };
    expect((await api.anybody().raw({ method: 'POST', path: '/webhooks/email/inbound', headers, payload })).status).toBe(200);

    await eventually(() => runs.some(({ enrollment }) => enrollment.status === 'cancelled'));
    const { contact } = await asked(aThread, { id });
    expect(contact.conversation).toEqual({ conversationState: 'awaiting_reply', unreadCount: 1 });
    expect(contact.messages.nodes.map(({ direction, body }: Loose) => [direction, body.trim()])).toEqual([
      ['outbound', 'Hello Lin'],
      ['inbound', 'Yes, please'],
    ]);
    expect(contact.messages.nodes[0].repliedAt).not.toBeNull();
    expect(contact.enrollments.nodes).toEqual([{ status: 'cancelled', endReason: 'replied' }]);
    expect(runs.at(-1)!.enrollment).toEqual({ status: 'cancelled', endReason: 'replied', currentStep: 1 });

    const names = ['form.submitted', 'contact.created', 'enrollment.created', 'message.sent', 'message.received'];
    await eventually(() => names.every((name) => told.some((event) => event.name === name)));
    const first = names.map((name) => told.findIndex((event) => event.name === name));
    expect([...first].sort((a, b) => a - b)).toEqual(
      first
        .slice(0, 2)
        .sort((a, b) => a - b)
        .concat(first.slice(2)),
    );
    await client.dispose();
  });
});

describe('an inbox that is kept by messageEvents alone', () => {
  const shown = 'contactId conversationState unreadCount messageCount lastMessage { id body direction status }';
  const query = `{ conversations(first: 200) { nodes { ${shown} } } }`;
  const subscription = `subscription ($after: ID) { messageEvents(after: $after) { id message { conversation { ${shown} } } } }`;

  it('is what a fresh query answers, also over a line that was cut', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, (_, n) => acme.contact({ firstName: `Inbox ${n}` })));
    let n = 0;
    const say = async (direction: 'inbound' | 'outbound') => {
      const input = { contactId: people[n % 5]!.id, channel: 'sms', direction, body: `Message ${++n}` };
      if (direction === 'outbound') Object.assign(input, { channel: 'email', subject: 'Hello' });
      await asked('mutation ($input: CreateMessageInput!) { createMessage(input: $input) { id } }', { input });
    };
    const inbox = new Map<string, Loose>();
    const take = (events: readonly Loose[]) => {
      for (const { message } of events) inbox.set(message.conversation.contactId, message.conversation);
    };
    const isKept = async () => {
      const { nodes } = (await asked(query)).conversations;
      const ours = nodes.filter(({ contactId }: Loose) => people.some(({ id }) => id === contactId));
      return ours.length === 5 && ours.every((one: Loose) => JSON.stringify(inbox.get(one.contactId)) === JSON.stringify(one));
    };

    const first = live();
    const before = await subscribers();
    const heard = following(first, subscription);
    await eventually(async () => (await subscribers()) === before + 1);
    for (let i = 0; i < 10; i++) await say(i % 3 ? 'inbound' : 'outbound');
    await eventually(() => heard.length >= 10);
    first.terminate();
    take(heard);
    // While nobody listens.
    for (let i = 0; i < 7; i++) await say(i % 2 ? 'inbound' : 'outbound');
    await asked('mutation ($id: ID!) { markConversationRead(contactId: $id) { unreadCount } }', { id: people[1]!.id });

    const second = live();
    const more = following(second, subscription, { after: heard.at(-1)!.id });
    await say('inbound');
    await eventually(async () => {
      take(more);
      return isKept();
    });
    expect(new Set(more.map(({ id }) => id)).size).toBe(more.length);
    expect(heard.filter(({ id }) => more.some((event) => event.id === id))).toEqual([]);
    await second.dispose();
  });
});

describe('a message', () => {
  it('tells the beginning of what it says, however long that is', async () => {
    const { id } = await acme.contact({ firstName: 'Long' });
    const input = { contactId: id, channel: 'email', direction: 'inbound', subject: 'Hi', body: '😀'.repeat(5000) };
    const { createMessage } = await asked('mutation ($input: CreateMessageInput!) { createMessage(input: $input) { id bodyStart } }', {
      input,
    });
    const { message } = await asked('query ($id: ID!) { message(id: $id) { begins: bodyStart } }', { id: createMessage.id });
    expect([createMessage.bodyStart, message.begins]).toEqual(['😀'.repeat(4000), '😀'.repeat(4000)]);
  });
});
