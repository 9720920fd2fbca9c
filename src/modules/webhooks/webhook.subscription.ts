/**
 * By the name of an event, the position in the feed after which a webhook is sent events of that name; `*` stands for every name that is
 * not listed. A wanted name without an entry has no limit of its own: `activeAfter` holds for all.
 */
export type EventsAfter = Readonly<Record<string, string>>;

/** What a webhook is sent. */
export interface Subscription {
  events: readonly string[];
  eventsAfter: EventsAfter;
}

/** The place behind which a webhook is sent events of a name that it wants. */
export const placeOfName = ({ eventsAfter }: Pick<Subscription, 'eventsAfter'>, name: string): string =>
  eventsAfter[name] ?? eventsAfter['*'] ?? '0';

/** The same of a webhook that wants other events from the end of the feed on: what it wanted all along stays as it is. */
export function eventsAfterChange(before: Subscription, events: readonly string[], end: string): EventsAfter {
  const wanted = (name: string) => before.events.includes(name) || before.events.includes('*');
  const from = (name: string) => (wanted(name) ? placeOfName(before, name) : end);
  const isAll = events.includes('*');
  const others = isAll ? from('*') : '0';
  // Of one that takes all, the names that it took before are told apart from the others.
  const names = isAll ? [...events, ...before.events, ...Object.keys(before.eventsAfter)] : events;
  return Object.fromEntries(names.map((name) => [name, from(name)]).filter(([name, place]) => place !== (name === '*' ? '0' : others)));
}
