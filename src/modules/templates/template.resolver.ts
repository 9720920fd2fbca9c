import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Detached } from '../../kernel/operations/operation.js';
import {
  ArchivedTemplate,
  CreateTemplateInput,
  Template,
  TemplateConnection,
  TemplateList,
  TestSend,
  TestSendInput,
  UpdateTemplateInput,
} from './template.model.js';
import * as templates from './template.service.js';
import { templateTable } from './template.table.js';
import { testSend } from './template.testSend.js';

@Resolver(() => Template)
@Access({ scope: 'emails' })
export class TemplateResolver {
  @Query(() => TemplateConnection, { description: 'Templates, newest first unless sorted otherwise' })
  @Reads(templateTable)
  templates(@Ctx() ctx: Context, @Listing() args: TemplateList) {
    return templates.listTemplates(ctx, args);
  }

  @Query(() => Template, { nullable: true, description: 'One template' })
  @Reads(templateTable)
  template(@Ctx() ctx: Context, @IdArg() id: string) {
    return templates.getTemplate(ctx, id);
  }

  @Mutation(() => Template, { description: 'Makes a template' })
  createTemplate(@Ctx() ctx: Context, @In() input: CreateTemplateInput) {
    return templates.createTemplate(ctx, input);
  }

  @Mutation(() => Template, { description: 'Changes a template' })
  updateTemplate(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateTemplateInput) {
    return templates.updateTemplate(ctx, id, input);
  }

  @Mutation(() => ArchivedTemplate, { description: 'Archives a template that no active sequence or workflow needs' })
  archiveTemplate(@Ctx() ctx: Context, @IdArg() id: string) {
    return templates.archiveTemplate(ctx, id);
  }

  @Mutation(() => TestSend, { description: 'Sends a template to one address, with the values of an example' })
  @Detached()
  testSendTemplate(@Ctx() ctx: Context, @In() input: TestSendInput) {
    return testSend(ctx, input);
  }
}
