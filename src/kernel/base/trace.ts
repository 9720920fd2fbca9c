import type { Clock } from './clock.js';

/** The traceparent of W3C Trace Context: version, trace, who asks, flags. */
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const none = /^0+$/;

/**
 * A place of our own in the trace that a caller is in, as what we call in turn, and our events, pass it on. Undefined where the
 * caller is in none, or says it in no way that the standard knows: then nothing is traced.
 */
export function ownPlaceIn(traceparent: string | undefined, clock: Clock): string | undefined {
  const [, version, trace, parent, flags, more] = form.exec(traceparent ?? '') ?? [];
  if (!version || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (none.test(trace!) || none.test(parent!)) return undefined;
  const own = clock.bytes(8).toString('hex');
  // Of the flags only the first is known in the version that we write: whether the caller keeps the trace.
  return `00-${trace}-${own}-0${Number.parseInt(flags!, 16) & 1}`;
}

/** A member of a tracestate: the key of a system and what that one says, as versions 1 and 2 of the standard have them. */
const member = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;
const mostMembers = 32;
/** Room for as many of the longest members, with some blanks between them; no header is that long. */
const longestState = 20_000;
const printable = /^[\t -~]*$/;
/** What is always passed on of a tracestate, in characters; members longer than the second are the first to go. */
const [mostCarried, longMember] = [512, 128];

/**
 * What the systems before us in a trace have to say of it, as we pass it on beside our place: theirs, in their order, since we say
 * nothing of our own. Undefined where there is nothing, or it is said in no way that the standard knows; the trace goes on without it.
 */
export function stateOf(tracestate: string | undefined): string | undefined {
  // No expression takes the blanks off: one that looks for those at the end begins anew at each.
  if (!tracestate || tracestate.length > longestState || !printable.test(tracestate)) return undefined;
  const members = tracestate
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const keys = new Set(members.map((part) => part.slice(0, part.indexOf('='))));
  const isKnown = members.length <= mostMembers && keys.size === members.length && members.every((part) => member.test(part));
  if (!isKnown || members.length === 0) return undefined;
  const length = () => members.join().length;
  for (let at = members.length - 1; at >= 0 && length() > mostCarried; at--) if (members[at]!.length > longMember) members.splice(at, 1);
  while (length() > mostCarried) members.pop();
  return members.join() || undefined;
}

/** The trace that a place is in. */
export const traceOf = (traceparent: string): string => traceparent.slice(3, 35);
