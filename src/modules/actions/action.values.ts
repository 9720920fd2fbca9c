import { check, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { hasMember } from '../../kernel/model/restRecord.js';
import type { MergeValues } from '../templates/template.mergeFields.js';
import type { RunTrigger } from './action.kinds.js';

/** What placeholders call a record of a type. */
const calledBy = (type: string): string => type.charAt(0).toLowerCase() + type.slice(1);

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

const ofAny = new Map([
  ['workspace', ['name']],
  ['event', ['id', 'name', 'createdAt']],
  ['workflow', ['id', 'name']],
  ['automation', ['id', 'name']],
]);

/** Whether any run has what a path names: a field of its record, or of a type of record that something is told of. */
export function mayName({ app: { registry } }: Context, path: string): boolean {
  const [root, member] = path.split('.') as [string, string];
  if (root === 'record' || root === 'changes') return true;
  const type = [...registry.events.values()].map(({ of }) => of.type).find((each) => calledBy(each) === root);
  return ofAny.get(root)?.includes(member) || (type !== undefined && hasMember(registry.schema(), type, member));
}

/** A text that an action cannot do without, with its values. Throws 400 naming it where these have left nothing of it. */
export function needed(field: string, text: string): string {
  check(text.trim() !== '', () => invalidField(field, 'required', 'must not be empty: its merge fields have no values here'));
  return text;
}
