import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { First, firstOf } from '../../kernel/lists/relatedRows.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Holds } from '../../kernel/model/recordMarks.js';
import { Contact } from '../contacts/contact.model.js';
import { User } from '../users/user.model.js';
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

/** A contact with the import that it came by. */
type Imported = Contact & { importId?: string | null };

@Resolver(() => Import)
@Access({ scope: 'contacts' })
export class ImportResolver {
  @Query(() => ImportConnection, { description: 'Imports, the newest first' })
  imports(@Ctx() ctx: Context, @Listing() args: ImportList) {
    return imports.listImports(ctx, args);
  }

  @Query(() => Import, { nullable: true, description: 'One import, with how much of it is done' })
  import(@Ctx() ctx: Context, @IdArg() id: string) {
    return imports.getImport(ctx, id);
  }

  @Query(() => ImportErrorConnection, { description: 'The rows of an import that could not be imported, in their order' })
  importErrors(@Ctx() ctx: Context, @IdArg() id: string, @Listing() args: ImportErrorList) {
    return imports.listErrors(ctx, id, args);
  }

  @Mutation(() => Import, { description: 'Keeps contacts to import, and shows how they would be read; nothing is imported yet' })
  createImport(@Ctx() ctx: Context, @In() input: CreateImportInput) {
    return imports.createImport(ctx, input);
  }

  @Mutation(() => Import, { description: 'Begins to import: its rows are worked on in the background' })
  processImport(@Ctx() ctx: Context, @IdArg() id: string) {
    return imports.processImport(ctx, id);
  }

  @FieldResolver(() => User, { nullable: true, description: 'Who made it' })
  author(@Ctx() ctx: Context, @Root() { createdBy }: Import) {
    return ctx.load.user.maybe(createdBy);
  }

  @FieldResolver(() => [Contact], { description: 'The contacts that it made, newest first; those that it changed are not among them' })
  contacts(@Ctx() ctx: Context, @Root() { id }: Import, @First() first: number) {
    return ctx.load.contactsOfImport.load(firstOf(id, first));
  }

  @FieldResolver(() => [ImportPreview], { description: 'How its first five rows are read' })
  @Holds(5)
  preview(@Ctx() ctx: Context, @Root() { id }: Import) {
    return ctx.load.importPreview.load(id);
  }
}

@Resolver(() => Contact)
export class ContactImportResolver {
  @FieldResolver(() => Import, { nullable: true, description: 'The import that made the contact' })
  import(@Ctx() ctx: Context, @Root() contact: Imported) {
    return ctx.load.import.maybe(contact.importId);
  }
}
