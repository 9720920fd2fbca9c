import type { Printed } from '../base/jsonText.js';
import { type Change, type EventContext, entryOf, eventsOfChange } from '../events/changes.js';
import { isWhole } from '../model/restRecord.js';

/** Writes the events of one context, and knows the last one of each record. */
export class EventRecorder {
  /** The records that something was told of as a whole, as the last event of each has it, by type and id. */
  readonly #last = new Map<string, Printed>();

  /** Writes the events of a change and its entry in the log. */
  record(context: EventContext, change: Change, write: (model: 'OutboxEvent' | 'Activity', row: Record<string, unknown>) => void): void {
    const { type, data, events } = eventsOfChange(context, change);
    const key = `${type} ${change.record.id}`;
    if (!change.isToldShort && isWhole(context.schema, type, change.record)) this.#last.set(key, data);
    else this.#last.delete(key);
    for (const event of events) write('OutboxEvent', event);
    if (change.logged !== false && !change.onlyFor) write('Activity', entryOf(context, change));
  }

  /** Forgets the records that were told of. */
  forget(): void {
    this.#last.clear();
  }

  /** A record as its last event has it; undefined where none told of it as a whole, or it was forgotten. */
  recorded(type: string, id: string): Printed | undefined {
    return this.#last.get(`${type} ${id}`);
  }
}
