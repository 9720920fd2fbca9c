import { defineModule } from '../../kernel/module.js';
import { read } from '../../kernel/rows.js';
import { DashboardResolver } from './dashboard.resolver.js';

export default defineModule({
  name: 'dashboard',
  resolvers: [DashboardResolver],
  routes: [read('GET /dashboard', 'dashboard')],
});
