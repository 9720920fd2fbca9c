import { AppError, type Detail, detailOf, type Fault, invalid } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { oneOf, type Report, text } from '../../kernel/model/checks.js';
import { type FieldRule, rulesOf } from '../../kernel/model/fieldRules.js';
import { inputValue, spelled, takesText } from '../../kernel/model/inputValue.js';
import type { ReferenceKinds } from '../../kernel/operations/references.js';
import { UpdateCompanyInput } from '../companies/company.model.js';
import { links as linksOfCompany, updateCompany } from '../companies/company.service.js';
import { UpdateContactInput } from '../contacts/contact.model.js';
import { links as linksOfContact, updateContact } from '../contacts/contact.service.js';
import type { CustomField } from '../customFields/customField.model.js';
import { customFieldFaults, spelledCustom } from '../customFields/customField.values.js';
import { UpdateDealInput } from '../deals/deal.model.js';
import { links as linksOfDeal, updateDeal } from '../deals/deal.service.js';
import { UpdateTaskInput } from '../tasks/task.model.js';
import { links as linksOfTask, updateTask } from '../tasks/task.service.js';
import { listIn, mergedJson, mergeFieldsOf, namesValue, Room, wholeMergeField } from '../templates/template.mergeFields.js';
import type { ReportFault } from './action.config.js';
import { type ActionContext, type ActionKind, success } from './action.kinds.js';
import { isKnownToRuns } from './action.values.js';

type Update = (ctx: Context, id: string, input: object) => Promise<unknown>;
type Class = abstract new (...args: never[]) => object;

interface Changeable {
  type: string;
  input: Class;
  update: Update;
  /** What of it names other records. */
  links: ReferenceKinds;
}

/** The records that an action can change: by which class, and how. */
const entities: Record<string, Changeable> = {
  contact: { type: 'Contact', input: UpdateContactInput, update: updateContact, links: linksOfContact },
  deal: {
    type: 'Deal',
    input: UpdateDealInput,
    update: updateDeal,
    links: { ...linksOfDeal, pipelineId: 'pipeline', stageId: 'stage', afterDealId: 'deal' },
  },
  company: { type: 'Company', input: UpdateCompanyInput, update: updateCompany, links: linksOfCompany },
  task: { type: 'Task', input: UpdateTaskInput, update: updateTask, links: linksOfTask },
};

type UpdateConfig = {
  entity?: string;
  field: string;
  value?: unknown;
};

const custom = 'customFields.';

/** The line of a model that a field of a configuration means. */
const ruleOf = ({ entity = 'contact', field }: UpdateConfig): FieldRule | undefined =>
  rulesOf(entities[entity]!.input).find(({ name }) => name === (field.startsWith(custom) ? 'customFields' : field));

/** Sets a field of the contact, or of the deal, company or task that the run is about. */
export const updateField: ActionKind = {
  fields: {
    entity: { type: 'string', check: oneOf(Object.keys(entities)) },
    field: { type: 'string', check: text(200), required: true, also: ['fieldName', 'fieldKey'] },
    value: { type: 'any' },
  },
  async check(ctx, given, reportFault) {
    const config = given as UpdateConfig;
    if (typeof config.field !== 'string' || (config.entity !== undefined && !Object.hasOwn(entities, config.entity))) return;
    const rule = ruleOf(config);
    const names = rulesOf(entities[config.entity ?? 'contact']!.input).map(({ name }) => name);
    if (!rule) reportFault('field', 'not_allowed', `must be one of ${names.join(', ')} or customFields.<key>`, names);
    else for (const { code, message, options } of await faultsOf(ctx, config, rule)) reportFault('value', code, message, options);
  },
  names(given) {
    const { entity = 'contact', field, value } = given as UpdateConfig;
    const { links } = entities[entity]!;
    // An empty text stands for nobody.
    const isNamed = Object.hasOwn(links, field) && typeof value === 'string' && mergeFieldsOf(value).length === 0 && value !== '';
    return isNamed ? [{ member: 'value', kind: links[field]!, id: value.toLowerCase() }] : [];
  },
  async perform(ctx, config: UpdateConfig, at) {
    const { entity = 'contact', field } = config;
    const id = await targetOf(entity, at);
    const value = await filled(ctx, config, at);
    const rule = ruleOf(config);
    const faults: Detail[] = [];
    const input =
      rule && inputOf(ctx, { ...config, value }, rule, (member, code, message) => faults.push(detailOf(member, { code, message })));
    if (!input || faults.length > 0) throw invalid(faults);
    await entities[entity]!.update(ctx, id, input);
    return success({ entity, id, field, newValue: keptOf(field, input, value) });
  },
};

/** What is wrong with a value as it is configured: what has placeholders that a text can fill is looked at when it is filled. */
async function faultsOf(ctx: Context, config: UpdateConfig, rule: FieldRule): Promise<Fault[]> {
  const { entity = 'contact', field, value = null } = config;
  const isText = field.startsWith(custom) || takesText(ctx.app.registry.schema(), entities[entity]!.input.name, field);
  if (typeof value === 'string' && isText && mergeFieldsOf(value).length > 0) {
    const path = wholeMergeField(value);
    return path === undefined || isKnownToRuns(ctx, path) ? [] : [namesNothing(path)];
  }
  const faults: Fault[] = [];
  const input = inputOf(ctx, config, rule, (_member, code, message, options) => faults.push({ code, message, options }));
  if (faults.length > 0 || rule.name !== 'customFields' || input.customFields === null) return faults;
  // Contacts, deals and companies have custom fields.
  const kind = entity as CustomField['entityType'];
  return customFieldFaults(ctx, kind, input.customFields as Record<string, unknown>);
}

const namesNothing = (path: string): Fault => ({ code: 'not_allowed', message: `names a merge field that is not there: ${path}` });

const noPlainValue = (path: string): Fault => ({
  code: 'invalid_type',
  message: `does not take the list or the object that a merge field names: ${path}`,
});

/**
 * The value with its placeholders filled in. Throws 400 where it is one placeholder alone that names nothing: to clear a field is to say
 * null. One that names a list stands for the list in a custom field, and is refused in any other: nothing of it would be left as a text.
 */
async function filled(ctx: Context, { entity = 'contact', field, value = null }: UpdateConfig, at: ActionContext): Promise<unknown> {
  const hasFields = mergeFieldsOf(JSON.stringify(value)).length > 0;
  const values = hasFields ? await at.values() : {};
  const path = typeof value === 'string' ? wholeMergeField(value) : undefined;
  if (path !== undefined && !namesValue(values, path)) throw invalid([detailOf(field, namesNothing(path))]);
  const list = typeof value === 'string' ? listIn(value, values) : undefined;
  if (list && field.startsWith(custom)) return list;
  if (list !== undefined) throw invalid([detailOf(field, noPlainValue(path!))]);
  const merged = mergedJson(value, values, new Room('value'));
  if (!field.startsWith(custom)) return spelled(ctx.app.registry.schema(), entities[entity]!.input.name, field, merged);
  return hasFields ? spelledCustom(ctx, entity as CustomField['entityType'], field.slice(custom.length), merged) : merged;
}

type Input = Record<string, unknown>;

/** The change of a record that sets a field to a value, which is cleaned as if a client had sent it. */
function inputOf(
  ctx: Context,
  { entity = 'contact', field, value = null }: UpdateConfig,
  rule: FieldRule,
  reportFault: ReportFault,
): Input {
  if (field.startsWith(custom)) return { customFields: { [field.slice(custom.length)]: value === '' ? null : value } };
  if (value === null) {
    if (rule.required) reportFault(field, 'required', 'must not be null');
    return { [field]: null };
  }
  const { coerced, fault } = inputValue(ctx.app.registry.schema(), entities[entity]!.input.name, field, value);
  if (fault) reportFault(field, fault.code, fault.message, fault.options);
  if (fault) return { [field]: null };
  const report: Report = (_at, ...of) => reportFault(field, ...of);
  const cleaned = coerced === null ? null : rule.check(coerced, field, report, { account: ctx.caller.account });
  if (cleaned === null && rule.required) reportFault(field, 'required', 'must not be empty');
  return { [field]: cleaned };
}

/** The value that a change sets, as it is kept: a text as it was cleaned, nothing as null. */
function keptOf(field: string, input: Input, value: unknown): unknown {
  const kept = field.startsWith(custom) ? (input.customFields as Input)[field.slice(custom.length)] : input[field];
  return kept === null || typeof value === 'string' ? kept : value;
}

async function targetOf(entity: string, at: ActionContext): Promise<string> {
  const { type, data } = at.triggeredBy;
  // The contact may have been merged into another one after the event.
  if (entity === 'contact') return (await at.contact()).id;
  if (entities[entity]!.type === type && typeof data.id === 'string') return data.id;
  const id = data[`${entity}Id`];
  if (typeof id === 'string') return id;
  throw new AppError('validation_failed', `The triggering event has no ${entity}`);
}
