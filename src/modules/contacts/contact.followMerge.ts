import type { Context, Reaction } from '../../kernel/context/context.js';
import type { Shape } from '../../kernel/database/kinds.js';
import type { DomainEvent } from '../../kernel/events/changes.js';
import { type Linked, relinks } from '../../kernel/operations/relink.js';

/** The contact that a deleted one was merged into, where it was. */
export const mergedInto = ({ changes }: DomainEvent): string | undefined => changes?.mergedIntoId?.to as string | undefined;

/** Contract POST /contacts/merge: what records of another module do about it. They are of the contact that is kept, and each tells so. */
export function followsContact<S extends Shape>(linked: Linked<S>): Reaction {
  const follow = relinks(linked, 'contactId');
  return async (ctx: Context, event: DomainEvent) => {
    const kept = mergedInto(event);
    if (kept) await follow(ctx, event.record.id, kept);
  };
}
