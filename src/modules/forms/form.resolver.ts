import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access, Public } from '../../kernel/access/access.js';
import { Limited } from '../../kernel/access/rateLimits.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Archived } from '../../kernel/model/removal.js';
import { Unprocessable } from '../../kernel/model/unprocessable.js';
import { Detached } from '../../kernel/operations/operation.js';
import { CreateFormInput, Form, FormConnection, FormList, UpdateFormInput } from './form.model.js';
import * as forms from './form.service.js';
import { formTable, submissionTable } from './form.table.js';
import { Submission, SubmissionConnection, SubmissionList, SubmitFormInput, Submitted } from './submission.model.js';
import * as submissions from './submission.service.js';

@Resolver(() => Form)
@Access({ scope: 'forms' })
export class FormResolver {
  @Query(() => FormConnection, { description: 'Forms, newest first unless sorted otherwise' })
  @Reads(formTable)
  forms(@Ctx() ctx: Context, @Listing() args: FormList) {
    return forms.listForms(ctx, args);
  }

  @Query(() => Form, { nullable: true, description: 'One form, archived or not' })
  @Reads(formTable)
  form(@Ctx() ctx: Context, @IdArg() id: string) {
    return forms.getForm(ctx, id);
  }

  @Query(() => SubmissionConnection, { description: 'What was filled in on all forms, the newest first' })
  @Reads(submissionTable)
  submissions(@Ctx() ctx: Context, @Listing() args: SubmissionList) {
    return submissions.listSubmissions(ctx, args);
  }

  @Query(() => SubmissionConnection, { nullable: true, description: 'What was filled in on one form, the newest first' })
  formSubmissions(@Ctx() ctx: Context, @IdArg() id: string, @Listing() args: SubmissionList) {
    return submissions.listOfForm(ctx, id, args);
  }

  @Query(() => Submission, { nullable: true, description: 'What was filled in once' })
  @Reads(submissionTable)
  submission(@Ctx() ctx: Context, @IdArg() id: string) {
    return submissions.getSubmission(ctx, id);
  }

  @Mutation(() => Form, { description: 'Makes a form' })
  @Unprocessable()
  createForm(@Ctx() ctx: Context, @In() input: CreateFormInput) {
    return forms.createForm(ctx, input);
  }

  @Mutation(() => Form, { description: 'Changes a form; making an archived one active brings it back' })
  @Unprocessable()
  updateForm(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateFormInput) {
    return forms.updateForm(ctx, id, input);
  }

  @Mutation(() => Archived, { description: 'Takes a form out of use; what was submitted stays' })
  archiveForm(@Ctx() ctx: Context, @IdArg() id: string) {
    return forms.archiveForm(ctx, id);
  }

  @Mutation(() => Submitted, { description: "Fills in a form, for the form's workspace, whoever calls" })
  @Public()
  @Detached()
  @Limited('form')
  submitForm(@Ctx() ctx: Context, @IdArg() id: string, @In() input: SubmitFormInput) {
    return submissions.submitForm(ctx, id, input);
  }
}
