import type { Context, ToChange } from '../context/context.js';
import type { ModelName } from '../database/models.js';
import { changesBetween } from '../events/changes.js';
import type { EventName } from '../events/recordEvents.js';
import { type Archived, archived } from '../model/removal.js';

interface Archivable {
  id: string;
  archivedAt: Date | null;
}

type NounOf<Name> = Name extends `${infer Noun}.archived` ? Noun : never;
type Noun = NounOf<EventName>;

/** What is taken out of use and stays: its model, and how its events begin, one of which tells that. */
interface Kind {
  type: Extract<ModelName, Capitalize<Noun>>;
  noun: Noun;
}

const fields = ['isActive', 'archivedAt'];

/** Takes a record out of use, which stays and is inactive then: once, and told as deleted and as archived. Throws 404. */
export const archiving =
  <Row extends Archivable>({ type, noun }: Kind, rows: ToChange<Row>) =>
  async (ctx: Context, id: string): Promise<Archived> => {
    const before = await ctx.forChange(rows, id);
    if (!before.archivedAt) {
      const record = ctx.update(type, before, { archivedAt: ctx.now(), isActive: false });
      const changes = changesBetween(before, record, fields);
      await ctx.emit({ name: `${noun}.deleted`, record, changes, also: { [`${noun}.archived`]: fields } });
    }
    return archived(type, before.id);
  };
