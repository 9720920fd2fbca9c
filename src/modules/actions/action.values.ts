import { check, invalidField } from '../../kernel/base/errors.js';
import { exact } from '../../kernel/base/money.js';
import type { Context } from '../../kernel/context/context.js';
import type { Changes } from '../../kernel/events/changes.js';
import { amountsIn, hasMember, withAmounts } from '../../kernel/model/restRecord.js';
import { calledBy, type MergeValues, ofAnyRun } from '../templates/template.mergeFields.js';
import type { RunTrigger } from './action.kinds.js';

/**
 * What placeholders name besides the contact: the workspace, the event, and the record that it happened to, as `record` and by its type.
 */
export function valuesOf(ctx: Context, { triggeredBy: { event, eventId, at, type, data, changes }, run }: RunTrigger): MergeValues {
  const own = type ? { [calledBy(type)]: data } : {};
  return {
    ...own,
    workspace: { name: ctx.caller.account.name },
    event: { id: eventId, name: event, createdAt: at },
    record: data,
    changes: changes ?? {},
    [run.kind]: { id: run.id, name: run.name },
  };
}

/** Whether the amounts of a currency have decimals; those of none are taken to have them. */
function hasDecimals(currency: unknown): boolean {
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) return true;
  const { maximumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  return maximumFractionDigits !== 0;
}

/**
 * The same run, the amounts of its record and of what changed written for people: 119.90, which JSON has as 119.9. Whole ones of a
 * currency without decimals stay as they are.
 */
export function withWrittenAmounts({ app: { registry } }: Context, trigger: RunTrigger): RunTrigger {
  const { type, data, changes } = trigger.triggeredBy;
  const decimals = hasDecimals(data.currency);
  const written = (value: unknown): unknown =>
    typeof value !== 'number' || (!decimals && Number.isInteger(value)) ? value : exact(value).toFixed(2);
  if (!type) return trigger;
  const schema = registry.schema();
  const changed: Changes = { ...changes };
  for (const name of amountsIn(schema, type)) {
    const change = changed[name];
    if (change) changed[name] = { from: written(change.from), to: written(change.to) };
  }
  return { ...trigger, triggeredBy: { ...trigger.triggeredBy, data: withAmounts(schema, type, data, written), changes: changed } };
}

/** Whether any run has what a path names: a field of its record, or of a type of record that something is told of. */
export function isKnownToRuns({ app: { registry } }: Context, path: string): boolean {
  const [root, member] = path.split('.') as [string, string];
  if (root === 'record' || root === 'changes') return true;
  const type = [...registry.events.values()].map(({ of }) => of.type).find((each) => calledBy(each) === root);
  return ofAnyRun.get(root)?.includes(member) || (type !== undefined && hasMember(registry.schema(), type, member));
}

/** A text that an action cannot do without, with its values. Throws 400 naming it where these have left nothing of it. */
export function needed(field: string, text: string): string {
  check(text.trim() !== '', () => invalidField(field, 'required', 'must not be empty: its merge fields have no values here'));
  return text;
}
