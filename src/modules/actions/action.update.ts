import { AppError, type Detail, detailOf, invalid } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { oneOf, type Report, text } from '../../kernel/model/checks.js';
import type { FieldRule } from '../../kernel/model/fieldRules.js';
import { rulesOf } from '../../kernel/model/fieldRules.js';
import { inputValue } from '../../kernel/model/inputValue.js';
import { UpdateCompanyInput } from '../companies/company.model.js';
import { updateCompany } from '../companies/company.service.js';
import { UpdateContactInput } from '../contacts/contact.model.js';
import { updateContact } from '../contacts/contact.service.js';
import { UpdateDealInput } from '../deals/deal.model.js';
import { updateDeal } from '../deals/deal.service.js';
import { UpdateTaskInput } from '../tasks/task.model.js';
import { updateTask } from '../tasks/task.service.js';
import { merged, mergeFieldsOf, Room } from '../templates/template.mergeFields.js';
import type { Blame } from './action.config.js';
import { type Acting, type ActionKind, success } from './action.kinds.js';

type Update = (ctx: Context, id: string, input: object) => Promise<unknown>;
type Class = abstract new (...args: never[]) => object;

/** The records that an action can change: by which class, and how. */
const entities: Record<string, { type: string; input: Class; update: Update }> = {
  contact: { type: 'Contact', input: UpdateContactInput, update: updateContact },
  deal: { type: 'Deal', input: UpdateDealInput, update: updateDeal },
  company: { type: 'Company', input: UpdateCompanyInput, update: updateCompany },
  task: { type: 'Task', input: UpdateTaskInput, update: updateTask },
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
  members: {
    entity: { type: 'string', check: oneOf(Object.keys(entities)) },
    field: { type: 'string', check: text(200), required: true, also: ['fieldName', 'fieldKey'] },
    value: { type: 'any' },
  },
  check(ctx, given, blame) {
    const config = given as UpdateConfig;
    if (typeof config.field !== 'string' || (config.entity !== undefined && !Object.hasOwn(entities, config.entity))) return;
    const rule = ruleOf(config);
    const names = rulesOf(entities[config.entity ?? 'contact']!.input).map(({ name }) => name);
    if (!rule) blame('field', 'not_allowed', `must be one of ${names.join(', ')} or customFields.<key>`, names);
    else if (typeof config.value !== 'string' || mergeFieldsOf(config.value).length === 0) blamed(ctx, config, rule, blame);
  },
  async perform(ctx, config: UpdateConfig, acting) {
    const { entity = 'contact', field, value = null } = config;
    const id = await targetOf(entity, acting);
    const rule = ruleOf(config);
    const filled = typeof value === 'string' ? merged(value, await acting.values(), new Room('value')) : value;
    const faults: Detail[] = [];
    const input =
      rule && inputOf(ctx, { ...config, value: filled }, rule, (member, code, message) => faults.push(detailOf(member, { code, message })));
    if (!input || faults.length > 0) throw invalid(faults);
    await entities[entity]!.update(ctx, id, input);
    return success({ entity, id, field, newValue: filled });
  },
};

const blamed = (ctx: Context, config: UpdateConfig, rule: FieldRule, blame: Blame): void => {
  inputOf(ctx, config, rule, (_member, code, message, options) => blame('value', code, message, options));
};

/** The change of a record that sets a field to a value, which is cleaned as if a client had sent it. */
function inputOf(ctx: Context, { entity = 'contact', field, value = null }: UpdateConfig, rule: FieldRule, blame: Blame): object {
  if (field.startsWith(custom)) return { customFields: { [field.slice(custom.length)]: value === '' ? null : value } };
  if (value === null) {
    if (rule.required) blame(field, 'required', 'must not be null');
    return { [field]: null };
  }
  const { coerced, fault } = inputValue(ctx.app.registry.schema(), entities[entity]!.input.name, field, value);
  if (fault) blame(field, 'invalid_type', fault);
  const report: Report = (_at, ...of) => blame(field, ...of);
  const cleaned = fault ? null : rule.check(coerced, field, report, { account: ctx.caller.account });
  if (cleaned === null && !fault && rule.required) blame(field, 'required', 'must not be empty');
  return { [field]: cleaned };
}

async function targetOf(entity: string, acting: Acting): Promise<string> {
  const { type, data } = acting.happening;
  // The contact may have been merged into another one since.
  if (entity === 'contact') return (await acting.contact()).id;
  if (entities[entity]!.type === type && typeof data.id === 'string') return data.id;
  const id = data[`${entity}Id`];
  if (typeof id === 'string') return id;
  throw new AppError('validation_failed', `What happened is about no ${entity}`);
}
