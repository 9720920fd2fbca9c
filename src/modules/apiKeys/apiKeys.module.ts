import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { ApiKeyResolver } from './apiKey.resolver.js';

export default defineModule({
  name: 'apiKeys',
  resolvers: [ApiKeyResolver],
  routes: [
    list('GET /api-keys', 'apiKeys', { as: 'page' }),
    make('POST /api-keys', 'createApiKey', { spread: 'apiKey' }),
    read('GET /api-keys/check', 'checkApiKey', { also: [400] }),
    read('GET /api-keys/{id}', 'apiKey'),
    edit('PATCH /api-keys/{id}', 'updateApiKey'),
    drop('DELETE /api-keys/{id}', 'revokeApiKey'),
  ],
});
