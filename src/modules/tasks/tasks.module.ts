import type { Loader } from '../../kernel/context/loaders.js';
import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { Task, taskEvents } from './task.model.js';
import { ContactTasksResolver, DealTasksResolver, TaskResolver, UserTasksResolver } from './task.resolver.js';
import { getTask, onContactDeleted, onUserRemoved, tasksOfContacts, tasksOfDeals, tasksOfUsers } from './task.service.js';
import { taskTable } from './task.table.js';

declare module '../../kernel/context/loaders.js' {
  interface Loaders {
    tasksOfContact: Loader<Task[]>;
    tasksOfDeal: Loader<Task[]>;
    tasksOfUser: Loader<Task[]>;
  }
}

export default defineModule({
  name: 'tasks',
  tables: [taskTable],
  resolvers: [TaskResolver, ContactTasksResolver, DealTasksResolver, UserTasksResolver],
  loaders: { tasksOfContact: tasksOfContacts, tasksOfDeal: tasksOfDeals, tasksOfUser: tasksOfUsers },
  events: [
    recordFeed(taskEvents, {
      record: () => Task,
      find: getTask,
      by: {
        contactId: 'Only tasks about this contact',
        dealId: 'Only tasks about this deal',
        assignedTo: 'Only tasks that this user has, gets or hands on',
      },
      access: { scope: 'tasks' },
    }),
  ],
  on: { 'user.removed': onUserRemoved, 'contact.deleted': onContactDeleted },
  routes: [
    list('GET /tasks', 'tasks', { as: 'page' }),
    make('POST /tasks', 'createTask', { also: [402] }),
    read('GET /tasks/{id}', 'task'),
    edit('PATCH /tasks/{id}', 'updateTask'),
    drop('DELETE /tasks/{id}', 'deleteTask'),
  ],
});
