import { badRequest, check, type Detail, type FaultCode, invalid, invalidField } from '../../kernel/base/errors.js';
import { inForm, normalized } from '../../kernel/base/unicode.js';
import type { Context } from '../../kernel/context/context.js';
import { clean } from '../../kernel/model/cleaning.js';
import { type FieldRule, isFlag, isText, rulesOf } from '../../kernel/model/fieldRules.js';
import { UpdateContactInput } from '../contacts/contact.model.js';
import type { CustomField } from '../customFields/customField.model.js';
import { choicesOf } from '../customFields/customField.options.js';
import { customFieldsLoader } from '../customFields/customField.values.js';
import type { Import } from './import.model.js';

type Mapping = Record<string, string>;
type Definition = Pick<CustomField, 'fieldKey' | 'label' | 'fieldType' | 'options'>;

/** What a row says of its contact. */
export type Imported = UpdateContactInput & { id?: string };

/** The fields of a contact that a cell can hold, by what it is read as. */
const fieldsThat = (are: (rule: FieldRule) => boolean) => rulesOf(UpdateContactInput).flatMap((rule) => (are(rule) ? [rule.name] : []));
const texts = ['id', ...fieldsThat(isText)];
const flags = fieldsThat(isFlag);
const custom = 'customFields.';

const isField = (name: string) =>
  texts.includes(name) ||
  flags.includes(name) ||
  name === 'tags' ||
  name === 'customFields' ||
  (name.startsWith(custom) && name.length > custom.length && name !== `${custom}__proto__`);

/** A name without what people write it with. */
const bare = (name: string) => inForm(name.toLowerCase(), 'NFKD').replace(/[^\p{L}\p{N}]/gu, '');

/** What columns are called elsewhere. */
const others: Record<string, string[]> = {
  firstName: ['givenname', 'forename', 'first'],
  lastName: ['surname', 'familyname', 'last'],
  email: ['emailaddress', 'mail', 'email1', 'primaryemail', 'workemail'],
  phone: ['phonenumber', 'telephone', 'tel', 'mobile', 'mobilephone', 'cell', 'cellphone', 'workphone', 'phone1'],
  company: ['companyname', 'organisation', 'organization', 'account', 'accountname'],
  jobTitle: ['title', 'position', 'role'],
  source: ['leadsource'],
  addressLine1: ['address', 'street', 'address1', 'streetaddress'],
  addressLine2: ['address2'],
  city: ['town'],
  state: ['region', 'province', 'county'],
  zip: ['zipcode', 'postalcode', 'postcode'],
  masterStatus: ['status', 'leadstatus'],
  tags: ['labels', 'tag'],
};

const byOwnName = new Map([...texts, ...flags, 'tags', 'customFields'].map((field) => [bare(field), field] as const));
const byOtherName = new Map(Object.entries(others).flatMap(([field, names]) => names.map((name) => [name, field] as const)));

/** More characters than the name of any field, or its label, has. */
const longestName = 200;

/** Each column by its name: of several for one field the one that is called most like it, of such the first. */
function guessed(columns: string[], definitions: readonly Definition[]): Mapping {
  // Whoever makes a file sees the labels; a key is the field's own name.
  const named = (name: 'label' | 'fieldKey') => definitions.map((one) => [bare(one[name]), `${custom}${one.fieldKey}`] as const);
  const byCustomField = new Map([...named('label'), ...named('fieldKey')]);
  const names = columns.filter(({ length }) => length <= longestName).map((column) => ({ column, name: bare(column) }));
  const fields = new Map<string, string>();
  const taken = new Set<string>();
  const take = (column: string, field: string | undefined) => {
    if (!field || fields.has(column) || taken.has(field)) return;
    taken.add(field);
    fields.set(column, field);
  };
  for (const { column } of names) take(column, isField(column) ? column : undefined);
  // A name that the workspace gave stands before what a column may mean.
  for (const known of [byOwnName, byCustomField, byOtherName]) for (const { column, name } of names) take(column, known.get(name));
  return Object.fromEntries(names.flatMap(({ column }) => (fields.has(column) ? [[column, fields.get(column)!]] : [])));
}

/**
 * The field of each column: as it is told, else as the columns are called by the definitions of contacts. 400 naming what leads
 * nowhere.
 */
export function mappingOf(
  columns: string[],
  given: Record<string, unknown> | null | undefined,
  definitions: readonly Definition[],
): Mapping {
  if (!given) {
    const mapping = guessed(columns, definitions);
    check(Object.keys(mapping).length > 0, () =>
      invalidField('mapping', 'required', 'is required: no column name matches a contact field'),
    );
    return mapping;
  }
  const entries = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== '');
  const faults = entries.flatMap(([column, field], i) => {
    const fault = (code: FaultCode, message: string): Detail[] => [{ field: `mapping.${column}`, code, message }];
    if (!columns.includes(column)) return fault('not_allowed', 'is no column of the rows');
    if (typeof field !== 'string' || !isField(field))
      return fault('not_allowed', 'must name a field of a contact, tags or customFields.<key>');
    return entries.findIndex(([, other]) => other === field) < i ? fault('taken', `leads to ${field}, as another column does`) : [];
  });
  if (faults.length > 0) throw invalid(faults.slice(0, 100));
  check(entries.length > 0, () => invalidField('mapping', 'too_few', 'must name at least one column'));
  return Object.fromEntries(entries);
}

// A map, since a cell may say "constructor".
const truths = new Map<string, boolean>(
  Object.entries({
    true: true,
    yes: true,
    y: true,
    x: true,
    '1': true,
    false: false,
    no: false,
    n: false,
    '0': false,
  }),
);

type Report = (code: FaultCode, message: string) => undefined;

const split = (value: string) =>
  value
    .split(/[,;]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** A cell's words as a custom field of this type keeps them; what is none of its values is left for the check to tell. */
function customValue(value: unknown, definition: Definition | undefined): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  switch (definition?.fieldType) {
    case 'number':
      return /^-?\d{1,15}(\.\d{1,10})?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return truths.get(text.toLowerCase()) ?? text;
    // A choice may hold what separates names: alone it is that choice.
    case 'multiselect':
      return [text, normalized(text)].some((one) => choicesOf(definition.options).includes(one)) ? [text] : namesIn(text);
    default:
      return text;
  }
}

function objectIn(value: unknown, report: Report): unknown {
  if (typeof value !== 'string')
    return typeof value === 'object' && !Array.isArray(value) ? value : report('invalid_type', 'must be a JSON object');
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  } catch {
    // answered below, with what else is no object
  }
  return report('invalid_type', 'must be a JSON object');
}

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string');

/** The names in a cell: a JSON list, as exports write names with separators in them, else what is separated. */
function namesIn(cell: string): string[] {
  try {
    const list: unknown = JSON.parse(cell);
    if (isTexts(list)) return list;
  } catch {
    // no JSON: names as people write them
  }
  return split(cell);
}

function tagsIn(value: unknown, report: Report): unknown {
  if (typeof value === 'string') return namesIn(value);
  return isTexts(value) ? value : report('invalid_type', 'must be names of tags');
}

function readValue(field: string, value: unknown, report: Report): unknown {
  if (value === null) return null;
  if (field === 'tags') return tagsIn(value, report);
  if (field === 'customFields') return objectIn(value, report);
  const isFlag = flags.includes(field);
  const refuse = () => report('invalid_type', isFlag ? 'must be true or false' : 'must be text');
  if (typeof value === 'object') return refuse();
  return isFlag ? (truths.get(String(value).trim().toLowerCase()) ?? refuse()) : String(value);
}

const isNothing = (value: unknown) => value === undefined || (typeof value === 'string' && value.trim() === '');

/** The bytes of the texts of a row in the columns of its mapping. */
const sizeOf = (data: Record<string, unknown>, mapping: Mapping): number =>
  Object.keys(mapping).reduce((sum, column) => {
    const value = Object.hasOwn(data, column) ? data[column] : undefined;
    return typeof value === 'string' ? sum + Buffer.byteLength(value) : sum;
  }, 0);

/** The most bytes of text that a row has in the columns of its mapping, which a row that came as JSON has in all. */
export const mostOfRow = 64 * 1024;

/** 400 of a row with more of them: its cells are not even looked at, as one may be the names of millions of tags. */
export const rowTooLong = () => badRequest('The columns that are imported must have at most 64 KB in a row');

/**
 * What a row says of its contact, cleaned like the body of a request. Throws 400 naming every field at fault, or none where the row is
 * too long.
 */
export async function importedFrom(
  ctx: Context,
  { mapping, mode }: Pick<Import, 'mode'> & { mapping: Mapping },
  data: Record<string, unknown>,
): Promise<Imported> {
  const definitions = new Map((await customFieldsLoader(ctx).load('contact')).map((one) => [one.fieldKey, one]));
  const input: Record<string, unknown> = {};
  const values: Record<string, unknown> = {};
  const details: Detail[] = [];
  check(sizeOf(data, mapping) <= mostOfRow, rowTooLong);
  for (const [column, field] of Object.entries(mapping)) {
    const value = Object.hasOwn(data, column) ? data[column] : undefined;
    const key = field.startsWith(custom) ? field.slice(custom.length) : undefined;
    // Of a field of what is made, null says nothing, as in the body of a request; of a custom field it says that there is no value.
    if (isNothing(value) || (value === null && mode === 'create' && key === undefined)) continue;
    if (key !== undefined) values[key] = customValue(value, definitions.get(key));
    else input[field] = readValue(field, value, (code, message) => void details.push({ field, code, message }));
  }
  if (details.length > 0) throw invalid(details);
  if (Object.keys(values).length > 0) input.customFields = { ...(input.customFields as object | undefined), ...values };
  clean(UpdateContactInput, input, ctx);
  return input as Imported;
}
