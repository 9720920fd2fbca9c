import { check, type Detail, detailOf, type FaultCode, invalid, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { channelsOf, holdForMail, isOfTexts } from '../templates/template.mailed.js';
import { checkMayFill } from '../templates/template.rights.js';
import type { SequenceStepFields } from './sequence.model.js';
import type { SequenceStepRow } from './sequence.table.js';

type Given = Pick<SequenceStepFields, 'templateId' | 'subject' | 'body'>;

/**
 * Throws 400 naming every step that has nothing to send, or whose template is none of e-mails. The templates are held until the
 * steps are written: whoever archives one, or makes it one of text messages, finds the steps, or is found by them.
 */
export async function checkSteps(ctx: Context, steps: readonly Given[]): Promise<void> {
  check(steps.length > 0, () => invalidField('steps', 'too_few', 'must have at least one step'));
  const ids = [...new Set(steps.flatMap(({ templateId }) => templateId ?? []))];
  const known = await channelsOf(ctx, ids);
  const faults = steps.flatMap((step, i) => faultsOf(step, known).map(({ field, ...fault }) => detailOf(`steps.${i}.${field}`, fault)));
  if (faults.length > 0) throw invalid(faults);
  for (const id of ids) holdForMail(ctx, id);
}

/** Throws 403 for what steps say in their own words, and did not say before, where its merge fields are none that the caller may read. */
export function checkWords(ctx: Context, steps: readonly Given[], before: readonly Given[] = []): void {
  const known = new Set(before.flatMap(({ subject, body }) => [subject, body]));
  const own = steps.flatMap(({ subject, body }, i) => [[`steps.${i}.subject`, subject] as const, [`steps.${i}.body`, body] as const]);
  checkMayFill(ctx, Object.fromEntries(own.filter(([, text]) => !known.has(text))));
}

type Fault = Omit<Detail, 'field'> & { field: string; code: FaultCode };

function faultsOf({ templateId, subject, body }: Given, known: ReadonlyMap<string, string>): Fault[] {
  if (!templateId) {
    const missing = [...(subject ? [] : ['subject']), ...(body ? [] : ['body'])];
    return missing.map((field) => ({ field, code: 'required', message: 'is required of a step without a template' }));
  }
  const channel = known.get(templateId);
  if (channel === 'email') return [];
  if (channel) return [{ field: 'templateId', ...isOfTexts }];
  return [{ field: 'templateId', code: 'not_found', message: 'names no record of this account' }];
}

/** The steps of a version as they are kept, in their order. */
export const insertSteps = (
  ctx: Context,
  { id: sequenceId, version }: { id: string; version: number },
  steps: readonly SequenceStepFields[],
): SequenceStepRow[] =>
  steps.map(({ templateId = null, delayDays, subject = null, body = null }, i) => {
    const step = { templateId, delayDays, subject, body, stepOrder: i + 1 };
    const { id } = ctx.insert('SequenceStep', { sequenceId, version, ...step });
    return { id, templateId, delayDays, subject, body, order: step.stepOrder };
  });

/** What the steps say, for comparing, and for the log. */
export const comparable = (steps: readonly SequenceStepFields[]): object[] =>
  steps.map(({ templateId, delayDays, subject, body }) => ({
    templateId: templateId ?? null,
    delayDays,
    subject: subject ?? null,
    body: body ?? null,
  }));
