import { dayMs, hourMs } from '../../kernel/base/durations.js';
import type { Conversation, ConversationState, Sla } from './conversation.model.js';

/** Hours after which an answer is nearly due, and overdue. */
export const waits = { dueSoon: 20, breached: 24 };

/** A conversation whose last message is older than this moment, 30 days before `now`, is idle. */
export const idleAfter = (now: Date): Date => new Date(now.getTime() - 30 * dayMs);

type Times = Pick<Conversation, 'lastMessageAt' | 'lastInboundAt' | 'lastOutboundAt' | 'closedAt'>;

/** Whose turn it is. */
export function stateOf({ lastMessageAt, lastInboundAt, lastOutboundAt, closedAt }: Times, now: Date): keyof typeof ConversationState {
  if (closedAt) return 'closed';
  if (!lastMessageAt || lastMessageAt < idleAfter(now)) return 'idle';
  return lastInboundAt && (!lastOutboundAt || lastInboundAt > lastOutboundAt) ? 'awaiting_reply' : 'replied';
}

/** How long the contact has waited for an answer. */
export function slaOf(times: Times, now: Date): Sla {
  const since = times.lastInboundAt;
  if (!since || stateOf(times, now) !== 'awaiting_reply') return { state: 'none', dueAt: null };
  const hours = (now.getTime() - since.getTime()) / hourMs;
  const state = hours >= waits.breached ? 'breached' : hours >= waits.dueSoon ? 'due_soon' : 'ok';
  return { state, dueAt: new Date(since.getTime() + waits.breached * hourMs) };
}
