import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { edit, read } from '../../kernel/module/routes.js';
import { Workspace } from '../auth/auth.member.model.js';
import { workspaceEvents } from './workspace.model.js';
import { WorkspaceSettingsResolver } from './workspace.resolver.js';
import { getWorkspace } from './workspace.service.js';

export default defineModule({
  name: 'workspaces',
  about: 'The settings of the workspace: its time zone, country and currency, what it asks of lost deals',
  resolvers: [WorkspaceSettingsResolver],
  events: [recordFeed(workspaceEvents, { record: () => Workspace, find: getWorkspace, access: { scope: 'settings' } })],
  routes: [read('GET /settings/workspace', 'workspaceSettings'), edit('PATCH /settings/workspace', 'updateWorkspaceSettings')],
});
