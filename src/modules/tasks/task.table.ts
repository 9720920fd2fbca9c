import type { Context } from '../../kernel/context/context.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { isToday, midnight, since, until } from '../../kernel/tables/dateRanges.js';
import { byText, byTime, table } from '../../kernel/tables/index.js';
import { modelRow } from '../../kernel/tables/modelRow.js';
import type { ParameterConditions } from '../../kernel/tables/parameterConditions.js';
import { opposite } from '../../kernel/tables/rowCondition.js';
import { holdsTerm, words } from '../../kernel/tables/searchPatterns.js';
import { Task, TaskConnection, type TaskFilter, TaskList, TaskPriority, TaskStatus, type TaskTab } from './task.model.js';

/** The words of a column in their order. */
const ranks: Record<'priority' | 'status', string[]> = { priority: Object.values(TaskPriority), status: Object.values(TaskStatus) };
type Ranked = keyof typeof ranks;

/** The place of a word in its order, as its index spells it. */
const rankOf = (column: Ranked) => `array_position(array[${ranks[column].map((word) => `'${word}'`).join(', ')}], t.${column})`;

const byRank = (column: Ranked) => ({ by: rankOf(column), type: 'integer' as const });

/** Whether a column holds a word, asked by its place: the index by which lists are sorted tells who does. */
const holds = (column: Ranked, word: string): Sql => sql`${rawSql(rankOf(column))} = ${ranks[column].indexOf(word) + 1}::int`;

const open = sql`t.status <> 'done'`;

const isOverdue = (ctx: Context) => sql`(${open} and t.due_date < ${ctx.now()}::timestamptz)`;

/** The tabs of a task list as conditions over the alias `t`: all but "completed" and "all" show open tasks only. */
export const taskTabs: Record<keyof typeof TaskTab, (ctx: Context) => Sql> = {
  all: () => sql`true`,
  today: (ctx) => sql`(${open} and ${isToday('t.due_date', ctx)})`,
  upcoming: (ctx) => sql`(${open} and t.due_date >= ${midnight(ctx, 1)})`,
  overdue: isOverdue,
  completed: () => sql`t.status = 'done'`,
};

/** What each field of a filter asks of a task, over the alias `t`. */
const conditions: ParameterConditions<TaskFilter> = {
  search: (text) => holdsTerm(words('t.title'), text),
  status: (status) => holds('status', status),
  priority: (priority) => holds('priority', priority),
  assignedTo: (id) => sql`t.assigned_to = ${id}::uuid`,
  contactId: (id) => sql`t.contact_id = ${id}::uuid`,
  dealId: (id) => sql`t.deal_id = ${id}::uuid`,
  dueFrom: (moment, ctx) => since('t.due_date', moment, ctx),
  dueTo: (moment, ctx) => until('t.due_date', moment, ctx),
  overdue: (wanted, ctx) => (wanted ? isOverdue(ctx) : opposite(isOverdue(ctx))),
  tab: (tab, ctx) => taskTabs[tab](ctx),
};

export const taskTable = table({
  row: modelRow('Task', Task),
  list: TaskList,
  page: TaskConnection,
  toldBy: { completedAt: 'status' },
  sorts: {
    createdAt: byTime('created_at'),
    updatedAt: byTime('updated_at'),
    dueDate: byTime('due_date', true),
    priority: byRank('priority'),
    title: byText('title', false),
    status: byRank('status'),
  },
  byDefault: ['createdAt', 'desc'],
  conditions,
});
