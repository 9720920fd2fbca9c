import type { Context } from '../kernel/context/context.js';
import { publishDraft } from '../modules/callFlows/callFlow.publish.js';
import { createCallFlow, flowRows } from '../modules/callFlows/callFlow.service.js';
import { setPresence } from '../modules/callFlows/roster.service.js';
import { logCall } from '../modules/calls/call.service.js';
import { contactLoader } from '../modules/contacts/contact.service.js';
import { claimForWorkspace } from '../modules/numbers/number.service.js';

/** One of those that the simulator has; of those that are kept for examples, so that nobody has it. */
const number = '+14155550110';

/** The main line, which the team answers. */
export interface MainLine {
  callFlowId: string;
  callFlowVersion: number;
}

const weekdays = [1, 2, 3, 4, 5].map((day) => ({ day, start: '08:00', end: '18:00' }));

const graph = (members: string[]) => ({
  entryId: 'entry',
  nodes: [
    { id: 'entry', kind: 'entry', next: 'hours' },
    { id: 'hours', kind: 'timing', hours: weekdays, next: 'welcome', closedNext: 'closed' },
    { id: 'welcome', kind: 'greeting', text: 'Welcome to Northwind. Please hold the line.', next: 'team' },
    {
      id: 'team',
      kind: 'group',
      name: 'Sales',
      mode: 'round_robin',
      ringSeconds: 20,
      next: 'voicemail',
      members: members.map((userId) => ({ userId })),
    },
    { id: 'closed', kind: 'greeting', text: 'We are there from Monday to Friday.', next: 'voicemail' },
    { id: 'voicemail', kind: 'voicemail', text: 'Please leave a message after the tone.', next: null },
  ],
});

/**
 * The workspace's number and the flow that answers it. The vendor is not asked, since nobody waits for it while the server starts: it
 * does not know of the flow until it is told, `POST /call-flows/{id}/wiring`. For the same reason no text messages go from the number.
 */
export async function addMainLine(ctx: Context, members: string[]): Promise<MainLine> {
  const voice = { voiceUrl: '', voiceMethod: 'POST', voiceApplicationSid: '', statusCallback: '', statusCallbackMethod: 'POST' };
  const texts = { smsUrl: '', smsMethod: 'POST', smsApplicationSid: '' };
  await claimForWorkspace(ctx, { id: 'demo', number, label: 'Main line', hasSms: false, hasVoice: true, voice, texts });
  await setPresence(ctx, { presence: 'on', phone: '+14155550170' });
  const { id } = await createCallFlow(ctx, { name: 'Main line', phoneNumber: number, draftGraph: graph(members) });
  const published = await publishDraft(ctx, await ctx.forChange(flowRows, id));
  return { callFlowId: id, callFlowVersion: published.publishedVersion! };
}

/** How calls went: who called, what became of it, how long it took, what there is to say. */
const calls = [
  ['inbound', 'completed', 312, null],
  ['outbound', 'completed', 320, 'Likes the offer'],
  ['inbound', 'voicemail', 41, null],
  ['outbound', 'no_answer', 0, null],
  ['inbound', 'missed', 18, null],
  ['inbound', 'completed', 95, 'Demo moved'],
  ['outbound', 'completed', 640, 'Went through the contract'],
] as const;

/** The nth call with a contact, which is over by now: an inbound one came by the main line. */
export async function addCall(ctx: Context, nth: number, contactId: string, userId: string, line: MainLine): Promise<void> {
  const [direction, status, duration, notes] = calls[nth % calls.length]!;
  const ends = { startedAt: new Date(ctx.now().getTime() - duration * 1000), duration };
  if (direction === 'outbound') {
    await logCall(ctx, { ...ends, contactId, direction, status, notes, source: 'manual_log', userId });
    return;
  }
  const { phone } = (await contactLoader(ctx).load(contactId)) as { phone: string | null };
  const came = { source: 'call_flow', ...line, fromNumber: phone ?? 'anonymous', toNumber: number };
  await logCall(ctx, { ...ends, ...came, contactId, direction, status, notes, userId: status === 'completed' ? userId : null });
}
