import { dayAfter, endOfDay, today } from '../../kernel/base/timeZones.js';
import { shortened } from '../../kernel/base/unicode.js';
import type { Context } from '../../kernel/context/context.js';
import { between, deadline, oneOf, type Report, text, uuid } from '../../kernel/model/checks.js';
import { missingReferences, sawReference } from '../../kernel/operations/references.js';
import { updateContact } from '../contacts/contact.service.js';
import { TaskPriority } from '../tasks/task.model.js';
import { createTask } from '../tasks/task.service.js';
import { merged, mergedLine, Room } from '../templates/template.mergeFields.js';
import { type ActionContext, type ActionKind, success } from './action.kinds.js';
import { needed } from './action.values.js';

/** Assigns the contact to a user. */
export const assignContact: ActionKind = {
  fields: { userId: { type: 'string', check: uuid, required: true, names: 'user', also: ['assignedTo', 'assignTo'] } },
  async perform(ctx, { userId }: { userId: string }, at) {
    const { id } = await at.contact();
    await updateContact(ctx, id, { assignedTo: userId });
    return success({ contactId: id, assignedTo: userId });
  },
};

type TaskConfig = {
  title: string;
  description?: string;
  dueInDays?: number;
  dueDate?: string;
  priority?: keyof typeof TaskPriority;
  assignedTo?: string;
};

/** The most days after which a task is due. */
const mostDays = 3650;

/** Makes a task about what the run is about. */
export const makeTask: ActionKind = {
  fields: {
    title: { type: 'string', check: text(500), required: true },
    description: { type: 'string', check: text(5000) },
    dueInDays: { type: 'integer', check: between(0, mostDays), also: ['dueDays'] },
    dueDate: { type: 'string' },
    priority: { type: 'string', check: oneOf(Object.keys(TaskPriority)) },
    assignedTo: { type: 'string', check: uuid, names: 'user', also: ['userId', 'assignTo'] },
  },
  check(ctx, { dueDate }, reportFault) {
    const report: Report = (_at, ...fault) => reportFault('dueDate', ...fault);
    if (dueDate !== undefined) deadline(dueDate, 'dueDate', report, { account: ctx.caller.account });
  },
  async perform(ctx, config: TaskConfig, at) {
    const values = await at.words();
    const contact = await at.forWhom();
    const input = {
      title: needed('title', mergedLine(config.title, values)),
      description: config.description === undefined ? null : text5000(merged(config.description, values, new Room('description'))),
      dueDate: dueOf(ctx, config),
      priority: config.priority ?? 'medium',
      status: 'todo' as const,
      assignedTo: config.assignedTo ?? contact?.assignedTo ?? null,
      contactId: contact?.id ?? null,
      dealId: await dealOf(ctx, at),
    };
    const task = await createTask(ctx, input);
    return success(
      { title: task.title, dueDate: task.dueDate, assignedTo: task.assignedTo, contactId: task.contactId },
      { taskId: task.id },
    );
  },
};

const text5000 = (value: string) => shortened(value, 5000) || null;

/** A day without a time is its end, as everywhere: so many days after today by the clocks of the workspace. */
function dueOf(ctx: Context, { dueInDays, dueDate }: TaskConfig): Date | null {
  const { timezone } = ctx.caller.account;
  if (dueInDays !== undefined) return endOfDay(dayAfter(today(timezone, ctx.now()), dueInDays), timezone);
  return dueDate === undefined ? null : (deadline(dueDate, 'dueDate', () => undefined, { account: ctx.caller.account }) as Date);
}

/** The deal that the run is about; null where it is deleted by now. */
async function dealOf(ctx: Context, { triggeredBy: { event, type, data } }: ActionContext): Promise<string | null> {
  const dealId = type === 'Deal' ? data.id : data.dealId;
  if (event === 'deal.deleted' || typeof dealId !== 'string') return null;
  const missing = await missingReferences(ctx, { dealId: 'deal' }, { dealId });
  if (missing.length > 0) return null;
  sawReference(ctx, 'deal', dealId);
  return dealId;
}
