import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { ApiKey, apiKeyEvents } from './apiKey.model.js';
import { ApiKeyResolver } from './apiKey.resolver.js';
import { getKey, onUserRemoved } from './apiKey.service.js';
import { apiKeyTable } from './apiKey.table.js';

export default defineModule({
  name: 'apiKeys',
  about: 'Keys of programs: what they may do, and when they end',
  events: [recordFeed(apiKeyEvents, { record: () => ApiKey, find: getKey, access: { session: true, role: 'admin' } })],
  tables: [apiKeyTable],
  resolvers: [ApiKeyResolver],
  on: { 'user.removed': onUserRemoved },
  routes: [
    list('GET /api-keys', 'apiKeys', { as: 'page' }),
    make('POST /api-keys', 'createApiKey', { spread: 'apiKey', also: [402] }),
    read('GET /api-keys/check', 'checkApiKey', { also: [400] }),
    read('GET /api-keys/{id}', 'apiKey'),
    edit('PATCH /api-keys/{id}', 'updateApiKey'),
    drop('DELETE /api-keys/{id}', 'revokeApiKey'),
  ],
});
