import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Deleted } from '../../kernel/model/removal.js';
import { DetachedAlone, TakesLong } from '../../kernel/operations/operation.js';
import { CreateTagInput, MergeTagsInput, Tag, TagConnection, TagList, UpdateTagInput } from './tag.model.js';
import * as tags from './tag.service.js';
import { tagTable } from './tag.table.js';

@Resolver(() => Tag)
@Access({ scope: 'tags' })
export class TagResolver {
  @Query(() => TagConnection, { description: 'The tags of the workspace, by name unless sorted otherwise' })
  @Reads(tagTable)
  tags(@Ctx() ctx: Context, @Listing() args: TagList) {
    return tags.listTags(ctx, args);
  }

  @Query(() => Tag, { nullable: true, description: 'One tag' })
  @Reads(tagTable)
  tag(@Ctx() ctx: Context, @IdArg() id: string) {
    return tags.getTag(ctx, id);
  }

  @Mutation(() => Tag, { description: 'Makes a tag' })
  createTag(@Ctx() ctx: Context, @In() input: CreateTagInput) {
    return tags.createTag(ctx, input);
  }

  @Mutation(() => Tag, { description: 'Renames or recolours a tag' })
  updateTag(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateTagInput) {
    return tags.updateTag(ctx, id, input);
  }

  @DetachedAlone()
  @TakesLong()
  @Mutation(() => Deleted, { description: 'Deletes a tag and takes it off every contact' })
  deleteTag(@Ctx() ctx: Context, @IdArg() id: string) {
    return tags.deleteTag(ctx, id);
  }

  @DetachedAlone()
  @TakesLong()
  @Mutation(() => Tag, { description: 'Moves the contacts of one tag to another and deletes the first' })
  mergeTags(@Ctx() ctx: Context, @In() input: MergeTagsInput) {
    return tags.mergeTags(ctx, input);
  }
}
