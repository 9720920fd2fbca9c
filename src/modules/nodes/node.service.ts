import { check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { nodesById } from '../../kernel/lists/nodes.js';
import { maxPageSize } from '../../kernel/model/connection.js';

/** One record; null where there is none, or the caller may not read it. */
export const getNode = async (ctx: Context, id: string): Promise<object | null> => (await nodesById(ctx, [id]))[0] ?? null;

/** Many records at once. What is not found is null and no error: a client that reads again what it has would lose all for one. */
export function getNodes(ctx: Context, ids: string[]): Promise<(object | null)[]> {
  check(ids.length <= maxPageSize, () => invalidField('ids', 'too_many', `must have at most ${maxPageSize} items`));
  return nodesById(ctx, ids);
}
