import type { Context } from '../../kernel/context/context.js';
import { recordSchema } from '../../kernel/model/recordSchema.js';
import { contactAfterEvent } from '../actions/action.service.js';

/** What a wait for an event goes by. */
type Way = 'record' | 'contact';

/** What tells of a record that is new: none that is there already comes to it. A message that we sent is as new as one that we received. */
export const ofNew = /\.(created|received|submitted)$|^message\.sent$/;

/** What comes to one record any number of times. */
const ofMany = /\.(updated|stage_changed|payment_recorded)$/;

/**
 * Whether an event may come to the record that started a run. What came to it once comes again only where it is reopened: whoever waits for
 * that of somebody means the next record of theirs, or this one.
 */
const mayCome = (event: string, trigger: string | null, isForSomebody: boolean): boolean =>
  !ofNew.test(event) && !trigger?.endsWith('.deleted') && (event !== trigger || ofMany.test(event) || !isForSomebody);

// Of each type of record one answer, for the life of the server.
const known = new WeakMap<object, Map<string, boolean>>();

/** What names the contact of a record: itself, or as `contactsOf` finds it, the deal or the invoice that it is of. */
const naming = ['contactId', 'contact', 'dealId', 'invoiceId'];

/** Whether records of a type may be about a contact. */
function namesContact(schema: Parameters<typeof recordSchema>[0], type: string): boolean {
  const its = known.get(schema) ?? new Map<string, boolean>();
  known.set(schema, its);
  const look = () => {
    const members = recordSchema(schema, type).properties as object;
    return naming.some((name) => name in members);
  };
  const names = its.get(type) ?? (type === 'Contact' || look());
  its.set(type, names);
  return names;
}

/**
 * What a run's wait for an event goes by: the record that started the run, where the event is of the same type and may still come to it;
 * else the run's contact, where such events may be about one, whose record that one is as well. A contact is that of the run by either,
 * and may have been merged since. Null where no event can end the wait.
 */
export function wayOf(
  { app }: Pick<Context, 'app'>,
  { triggerEvent, entityId, contactId }: { triggerEvent: string | null; entityId: string | null; contactId: string | null },
  event: string,
): Way | null {
  const typeOf = (name: string | null) => (name === null ? undefined : app.registry.events.get(name)?.of.type);
  const type = typeOf(event);
  const isOfRecord = entityId !== null && type !== 'Contact' && type === typeOf(triggerEvent);
  if (isOfRecord && mayCome(event, triggerEvent, contactId !== null)) return 'record';
  return contactAfterEvent(event, contactId) && type && namesContact(app.registry.schema(), type) ? 'contact' : null;
}

/**
 * Whether a run of an automation that such an event starts, or that somebody starts for a contact, may ever be gone on with by an event.
 */
export const mayEnd = (ctx: Context, triggerEvent: string | null, event: string): boolean =>
  ['its own', null].some((contactId) => wayOf(ctx, { triggerEvent, entityId: 'its own', contactId }, event) !== null);
