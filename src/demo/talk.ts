import type { Context } from '../kernel/context/context.js';
import type { CreateMessageInput } from '../modules/messages/message.model.js';
import { createMessage } from '../modules/messages/message.service.js';
import { enroll } from '../modules/sequences/enrollment.enroll.js';
import type { CreateSequenceInput } from '../modules/sequences/sequence.model.js';
import { createSequence } from '../modules/sequences/sequence.service.js';
import { createTemplate } from '../modules/templates/template.service.js';

/** What was said with a contact: the channel, who spoke, the words. */
const threads = [
  [
    ['email', 'outbound', 'Our offer', 'Here is the offer that we talked about.'],
    ['email', 'inbound', 'Re: Our offer', 'Thank you. Is there a discount for three years?'],
  ],
  [
    ['sms', 'inbound', null, 'Can we move the demo to Thursday?'],
    ['email', 'outbound', 'The demo', 'Thursday at ten it is.'],
  ],
  [['sms', 'inbound', null, 'Please call me back about the invoice.']],
] as const;

/** What the team wrote and got: templates, threads, and a sequence that runs. */
export async function addTalk(ctx: Context, contacts: string[]): Promise<void> {
  for (const [nth, thread] of threads.entries()) {
    for (const [channel, direction, subject, body] of thread) {
      await createMessage(ctx, { contactId: contacts[nth * 3]!, channel, direction, subject, body } as CreateMessageInput);
    }
  }
  const body = 'Hello {{contact.firstName}},\n\nthank you for your interest in {{workspace.name}}.';
  const welcome = await createTemplate(ctx, {
    name: 'Welcome',
    channel: 'email',
    subject: 'Welcome, {{contact.firstName}}',
    body,
    isActive: true,
  });
  const followUp = await createTemplate(ctx, {
    name: 'Follow-up',
    channel: 'email',
    subject: 'Any questions?',
    isActive: true,
    body: 'Hello {{contact.firstName}}, is there anything that we can help you with?',
  });
  const steps = [
    { templateId: welcome.id, subject: null, body: null, delayDays: 0 },
    { templateId: followUp.id, subject: null, body: null, delayDays: 3 },
  ];
  const { id } = await createSequence(ctx, { name: 'Welcome', description: 'For new leads', steps } as CreateSequenceInput);
  await enroll(ctx, id, { contactIds: contacts.slice(-3) });
}
