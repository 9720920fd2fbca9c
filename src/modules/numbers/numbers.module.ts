import { taken } from '../../kernel/base/errors.js';
import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, list, make, read } from '../../kernel/module/routes.js';
import { PhoneNumber, phoneNumberEvents } from './number.model.js';
import { NumberResolver } from './number.resolver.js';
import { findNumber } from './number.service.js';
import { numberTable } from './number.table.js';

export default defineModule({
  name: 'numbers',
  about: 'The phone numbers of the workspace',
  tables: [numberTable],
  constraints: { phone_numbers_number_key: () => taken('number') },
  resolvers: [NumberResolver],
  events: [recordFeed(phoneNumberEvents, { record: () => PhoneNumber, find: findNumber, access: { scope: 'settings' } })],
  routes: [
    list('GET /settings/numbers', 'phoneNumbers', { as: 'page' }),
    read('GET /settings/numbers/available', 'availablePhoneNumbers', { also: [502] }),
    make('POST /settings/numbers', 'claimPhoneNumber', { also: [402, 409, 502] }),
    drop('DELETE /settings/numbers/{id}', 'releasePhoneNumber', { also: [409] }),
  ],
});
