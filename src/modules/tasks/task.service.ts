import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow, type RowOf } from '../../kernel/database/kinds.js';
import { type Changes, changesBetween, type DomainEvent, isNothing } from '../../kernel/events/changes.js';
import { getRow, listRows } from '../../kernel/lists/list.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { deleted } from '../../kernel/model/removal.js';
import { changedReferences, checkReferences, type ReferenceKinds } from '../../kernel/operations/references.js';
import { relinks } from '../../kernel/operations/relink.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { followsContact } from '../contacts/contact.followMerge.js';
import { checkTrial } from '../plans/plan.limits.js';
import { type CreateTaskInput, TaskFields, type TaskList, type UpdateTaskInput } from './task.model.js';
import { taskTable } from './task.table.js';

const { shape: row } = taskTable;
export type TaskRow = RowOf<typeof row>;

/** Contract GET /tasks: a page with its exact total in one statement. */
export const listTasks = (ctx: Context, args: TaskList) => listRows<TaskRow>(ctx, taskTable, args);

export const getTask = (ctx: Context, id: string) => getRow<TaskRow>(ctx, taskTable, id);

const taskRows = rowsToChange(taskTable);

/** A task of which nothing is known. */
const blank = { ...emptyRow(row), priority: 'medium', status: 'todo' } as const;

const tracked = namesOf(TaskFields);

/** What tasks are linked to. */
export const links: ReferenceKinds<'assignedTo' | 'contactId' | 'dealId'> = { assignedTo: 'user', contactId: 'contact', dealId: 'deal' };

/** Contract POST /tasks. One that is made done is completed at once. */
export async function createTask(ctx: Context, input: CreateTaskInput): Promise<TaskRow> {
  await checkReferences(ctx, links, input);
  checkTrial(ctx);
  const completedAt = input.status === 'done' ? ctx.now() : null;
  const task: TaskRow = ctx.insert('Task', { ...blank, ...defined(input), completedAt, createdBy: ctx.caller.userId });
  await emitTask(ctx, 'created', task);
  return task;
}

/** Contract PATCH /tasks/{id}: done completes the task, once; any other status opens it again. */
export async function updateTask(ctx: Context, id: string, input: UpdateTaskInput): Promise<TaskRow> {
  const before = await ctx.forChange(taskRows, id);
  const changes = changesBetween(before, { ...before, ...defined(input) }, tracked);
  if (isNothing(changes)) return before;
  await checkReferences(ctx, links, changedReferences(links, before, input));
  const { status } = changes;
  const completedAt = status && (input.status === 'done' ? ctx.now() : null);
  const task = ctx.update('Task', before, { ...input, completedAt });
  await emitTask(ctx, 'updated', task, changes);
  return task;
}

export async function deleteTask(ctx: Context, id: string) {
  const task = await ctx.forChange(taskRows, id);
  await ctx.db.task.delete({ where: ctx.at(task.id) });
  await emitTask(ctx, 'deleted', task);
  return deleted('Task', task.id);
}

const linked = {
  of: taskTable,
  tell: (ctx: Context, task: TaskRow, changes: Changes) => emitTask(ctx, 'updated', task, changes),
};
const leaveUser = relinks(linked, 'assignedTo');

/** Contract DELETE /users/{id}: the tasks of a removed user are assigned to nobody. */
export const onUserRemoved = (ctx: Context, { record }: DomainEvent) => leaveUser(ctx, record.id);

/** Contract POST /contacts/merge: the tasks are about the contact that is kept. */
export const onContactDeleted = followsContact(linked);

/** Tells of a change of a task, of itself and of whom and what it is about; and that it was completed, where it was. */
function emitTask(ctx: Context, event: 'created' | 'updated' | 'deleted', task: TaskRow, changes?: Changes): Promise<void> {
  const { contactId, dealId } = task;
  const isCompleted = event !== 'deleted' && task.completedAt !== null && (!changes || changes.status);
  const also = isCompleted ? { 'task.completed': ['status'] } : {};
  return ctx.emit({ name: `task.${event}`, record: task, changes, also, contactId, dealId });
}
