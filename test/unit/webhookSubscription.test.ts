import { expect, it } from '@jest/globals';
import { eventsAfterChange, placeOfName, type Subscription } from '../../src/modules/webhooks/webhook.subscription.js';

const names = ['a', 'b', 'c'];

/** From where on each name is sent, by the rule itself: what is wanted without a break since then. */
function byHand(steps: readonly string[][]): Record<string, number> {
  const from: Record<string, number> = {};
  for (const [at, events] of steps.entries()) {
    for (const name of names) {
      if (!events.includes(name) && !events.includes('*')) delete from[name];
      else from[name] ??= at;
    }
  }
  return from;
}

/** The same, as a webhook keeps it through its changes. */
function byChanges([first, ...others]: readonly string[][]): Record<string, number> {
  let heard: Subscription = { events: first!, eventsAfter: {} };
  for (const [nth, events] of others.entries()) heard = { events, eventsAfter: eventsAfterChange(heard, events, String(nth + 1)) };
  const wanted = names.filter((name) => heard.events.includes(name) || heard.events.includes('*'));
  return Object.fromEntries(wanted.map((name) => [name, Number(placeOfName(heard, name))]));
}

const choices = [['a'], ['a', 'b'], ['b', 'c'], ['*'], ['a', '*'], ['c', '*']];

it('every name that a webhook wants is sent from where it has been wanted without a break, through any four lists of names', () => {
  const sequences = [choices, choices, choices].reduce<string[][][]>(
    (all, more) => all.flatMap((steps) => more.map((events) => [...steps, events])),
    choices.map((events) => [events]),
  );
  for (const steps of sequences) expect({ steps, from: byChanges(steps) }).toEqual({ steps, from: byHand(steps) });
});

it('nothing is kept of a webhook that wants what it always wanted, and nothing of names that it no longer wants', () => {
  expect(eventsAfterChange({ events: ['a', 'b'], eventsAfter: {} }, ['b', 'a'], '7')).toEqual({});
  expect(eventsAfterChange({ events: ['a', 'b'], eventsAfter: { b: '5' } }, ['a'], '7')).toEqual({});
  expect(eventsAfterChange({ events: ['a'], eventsAfter: {} }, ['*'], '7')).toEqual({ a: '0', '*': '7' });
});
