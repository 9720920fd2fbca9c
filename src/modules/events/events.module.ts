import { defineModule } from '../../kernel/module.js';
import { list } from '../../kernel/rows.js';
import { ContactEventResolver, EventResolver } from './event.resolver.js';

export default defineModule({
  name: 'events',
  resolvers: [EventResolver, ContactEventResolver],
  routes: [list('GET /events', 'events', { as: 'page', query: { after: 'after' } })],
});
