import { defineModule } from '../../kernel/module/module.js';

/** What workflows and automations do: no records of its own, and no rows. */
export default defineModule({ name: 'actions', resolvers: [], routes: [] });
