import { defineModule } from '../../kernel/module/module.js';
import { edit, read } from '../../kernel/module/routes.js';
import { WorkspaceSettingsResolver } from './workspace.resolver.js';

export default defineModule({
  name: 'workspaces',
  about: 'The settings of the workspace: its time zone, country and currency, what it asks of lost deals',
  resolvers: [WorkspaceSettingsResolver],
  routes: [read('GET /settings/workspace', 'workspaceSettings'), edit('PATCH /settings/workspace', 'updateWorkspaceSettings')],
});
