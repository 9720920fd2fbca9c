import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { ReadsNodes } from '../../kernel/lists/printNodes.js';
import { maxPageSize } from '../../kernel/model/connection.js';
import { Node } from '../../kernel/model/node.js';
import { MaxItems } from '../../kernel/model/recordMarks.js';
import * as nodes from './node.service.js';

@Resolver()
@Access({})
export class NodeResolver {
  @Query(() => Node, { nullable: true, description: 'One record by its id, whatever it is; null when it is not found' })
  @ReadsNodes()
  node(@Ctx() ctx: Context, @Arg('id', () => ID, { description: "The record's id" }) id: string) {
    return nodes.getNode(ctx, id);
  }

  @Query(() => [Node], { nullable: 'items', description: 'Records by their ids, in their order; null for each that is not found' })
  @MaxItems(maxPageSize)
  @ReadsNodes()
  nodes(@Ctx() ctx: Context, @Arg('ids', () => [ID], { description: `The records' ids, at most ${maxPageSize}` }) ids: string[]) {
    return nodes.getNodes(ctx, ids);
  }
}
