import { defineModule } from '../../kernel/module.js';
import { act, read } from '../../kernel/rows.js';
import { AuthResolver } from './auth.resolver.js';

export default defineModule({
  name: 'auth',
  resolvers: [AuthResolver],
  routes: [
    act('POST /auth/register', 'register'),
    act('POST /auth/login', 'login', { also: [401] }),
    act('POST /auth/logout', 'logout'),
    read('GET /auth/me', 'me'),
  ],
});
