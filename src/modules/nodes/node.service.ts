import { check, found, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { maxPageSize } from '../../kernel/model/connection.js';
import { nodesById } from '../../kernel/operations/nodes.js';

/** One record, or 404: for what there is not, as for what the caller may not read. */
export const getNode = async (ctx: Context, id: string): Promise<object> => found((await nodesById(ctx, [id]))[0], 'Record');

/** Many records at once. What is not found is null and no error: who reads again what it has would lose all for one. */
export function getNodes(ctx: Context, ids: string[]): Promise<(object | null)[]> {
  check(ids.length <= maxPageSize, () => invalidField('ids', 'too_many', `must have at most ${maxPageSize} items`));
  return nodesById(ctx, ids);
}
