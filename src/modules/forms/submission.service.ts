import { AppError, check, found, invalidField, notFound } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import type { RowOf } from '../../kernel/database/kinds.js';
import type { Changes } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows, listRowsOf } from '../../kernel/lists/list.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { actingForForm } from '../auth/auth.acting.js';
import { followsContact } from '../contacts/contact.followMerge.js';
import { contactOf, type Lead, leadOf } from './form.contact.js';
import { type FormRow, getForm, openForms, readForm } from './form.service.js';
import { consentOf } from './form.settings.js';
import { submissionTable } from './form.table.js';
import { type Values, valuesOf } from './form.values.js';
import type { SubmissionList, SubmitFormInput, Submitted } from './submission.model.js';

const { shape: row } = submissionTable;
export type SubmissionRow = RowOf<typeof row>;

export const listSubmissions = (ctx: Context, args: SubmissionList) => listRows<SubmissionRow>(ctx, submissionTable, args);

/** Contract GET /forms/{id}/submissions. */
export async function listOfForm(ctx: Context, formId: string, args: SubmissionList) {
  const { id } = await getForm(ctx, formId);
  return listRowsOf<SubmissionRow>(ctx, submissionTable, args, { formId: id });
}

export const getSubmission = (ctx: Context, id: string) => getRow<SubmissionRow>(ctx, submissionTable, id);

/** Whether there is a submission under an id that its sender chose. */
export const isKept = async (ctx: Context, id: string) => (await findRow<SubmissionRow>(ctx, submissionTable, id)) !== null;

/** A form as it was read for a stranger who fills it in, with the context in which it acts for its account. */
export interface OpenForm {
  form: FormRow;
  acting: Context;
}

/** Throws 404 where there is no such form, it is inactive or archived, or its account is suspended. */
export async function openForm(ctx: Context, id: string): Promise<OpenForm> {
  const { acting, form: open } = found(await actingForForm<FormRow>(ctx, validId(id, 'Form'), openForms), 'Form');
  const form = readForm(open);
  check(form.isActive && !form.archivedAt, () => notFound('Form'));
  return { form, acting };
}

const isAgreed = (consent: unknown) =>
  consent === true || (typeof consent === 'object' && consent !== null && Object.values(consent).includes(true));

/** What was agreed to, with the wording, the moment and the address. Throws 400 where it must be agreed to and was not. */
function agreement(ctx: Context, { settings }: FormRow, consent: unknown) {
  const asked = consentOf(settings);
  const given = isAgreed(consent);
  check(given || !asked?.required, () => invalidField('consent', 'required', 'is required'));
  if (!given) return null;
  const answer = typeof consent === 'object' && { answer: consent };
  return { given, text: asked?.text ?? null, at: ctx.now().toISOString(), ip: ctx.request.ip, ...answer };
}

/** Whether what is hidden from people is filled in. */
const isTrapped = ({ _hp_field: hidden }: SubmitFormInput) => hidden !== undefined && hidden !== null && hidden !== '';

/** What is kept of a submission. */
interface Filled {
  /** The one that its sender chose. */
  id?: string;
  formId: string;
  values: Values;
  consent: object | null;
  lead: Lead | undefined;
  input: SubmitFormInput;
}

/** Contract POST /forms/{id}/submit: acts for the form's account, whoever calls. */
export const submitForm = async (ctx: Context, id: string, input: SubmitFormInput) => submitOpen(await openForm(ctx, id), input);

/**
 * What is filled in, by the fields and the wording of the form as it was read. A machine, which fills in what is hidden, gets an answer
 * like everybody, and nothing is kept of it. What is sent again under an id of its own is kept once, and answered as before.
 */
export async function submitOpen({ form, acting }: OpenForm, input: SubmitFormInput, ownId?: string): Promise<Submitted> {
  const values = valuesOf(form.fields, input.data, { account: acting.account });
  const consent = agreement(acting, form, input.consent);
  const lead = leadOf(form, values, input);
  const { redirectUrl, thankYouMessage } = form;
  const { clock } = acting.app;
  const answer = ({ id: submissionId, contactId }: Pick<SubmissionRow, 'id' | 'contactId'>) => ({
    submissionId,
    contactId,
    redirectUrl,
    thankYouMessage,
  });
  if (isTrapped(input)) return answer({ id: clock.id(), contactId: lead ? clock.id() : null });
  const filled = { id: ownId, formId: form.id, values, consent, lead, input };
  return inFinalTransaction(acting, async (inside) => answer(await keep(inside, filled))).catch(async (error: unknown) => {
    if (!ownId || !(error instanceof AppError) || error.field !== 'id') throw error;
    return answer(await getSubmission(acting, ownId));
  });
}

async function keep(ctx: Context, { id, formId, values, consent, lead, input }: Filled): Promise<SubmissionRow> {
  const contactId = lead ? await contactOf(ctx, lead) : null;
  const { source = null, attribution = null, utm = null } = input;
  const submission: SubmissionRow = ctx.insert('Submission', {
    id,
    formId,
    contactId,
    data: values,
    source,
    attribution,
    consent,
    utm,
    ip: ctx.request.ip,
    submittedAt: ctx.now(),
  });
  await ctx.emit({ name: 'submission.created', record: submission, contactId, also: { 'form.submitted': [] } });
  return submission;
}

/** Contract POST /contacts/merge: what was submitted is of the contact that is kept. */
export const onContactDeleted = followsContact({ of: submissionTable, tell: emitMoved });

function emitMoved(ctx: Context, submission: SubmissionRow, changes: Changes): Promise<void> {
  return ctx.emit({ name: 'submission.updated', record: submission, changes, contactId: submission.contactId });
}
