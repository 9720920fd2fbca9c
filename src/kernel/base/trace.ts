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

/** The trace that a place is in. */
export const traceOf = (traceparent: string): string => traceparent.slice(3, 35);
