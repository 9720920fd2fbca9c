import type { Loader } from '../../kernel/context/loaders.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import type { Task } from './task.model.js';
import { ContactTasksResolver, DealTasksResolver, TaskResolver, UserTasksResolver } from './task.resolver.js';
import { tasksOfContacts, tasksOfDeals, tasksOfUsers } from './task.service.js';

declare module '../../kernel/context/loaders.js' {
  interface Loaders {
    tasksOfContact: Loader<Task[]>;
    tasksOfDeal: Loader<Task[]>;
    tasksOfUser: Loader<Task[]>;
  }
}

export default defineModule({
  name: 'tasks',
  resolvers: [TaskResolver, ContactTasksResolver, DealTasksResolver, UserTasksResolver],
  loaders: { tasksOfContact: tasksOfContacts, tasksOfDeal: tasksOfDeals, tasksOfUser: tasksOfUsers },
  events: ['task.created', 'task.completed'],
  routes: [
    list('GET /tasks', 'tasks', { as: 'page' }),
    make('POST /tasks', 'createTask', { also: [402] }),
    read('GET /tasks/{id}', 'task'),
    edit('PATCH /tasks/{id}', 'updateTask'),
    drop('DELETE /tasks/{id}', 'deleteTask'),
  ],
});
