import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { list, make } from '../../kernel/module/routes.js';
import { Activity, activityEvents } from './activity.model.js';
import { activityRelations } from './activity.relations.js';
import { ActivityResolver } from './activity.resolver.js';
import { findActivity } from './activity.service.js';
import { activityTable } from './activity.table.js';

export default defineModule({
  name: 'activities',
  about: 'The log of the workspace: what happened to which record, and notes of calls and meetings',
  events: [
    recordFeed(activityEvents, {
      record: () => Activity,
      find: findActivity,
      by: { contactId: 'Only entries about this contact', dealId: 'Only entries about this deal' },
      access: { scope: 'activities' },
    }),
  ],
  tables: [activityTable],
  relations: activityRelations,
  resolvers: [ActivityResolver],
  routes: [list('GET /activities', 'activities', { as: 'page' }), make('POST /activities', 'createActivity', { also: [402] })],
});
