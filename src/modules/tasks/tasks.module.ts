import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { Task, taskEvents } from './task.model.js';
import { taskRelations } from './task.relations.js';
import { TaskResolver } from './task.resolver.js';
import { getTask, onContactDeleted, onUserRemoved } from './task.service.js';
import { taskTable } from './task.table.js';

export default defineModule({
  name: 'tasks',
  about: 'What is to be done, by whom and by when',
  tables: [taskTable],
  relations: taskRelations,
  resolvers: [TaskResolver],
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
