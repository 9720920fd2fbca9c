import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import { Limited } from '../../kernel/access/rateLimits.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { MaxItems } from '../../kernel/model/recordMarks.js';
import { Detached } from '../../kernel/operations/operation.js';
import {
  CreateImportInput,
  Import,
  ImportConnection,
  ImportErrorConnection,
  ImportErrorList,
  ImportList,
  ImportPreview,
} from './import.model.js';
import * as imports from './import.service.js';
import { importErrorTable, importTable } from './import.table.js';

@Resolver(() => Import)
@Access({ scope: 'contacts' })
export class ImportResolver {
  @Query(() => ImportConnection, { description: 'Imports, the newest first' })
  @Reads(importTable)
  imports(@Ctx() ctx: Context, @Listing() args: ImportList) {
    return imports.listImports(ctx, args);
  }

  @Query(() => Import, { nullable: true, description: 'One import, with how much of it is done' })
  @Reads(importTable)
  import(@Ctx() ctx: Context, @IdArg() id: string) {
    return imports.getImport(ctx, id);
  }

  @Query(() => ImportErrorConnection, { nullable: true, description: 'The rows of an import that could not be imported, in their order' })
  importErrors(@Ctx() ctx: Context, @IdArg() id: string, @Listing() args: ImportErrorList) {
    return imports.listErrors(ctx, id, args);
  }

  @Query(() => ImportErrorConnection, { description: 'The rows of all imports that could not be imported, by their places' })
  @Reads(importErrorTable)
  allImportErrors(@Ctx() ctx: Context, @Listing() args: ImportErrorList) {
    return imports.listAllErrors(ctx, args);
  }

  @Mutation(() => Import, { description: 'Keeps contacts to import, and shows how they would be read; nothing is imported yet' })
  @Limited('import')
  @Detached()
  createImport(@Ctx() ctx: Context, @In() input: CreateImportInput) {
    return imports.createImport(ctx, input);
  }

  @Mutation(() => Import, { description: 'Begins to import: its rows are worked on in the background' })
  processImport(@Ctx() ctx: Context, @IdArg() id: string) {
    return imports.processImport(ctx, id);
  }

  @FieldResolver(() => [ImportPreview], { description: 'How its first five rows are read' })
  @MaxItems(5)
  preview(@Ctx() ctx: Context, @Root() { id }: Import) {
    return imports.importPreviewLoader(ctx).load(id);
  }
}
