import type { Context } from '../context/context.js';

/**
 * Locks what other modules lock before a record of this kind, which is about to go and is not locked yet. What they do once it is gone
 * would else lock those rows after it; where others lock them before it, two would wait for each other until the database ends one.
 */
export async function lockBefore(ctx: Context, kind: string, id: string): Promise<void> {
  for (const lock of ctx.app.registry.locksBefore.get(kind) ?? []) await lock(ctx, id);
}
