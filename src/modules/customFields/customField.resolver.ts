import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Unprocessable } from '../../kernel/model/unprocessable.js';
import { TakesLong } from '../../kernel/operations/operation.js';
import { getCleanup } from './customField.cleanup.js';
import {
  ConfirmImpactInput,
  CreateCustomFieldInput,
  CustomField,
  CustomFieldCleanup,
  CustomFieldConnection,
  CustomFieldList,
  DeletedCustomField,
  UpdateCustomFieldInput,
} from './customField.model.js';
import * as customFields from './customField.service.js';
import { customFieldTable } from './customField.table.js';

const administration = { scope: 'custom-fields', role: 'admin' } as const;

@Resolver(() => CustomField)
@Access({ scope: 'custom-fields' })
export class CustomFieldResolver {
  @Query(() => CustomFieldConnection, { description: 'The fields that the workspace added to its records, in their order' })
  @Reads(customFieldTable)
  customFields(@Ctx() ctx: Context, @Listing() args: CustomFieldList) {
    return customFields.listCustomFields(ctx, args);
  }

  @Query(() => CustomField, { nullable: true, description: 'One custom field' })
  @Reads(customFieldTable)
  customField(@Ctx() ctx: Context, @IdArg() id: string) {
    return customFields.getCustomField(ctx, id);
  }

  @Query(() => CustomFieldCleanup, { nullable: true, description: 'How far the removal of a deleted field is' })
  customFieldCleanup(@Ctx() ctx: Context, @IdArg() id: string) {
    return getCleanup(ctx, id);
  }

  @Mutation(() => CustomField, { description: 'Adds a field to the records of a kind' })
  @Access(administration)
  @Unprocessable()
  createCustomField(@Ctx() ctx: Context, @In() input: CreateCustomFieldInput) {
    return customFields.createCustomField(ctx, input);
  }

  @Mutation(() => CustomField, { description: 'Changes a custom field; its type only while there is no data' })
  @Access(administration)
  @Unprocessable()
  @TakesLong()
  updateCustomField(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateCustomFieldInput) {
    return customFields.updateCustomField(ctx, id, input);
  }

  @Mutation(() => DeletedCustomField, {
    description: 'Deletes a custom field, and its values afterwards; what is affected must be confirmed',
  })
  @Access(administration)
  deleteCustomField(@Ctx() ctx: Context, @IdArg() id: string, @In('input', { nullable: true }) input?: ConfirmImpactInput) {
    return customFields.deleteCustomField(ctx, id, input);
  }
}
