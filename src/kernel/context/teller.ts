import type { Printed } from '../base/jsonText.js';
import { type Change, entryOf, eventsOfChange, type Source } from '../events/facts.js';
import { isWhole } from '../model/restRecord.js';

/** What is told within one context. */
export class Teller {
  /** The records that something was told of as a whole, as the last event of each has it, by type and id. */
  readonly #last = new Map<string, Printed>();

  /** Writes the events of a change and its entry in the log. */
  tell(source: Source, change: Change, write: (model: 'OutboxEvent' | 'Activity', row: Record<string, unknown>) => void): void {
    const { type, data, events } = eventsOfChange(source, change);
    const key = `${type} ${change.record.id}`;
    if (isWhole(source.schema, type, change.record)) this.#last.set(key, data);
    else this.#last.delete(key);
    for (const event of events) write('OutboxEvent', event);
    if (change.logged !== false && !change.onlyFor) write('Activity', entryOf(source, change));
  }

  told(type: string, id: string): Printed | undefined {
    return this.#last.get(`${type} ${id}`);
  }
}
