import { defineModule } from '../../kernel/module/module.js';
import { NodeResolver } from './node.resolver.js';

/** Records of every module by their ids alone. */
export default defineModule({ name: 'nodes', resolvers: [NodeResolver], routes: [] });
