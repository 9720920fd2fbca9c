import { defineModule } from '../../kernel/module/module.js';
import { list } from '../../kernel/module/routes.js';
import { EventResolver } from './event.resolver.js';

export default defineModule({
  name: 'events',
  about: 'The ordered feed of everything that happens, 30 days long',
  resolvers: [EventResolver],
  routes: [list('GET /events', 'events', { as: 'page', query: { after: 'after' }, beside: ['position'], also: [410] })],
});
