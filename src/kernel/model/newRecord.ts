import { ID, InputType } from 'type-graphql';
import { clientId } from './checks.js';
import { type Class, Draft, type DraftOf, field } from './fields.js';

/** The id of a new record, where the client chooses it: so it can show the record before it is made. GraphQL alone has it. */
export const OwnId = () =>
  field(
    'The id of the new record, a UUID of version 4 or 7 that no other record has; one is made by default',
    {},
    { type: () => ID, isOwnId: true, nullIsAbsent: true, check: clientId, schema: { format: 'uuid' } },
  );

/** The fields of a record as its create input, in which a client may choose the id. */
export function New<T extends object>(base: Class<T>): new () => DraftOf<T> & { id?: string } {
  class Fields extends Draft<object>(base) {
    @OwnId() id?: string;
  }
  InputType({})(Fields);
  return Fields as new () => DraftOf<T> & { id?: string };
}
