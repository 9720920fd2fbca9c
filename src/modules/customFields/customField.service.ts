import { AppError, check, unprocessable } from '../../kernel/base/errors.js';
import { defined, withTexts } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { getRow, listRows } from '../../kernel/lists/list.js';
import { deleted } from '../../kernel/model/removal.js';
import { checkTrial } from '../plans/plan.limits.js';
import { cleanupJob } from './customField.cleanup.js';
import { countValues, dependenciesOf } from './customField.impact.js';
import {
  type ConfirmImpactInput,
  type CreateCustomFieldInput,
  type CustomField,
  CustomFieldEntity,
  type CustomFieldList,
  type DeletedCustomField,
  type DependencySummary,
  type UpdateCustomFieldInput,
} from './customField.model.js';
import { checkOptions, choicesOf, optionsLeft, spellingBy } from './customField.options.js';
import { customFieldTable } from './customField.table.js';
import { customFieldsLoader, definitionsLock } from './customField.values.js';

/** Contract GET /custom-fields: by the records that carry them, then in their order. */
export const listCustomFields = (ctx: Context, args: CustomFieldList) => listRows<CustomField>(ctx, customFieldTable, args);

export const getCustomField = (ctx: Context, id: string) => getRow<CustomField>(ctx, customFieldTable, id);

/**
 * One change of definitions at a time in an account, and none while a record that was checked against them is being written. What comes
 * later in the same document goes by the definitions as they are then.
 */
async function lockDefinitions(ctx: Context): Promise<void> {
  await ctx.lockName(definitionsLock);
  for (const entityType of Object.keys(CustomFieldEntity)) customFieldsLoader(ctx).clear(entityType);
}

/** A key is free when no field of the same records has it, and no values of a deleted one are still being removed. */
async function checkKey(ctx: Context, { entityType, fieldKey }: Pick<CustomField, 'entityType' | 'fieldKey'>): Promise<void> {
  const taken = await ctx.db.customField.findFirst({ where: { entityType, fieldKey } });
  check(!taken, () => unprocessable('fieldKey', 'taken', 'is taken by another field of these records'));
  const cleanup = await ctx.db.customFieldCleanup.findFirst({ where: { entityType, fieldKey, status: { in: ['queued', 'running'] } } });
  check(!cleanup, () => unprocessable('fieldKey', 'taken', 'belonged to a deleted field whose values are still being removed'));
}

/** The column holds four places. */
const rounded = (order: number | undefined) => (order === undefined ? undefined : Math.round(order * 10_000) / 10_000);

/** Options with their texts in one form of Unicode; a choice of before stays as records have it. */
const spelledOptions = (options: object | null | undefined, before: object | null = null) =>
  withTexts(options, spellingBy(choicesOf(before))) as typeof options;

/** Contract POST /custom-fields: the key is unique among the fields of the same records; options as the type takes them. */
export async function createCustomField(ctx: Context, input: CreateCustomFieldInput): Promise<CustomField> {
  const blank = { section: null, options: null, isRequired: false, sortOrder: 0 };
  const given = defined({ ...input, options: spelledOptions(input.options), sortOrder: rounded(input.sortOrder) });
  const field = { ...blank, ...given } as CreateCustomFieldInput & typeof blank;
  checkOptions(field.fieldType, field.options);
  await lockDefinitions(ctx);
  await checkKey(ctx, field);
  checkTrial(ctx);
  const record: CustomField = ctx.insert('CustomField', field);
  await ctx.emit({ name: 'custom_field.created', record });
  return record;
}

/** What says what values mean. */
const fixing = ['fieldType', 'fieldKey', 'entityType'] as const;

/** Throws 422 where a change of what values mean meets records that have one. */
async function checkNoValues(ctx: Context, before: CustomField, input: UpdateCustomFieldInput): Promise<void> {
  const fixed = fixing.find((name) => input[name] !== undefined && input[name] !== before[name]);
  if (!fixed) return;
  const values = await countValues(ctx, before);
  check(values === 0, () =>
    unprocessable(fixed, 'conflicting', `cannot be changed while ${values} records have a value`, { valueCount: values }),
  );
}

const tracked = ['entityType', 'fieldKey', 'label', 'fieldType', 'section', 'options', 'isRequired', 'sortOrder'];

/**
 * Contract PATCH /custom-fields/{id}: what values mean (type, key, records) changes only while there are none, else 422. A field that
 * becomes one of another type keeps the options that this may have, unless others are given.
 */
export async function updateCustomField(ctx: Context, id: string, input: UpdateCustomFieldInput): Promise<CustomField> {
  // What is refused holds up nobody who writes a value.
  if (fixing.some((name) => input[name] !== undefined)) await checkNoValues(ctx, await getCustomField(ctx, id), input);
  await lockDefinitions(ctx);
  const before = await getCustomField(ctx, id);
  const { fieldType } = input;
  const left = fieldType && fieldType !== before.fieldType ? optionsLeft(fieldType, before.options) : undefined;
  const options = input.options === undefined ? left : input.options;
  const given = defined({ ...input, options: spelledOptions(options, before.options), sortOrder: rounded(input.sortOrder) });
  const after = { ...before, ...given };
  const changes = changesBetween(before, after, tracked);
  if (isNothing(changes)) return before;
  await checkNoValues(ctx, before, input);
  if (changes.fieldKey || changes.entityType) await checkKey(ctx, after);
  checkOptions(after.fieldType, after.options ?? null);
  const record = ctx.update('CustomField', before, given);
  await ctx.emit({ name: 'custom_field.updated', record, changes });
  const renamed = (['fieldKey', 'entityType'] as const).find((name) => changes[name]);
  if (renamed) await checkUnnamed(ctx, before, renamed);
  return record;
}

/**
 * Contract DELETE /custom-fields/{id}. Where values or dependencies are affected, 409 with their numbers until the caller
 * confirms just these; both are counted again while nobody can write a value. The values go afterwards, in a cleanup.
 */
export async function deleteCustomField(ctx: Context, id: string, confirmation?: ConfirmImpactInput | null): Promise<DeletedCustomField> {
  // Who only asks for the numbers holds up nobody who writes a value.
  if (!confirmation?.confirmImpact) checkConfirmed(confirmation ?? {}, await impactOf(ctx, await getCustomField(ctx, id)));
  await lockDefinitions(ctx);
  const field = await getCustomField(ctx, id);
  const { entityType, fieldKey } = field;
  const impact = await impactOf(ctx, field);
  checkConfirmed(confirmation ?? {}, impact);
  const { valueCount, ...summary } = impact;
  await ctx.db.customField.delete({ where: ctx.at(field.id) });
  await ctx.emit({ name: 'custom_field.deleted', record: field });
  const cleanup = valueCount > 0 ? await ctx.db.customFieldCleanup.create({ data: { entityType, fieldKey, valueCount } }) : null;
  if (cleanup) await ctx.enqueue('customFieldCleanup', { cleanupId: cleanup.id }, cleanupJob);
  return {
    ...deleted('CustomField', field.id),
    cleanupJobId: cleanup?.id ?? null,
    valuesQueuedForCleanup: valueCount,
    dependencySummary: summary,
  };
}

/**
 * Throws 422 where anything names the field by its key, as lists, forms and automations do: it would name nothing. Asked once the change
 * is told, since what follows the field to its new key, as imports that wait do, names it no longer by then.
 */
async function checkUnnamed(ctx: Context, field: CustomField, changed: 'fieldKey' | 'entityType'): Promise<void> {
  const summary = await dependenciesOf(ctx, field);
  const { dependencyCount } = summary;
  const told = `cannot be changed while the field is named elsewhere (dependencies: ${dependencyCount})`;
  check(dependencyCount === 0, () => unprocessable(changed, 'conflicting', told, shown(summary)));
}

/** What refers to a field, as errors tell it. */
const shown = ({ dependencyCount, dependencies }: DependencySummary) => ({
  dependencyCount,
  dependencies: dependencies.map(({ type, recordId, name }) => ({ type, id: recordId, name })),
});

interface Impact extends DependencySummary {
  valueCount: number;
}

const impactOf = async (ctx: Context, field: CustomField): Promise<Impact> => ({
  valueCount: await countValues(ctx, field),
  ...(await dependenciesOf(ctx, field)),
});

function checkConfirmed({ confirmImpact, expectedValueCount, expectedDependencyCount }: ConfirmImpactInput, impact: Impact): void {
  const { valueCount, dependencyCount } = impact;
  const isHarmless = valueCount === 0 && dependencyCount === 0;
  // Where nothing is affected there is nothing to confirm; numbers that are told must hold all the same.
  const told = isHarmless ? 0 : undefined;
  const stillHolds = (expectedValueCount ?? told) === valueCount && (expectedDependencyCount ?? told) === dependencyCount;
  check((isHarmless || confirmImpact) && stillHolds, () => {
    const numbers = `${valueCount} values and ${dependencyCount} dependencies are affected`;
    const words = `Deleting this field has an impact: ${numbers}. Confirm with confirmImpact, expectedValueCount and expectedDependencyCount`;
    return new AppError('impact_confirmation_required', words, { more: { impact: { valueCount, ...shown(impact) } } });
  });
}
