import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { nameOf } from '../../kernel/base/domains.js';
import { type Detail, detailOf, type Fault, type FaultCode, invalid, notOneOf, unprocessable } from '../../kernel/base/errors.js';
import { withTexts } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { grouped } from '../../kernel/context/loaders.js';
import { recall } from '../../kernel/context/recall.js';
import { listOf, text as textKind, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { isDay, isEmail, isWebUrl, moment, toE164 } from '../../kernel/model/checks.js';
import { loader } from '../../kernel/operations/loader.js';
import { shapeOf } from '../../kernel/tables/modelRow.js';
import { mergeCustomFields } from './customField.merge.js';
import { CustomField } from './customField.model.js';
import { choicesOf, domainsOf, spellingBy } from './customField.options.js';

type Definition = Pick<CustomField, 'id' | 'entityType' | 'fieldKey' | 'label' | 'fieldType' | 'options' | 'isRequired'> & { xmin: string };

/** What is wrong with a value; undefined for nothing. */
type Judge = (value: unknown, definition: Definition, ctx: Context) => Fault | undefined;

const unless = (good: unknown, code: FaultCode, message: string): Fault | undefined => (good ? undefined : { code, message });
const isString = (value: unknown): value is string => typeof value === 'string';

/** The host of an address, with the domains that a definition allows and blocks. */
function domainFault(given: string, { options }: Definition): Fault | undefined {
  const host = nameOf(given);
  const within = (names: string[]) => names.map(nameOf).some((name) => host === name || host.endsWith(`.${name}`));
  const allowed = domainsOf(options, 'allowedDomains');
  if (allowed.length > 0 && !within(allowed)) return { code: 'not_allowed', message: `must be of ${allowed.join(', ')}`, options: allowed };
  // The host is not named: runs keep the message, and show it to those who may not see the value that merge fields filled in.
  return unless(!within(domainsOf(options, 'blockedDomains')), 'not_allowed', 'must not be of a blocked domain');
}

const text: Judge = (value) => unless(isString(value), 'invalid_type', 'must be a string');

const choice: Judge = (value, { options }) => {
  const choices = choicesOf(options);
  return choices.includes(value) ? undefined : notOneOf(choices.map(String));
};

function momentFault(value: string): boolean {
  let wrong = false;
  moment(value, '', () => (wrong = true)); // biome-ignore format: one line
  return wrong;
}

/** A day, something behind it, and an offset at the end. From the beginning: a text of `T`s would be looked through from each of them. */
const zoned = /^[^Tt ]*[Tt ].*([Zz]|[+-]\d{2}:?\d{2})$/s;

const noUrl: Fault = { code: 'invalid_format', message: 'must be an http(s) URL' };
const noEmail: Fault = { code: 'invalid_format', message: 'must be an e-mail address' };

const judges: Record<CustomField['fieldType'], Judge> = {
  text,
  textarea: text,
  number: (value) =>
    unless(Number.isFinite(value) || (isString(value) && /^-?\d{1,30}(\.\d{1,30})?$/.test(value)), 'invalid_type', 'must be a number'),
  boolean: (value) => unless(typeof value === 'boolean', 'invalid_type', 'must be true or false'),
  date: (value) => unless(isString(value) && isDay(value), 'invalid_format', 'must be a date, YYYY-MM-DD'),
  datetime: (value) =>
    unless(isString(value) && zoned.test(value) && !momentFault(value), 'invalid_format', 'must be an ISO 8601 date-time with an offset'),
  url: (value, definition) => {
    // The blanks at its ends belong to no address.
    const url = isString(value) && isWebUrl(value.trim()) ? new URL(value.trim()) : undefined;
    return url ? domainFault(url.hostname, definition) : noUrl;
  },
  email: (value, definition) => (isString(value) && isEmail(value) ? domainFault(value.split('@')[1]!, definition) : noEmail),
  phone: (value, _definition, ctx) =>
    unless(
      isString(value) && value.length <= 30 && toE164(value, ctx.caller.account.defaultCountry),
      'invalid_format',
      'must be a phone number',
    ),
  select: choice,
  radio: choice,
  multiselect: (value, { options }) => {
    if (!Array.isArray(value)) return { code: 'invalid_type', message: 'must be a list of choices' };
    if (new Set(value).size < value.length) return { code: 'conflicting', message: 'must not hold a choice twice' };
    // Told once: of thousands of wrong choices each would have a message of its own, which names all that there are.
    const known = new Set(choicesOf(options));
    return value.every((item) => known.has(item)) ? undefined : notOneOf([...known].map(String));
  },
};

const isEmpty = (value: unknown) =>
  value === null || (isString(value) && value.trim() === '') || (Array.isArray(value) && value.length === 0);

/** The lock of an account's definitions: shared by who writes values, taken alone by who changes definitions. */
export const definitionsLock = 'custom_fields';

/**
 * Checks what a record's custom fields are to be set to. Known keys are checked against their definition, unknown ones are kept as
 * they are. Throws 400 naming customFields.<key>. Answers a function that gives the record's fields with the given ones merged in,
 * undefined where none are given; call it after everything that is refused with 400, 404 or 402, since it throws 422 where a required
 * field is emptied, or missing from a record that is made, and 413 above 64 KB. A value that the record has already stands, also where its
 * definition would no longer take it: who sends back what was read changes nothing. @param before what the record has; null of one
 * that is made
 */
export async function checkCustomFields(
  ctx: Context,
  entityType: CustomField['entityType'],
  given: object | undefined,
  before: object | null,
): Promise<() => object | undefined> {
  if (given === undefined) return () => undefined;
  const all = await definitionsToWrite(ctx, entityType);
  const values = asKept(all, { ...given }, before ?? {});
  const { emptied, details, missing } = judged(ctx, all, values, before);
  if (details.length > 0) throw invalid(details);
  for (const { fieldKey } of emptied) if (Object.hasOwn(values, fieldKey)) values[fieldKey] = null;
  return () => {
    if (missing) throw unprocessable(missing.field, missing.code, missing.message);
    return mergeCustomFields(before ?? {}, values);
  };
}

type Values = Readonly<Record<string, unknown>>;

const isKept = (before: Values, values: Values, key: string) => Object.hasOwn(before, key) && isDeepStrictEqual(before[key], values[key]);

/** Values with their texts in one form of Unicode, and choices as they are spelled. What the record has already stays as it is. */
function asKept(all: readonly Definition[], given: Values, before: object): Record<string, unknown> {
  const options = new Map(all.map((definition) => [definition.fieldKey, definition.options]));
  const kept = (key: string, value: unknown) =>
    isKept(before as Values, given, key) ? value : withTexts(value, spellingBy(choicesOf(options.get(key) ?? null)));
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, kept(key, value)]));
}

/** What of the values of a record is wrong, and which required field is emptied, or missing from a record that is made. */
function judged(ctx: Context, all: readonly Definition[], values: Values, before: object | null) {
  const stands = (key: string) => before && (!Object.hasOwn(values, key) || isKept(before as Values, values, key));
  const concerned = all.filter(({ fieldKey }) => !stands(fieldKey));
  const emptied = concerned.filter(({ fieldKey }) => !Object.hasOwn(values, fieldKey) || isEmpty(values[fieldKey]));
  const details = concerned.flatMap((definition): Detail[] => {
    if (emptied.includes(definition)) return [];
    const fault = judges[definition.fieldType](values[definition.fieldKey], definition, ctx);
    return fault ? [detailOf(`customFields.${definition.fieldKey}`, fault)] : [];
  });
  const needed = emptied.find(({ isRequired }) => isRequired);
  const missing = needed && detailOf(`customFields.${needed.fieldKey}`, { code: 'required', message: 'is required' });
  return { emptied, details, missing };
}

/** What `checkCustomFields` would refuse of values that a record is to be changed to later. */
export async function customFieldFaults(ctx: Context, entityType: CustomField['entityType'], values: Values): Promise<Detail[]> {
  const all = await definitionsToWrite(ctx, entityType);
  const { details, missing } = judged(ctx, all, asKept(all, values, {}), {});
  return missing ? [...details, missing] : details;
}

/**
 * A text as the truth value or the number that a custom field takes, where it spells one exactly: what placeholders became is text. What no
 * definition says anything of stays as it is.
 */
export async function spelledCustom(ctx: Context, entityType: CustomField['entityType'], key: string, value: unknown): Promise<unknown> {
  if (!isString(value)) return value;
  const isTruth = /^(true|false)$/.test(value);
  const isNumber = value.length <= 15 && Number.isFinite(Number(value)) && String(Number(value)) === value;
  if (!isTruth && !isNumber) return value;
  const all = await customFieldsLoader(ctx).load(entityType);
  const type = all.find(({ fieldKey }) => fieldKey === key)?.fieldType;
  if (isTruth) return type === 'boolean' ? value === 'true' : value;
  return type === 'number' ? Number(value) : value;
}

const { entityType, fieldKey, label, fieldType, options, isRequired } = shapeOf(CustomField);

const definitionsOf = statement({
  name: 'customFieldsOf',
  takes: { entityTypes: listOf(textKind) },
  row: { id: uuid, entityType, fieldKey, label, fieldType, options, isRequired, xmin: textKind },
  shared: true,
  text: ({ account, entityTypes }) => sql`
    select t.id, t.entity_type as "entityType", t.field_key as "fieldKey", t.label, t.field_type as "fieldType", t.options, t.is_required as "isRequired",
      t.xmin::text as xmin
    from custom_fields t where t.account_id = ${account} and t.entity_type = any(${entityTypes}) order by t.sort_order, t.id`,
});

/**
 * The definitions that records of a type are written by. A unit of work shares them with all who write values, from when it reads or
 * writes to its end: who changes or deletes one has the lock alone, and what that counts is all that was written by its leave.
 */
export async function definitionsToWrite(ctx: Context, entityType: CustomField['entityType']): Promise<readonly Definition[]> {
  const { account } = ctx.caller;
  const found = await recall(ctx, `custom fields of ${entityType}`, {
    version: sql`(select md5(coalesce(string_agg(f.xmin::text, ' ' order by f.id), '')) from custom_fields f
      where f.account_id = ${account.id}::uuid and f.entity_type = ${entityType})`,
    read: async () => {
      const all = await customFieldsLoader(ctx).load(entityType);
      return { version: versionOf(all), all };
    },
    held: {
      hold: async () => {
        await ctx.shareName(definitionsLock);
        customFieldsLoader(ctx).clear(entityType);
      },
      still: (version) => sql`select 1 where custom_fields_are(${account.id}::uuid, ${entityType}::text, ${version}::text)`,
    },
  });
  return found!.all;
}

/** As PostgreSQL makes it of the same rows. */
function versionOf(definitions: readonly Definition[]): string {
  const inOrder = definitions.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return createHash('md5')
    .update(inOrder.map(({ xmin }) => xmin).join(' '))
    .digest('hex');
}

/** The definitions of the fields that records of each type carry. */
export const customFieldsLoader = loader<Definition[]>(async (ctx, entityTypes) =>
  grouped(entityTypes, await ctx.rows(definitionsOf, { entityTypes }), (row) => row.entityType),
);
