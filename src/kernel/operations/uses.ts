import type { Context } from '../context/context.js';
import type { Use } from '../context/registry.js';

export type { Use } from '../context/registry.js';

/** The most uses that are named. */
const most = 20;

/** What needs a record of a kind, as the modules that may hold it answer: the first twenty by type and name. */
export async function usesOf(ctx: Context, kind: string, id: string): Promise<Use[]> {
  const asked = ctx.app.registry.uses.get(kind) ?? [];
  const all = (await Promise.all(asked.map((ask) => ask(ctx, id)))).flat();
  return all.sort((a, b) => a.type.localeCompare(b.type) || a.name.localeCompare(b.name)).slice(0, most);
}
