import { defineModule } from '../../kernel/module/module.js';

/** The plans and what they allow; what a plan limits is checked by the modules that make it. */
export default defineModule({ name: 'plans', resolvers: [], routes: [] });
