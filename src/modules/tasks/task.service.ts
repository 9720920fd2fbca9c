import { found } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { emptySql, sql, statement } from '../../kernel/database/sql.js';
import { type Changes, changesBetween, type Fact } from '../../kernel/events/facts.js';
import { conditionsOf } from '../../kernel/lists/filterSql.js';
import { listRows } from '../../kernel/lists/list.js';
import { relatedRows } from '../../kernel/lists/relatedRows.js';
import { deleted } from '../../kernel/model/connection.js';
import { changedReferences, checkReferences, type ReferenceKinds } from '../../kernel/operations/references.js';
import { checkTrial } from '../plans/plan.limits.js';
import { taskColumns, taskConditions, taskListing } from './task.filter.js';
import type { CreateTaskInput, Task, TaskList, TaskSort, UpdateTaskInput } from './task.model.js';

/** Contract GET /tasks: a page with its exact total in one statement. */
export const listTasks = (ctx: Context, args: TaskList) =>
  listRows<Task, keyof typeof TaskSort>(ctx, taskListing, args, conditionsOf(taskConditions, ctx, args.filter));

const byId = statement<Task, [id: string, lock: boolean]>(
  (account, id, lock) => sql`
    select ${taskColumns} from tasks t where t.account_id = ${account}::uuid and t.id = ${id}::uuid ${lock ? sql`for update` : emptySql}`,
);

export async function getTask(ctx: Context, id: string): Promise<Task> {
  const [task] = await ctx.query(byId, validId(id, 'Task'), false);
  return found(task, 'Task');
}

async function lockTask(ctx: Context, id: string): Promise<Task> {
  const [task] = await ctx.query(byId, validId(id, 'Task'), true);
  return found(task, 'Task');
}

const ofParent = (parent: string) => relatedRows<Task>({ table: 'tasks', columns: taskColumns, parent });

/** The newest tasks of contacts. */
export const tasksOfContacts = ofParent('contact_id');
/** The newest tasks of deals. */
export const tasksOfDeals = ofParent('deal_id');
/** The newest tasks of those who are to do them. */
export const tasksOfUsers = ofParent('assigned_to');

/** A task of which nothing is known. */
const blank = {
  description: null,
  dueDate: null,
  priority: 'medium',
  status: 'todo',
  assignedTo: null,
  contactId: null,
  dealId: null,
  completedAt: null,
} as const;

const tracked = ['title', 'description', 'dueDate', 'priority', 'status', 'assignedTo', 'contactId', 'dealId'];

const links: ReferenceKinds<'assignedTo' | 'contactId' | 'dealId'> = { assignedTo: 'user', contactId: 'contact', dealId: 'deal' };

/** Contract POST /tasks. One that is made done is completed at once. */
export async function createTask(ctx: Context, input: CreateTaskInput): Promise<Task> {
  await checkReferences(ctx, links, input);
  checkTrial(ctx);
  const completedAt = input.status === 'done' ? ctx.now() : null;
  const task: Task = ctx.insert('Task', { ...blank, ...defined(input), completedAt, createdBy: ctx.caller.userId });
  await ctx.emit(factOf('task.created', task));
  if (completedAt) await ctx.emit(factOf('task.completed', task));
  return task;
}

/** Contract PATCH /tasks/{id}: done completes the task, once; any other status opens it again. */
export async function updateTask(ctx: Context, id: string, input: UpdateTaskInput): Promise<Task> {
  const before = await lockTask(ctx, id);
  const changes = changesBetween(before, { ...before, ...defined(input) }, tracked);
  if (Object.keys(changes).length === 0) return before;
  await checkReferences(ctx, links, changedReferences(links, changes));
  const { status } = changes;
  const completedAt = status && (input.status === 'done' ? ctx.now() : null);
  const task = ctx.update('Task', before, { ...input, completedAt });
  await ctx.log(factOf('task.updated', task, changes));
  if (completedAt) await ctx.emit(factOf('task.completed', task, { status: status! }));
  return task;
}

export async function deleteTask(ctx: Context, id: string) {
  const task = await lockTask(ctx, id);
  await ctx.db.task.delete({ where: ctx.at(task.id) });
  await ctx.log(factOf('task.deleted', task));
  return deleted(task.id);
}

const factOf = (name: string, task: Task, changes?: Changes): Fact => ({
  ...{ name, type: 'Task', record: task, changes },
  ...{ contactId: task.contactId, dealId: task.dealId },
});
