import type { Loader } from '../../kernel/context/loaders.js';
import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { list, make } from '../../kernel/module/routes.js';
import { Activity, activityEvents } from './activity.model.js';
import { ActivityResolver, CompanyActivitiesResolver, ContactActivitiesResolver, DealActivitiesResolver } from './activity.resolver.js';
import { activitiesOfCompanies, activitiesOfContacts, activitiesOfDeals, findActivity } from './activity.service.js';
import { activityTable } from './activity.table.js';

declare module '../../kernel/context/loaders.js' {
  interface Loaders {
    activitiesOfCompany: Loader<Activity[]>;
    activitiesOfContact: Loader<Activity[]>;
    activitiesOfDeal: Loader<Activity[]>;
  }
}

export default defineModule({
  name: 'activities',
  events: [
    recordFeed(activityEvents, {
      record: () => Activity,
      find: findActivity,
      by: { contactId: 'Only entries about this contact', dealId: 'Only entries about this deal' },
      access: { scope: 'activities' },
    }),
  ],
  tables: [activityTable],
  resolvers: [ActivityResolver, CompanyActivitiesResolver, ContactActivitiesResolver, DealActivitiesResolver],
  loaders: { activitiesOfCompany: activitiesOfCompanies, activitiesOfContact: activitiesOfContacts, activitiesOfDeal: activitiesOfDeals },
  routes: [list('GET /activities', 'activities', { as: 'page' }), make('POST /activities', 'createActivity', { also: [402] })],
});
