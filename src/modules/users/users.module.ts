import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { User, userEvents } from './user.model.js';
import { onWorkspaceUpdated } from './user.phones.js';
import { UserResolver } from './user.resolver.js';
import { getUser } from './user.service.js';
import { userTable } from './user.table.js';

export default defineModule({
  name: 'users',
  about: 'The members of the workspace, their roles and invitations',
  references: { user: { of: userTable, held: true } },
  events: [recordFeed(userEvents, { record: () => User, find: getUser, access: { scope: 'users' } })],
  on: { 'workspace.updated': onWorkspaceUpdated },
  tables: [userTable],
  resolvers: [UserResolver],
  routes: [
    list('GET /users', 'users', { as: 'page' }),
    make('POST /users/invite', 'inviteUser', { body: { first_name: 'firstName', last_name: 'lastName' }, also: [402, 422] }),
    read('GET /users/{id}', 'user'),
    edit('PATCH /users/{id}', 'updateUser', { also: [422] }),
    drop('DELETE /users/{id}', 'deleteUser'),
  ],
});
