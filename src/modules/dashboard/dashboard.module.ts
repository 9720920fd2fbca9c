import { defineModule } from '../../kernel/module/module.js';
import { read } from '../../kernel/module/routes.js';
import { DashboardResolver } from './dashboard.resolver.js';

export default defineModule({
  name: 'dashboard',
  about: 'Figures of the workspace over a time',
  resolvers: [DashboardResolver],
  routes: [read('GET /dashboard', 'dashboard')],
});
