import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Deadline, Edit, Entity, Flag, Id, Input, Moment, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

export const TaskPriority = oneOf(
  'TaskPriority',
  { low: 'It can wait', medium: 'As most', high: 'Before others', urgent: 'At once' },
  'How urgent a task is, ascending',
);
export const TaskStatus = oneOf(
  'TaskStatus',
  { todo: 'It is not begun', in_progress: 'It is begun', done: 'It is done' },
  'How far a task is',
);

/** Contract "Task": one line a field. */
@ObjectType()
export class TaskFields {
  @Text(500, 'What is to be done', { required: true }) title: string;
  @Text(5000, 'More about it') description: string | null;
  @Deadline('When it is due: a date-time with an offset, or YYYY-MM-DD for the end of that day in the workspace') dueDate: Date | null;
  @OneOf(TaskPriority, 'How urgent it is; medium by default', { optional: true }) priority: keyof typeof TaskPriority;
  @OneOf(TaskStatus, 'How far it is; todo by default', { optional: true }) status: keyof typeof TaskStatus;
  @Ref('The user who is to do it') assignedTo: string | null;
  @Ref('The contact that it is about') contactId: string | null;
  @Ref('The deal that it is about') dealId: string | null;
}

@Entity('Something to be done', { scope: 'tasks' })
export class Task extends TaskFields {
  @Id() id: string;
  @Stamp('When it was done', {}) completedAt: Date | null;
  @Ref('The user who made it') createdBy: string | null;
  @Stamp('When the task was made') createdAt: Date;
  @Stamp('When the task was last changed') updatedAt: Date;
}

@Input('A new task')
export class CreateTaskInput extends New(TaskFields) {}

@Input('Changes to a task: absent keeps, null clears')
export class UpdateTaskInput extends Edit(CreateTaskInput) {}

export const TaskTab = oneOf(
  'TaskTab',
  {
    all: 'All tasks',
    today: "Open and due today, in the workspace's time zone",
    upcoming: 'Open and due from tomorrow on',
    overdue: 'Open, and the due date has passed',
    completed: 'Done',
  },
  'Ready-made views: open and due today, after today, or before now; done; or all',
);

/** Contract GET /tasks; its query parameters come in snake_case and camelCase. */
@Input('Which tasks')
export class TaskFilter {
  @Text(200, 'The title: part of it from three characters on, the start of a word for one or two') search?: string | null;
  @OneOf(TaskStatus, 'How far they are') status?: keyof typeof TaskStatus | null;
  @OneOf(TaskPriority, 'How urgent they are') priority?: keyof typeof TaskPriority | null;
  @Ref('Assigned user') assignedTo?: string | null;
  @Ref('Contact') contactId?: string | null;
  @Ref('Deal') dealId?: string | null;
  @Moment('Due at or after') dueFrom?: string | null;
  @Moment('Due at or before') dueTo?: string | null;
  @Flag('Open and due before now; false means all others') overdue?: boolean | null;
  @OneOf(TaskTab, 'A ready-made view') tab?: keyof typeof TaskTab | null;
}

export const TaskSort = oneOf(
  'TaskSort',
  ['createdAt', 'updatedAt', 'dueDate', 'priority', 'title', 'status'],
  'Sort keys of tasks; priority and status by rank, low and todo first when ascending',
);

@ArgsType()
export class TaskList extends ListArgsOf(TaskFilter, TaskSort) {}

@ObjectType({ description: 'A page of tasks' })
export class TaskConnection extends ConnectionOf(Task) {}

/** What is told of tasks. */
export const taskEvents = eventsOf('task', 'Task', [...everyChange, 'completed']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    task: typeof taskEvents;
  }
}
