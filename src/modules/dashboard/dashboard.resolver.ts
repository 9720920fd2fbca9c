import { Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Selected } from '../../kernel/model/connection.js';
import { Dashboard } from './dashboard.model.js';
import { getDashboard } from './dashboard.service.js';

@Resolver(() => Dashboard)
@Access({ scope: 'dashboard' })
export class DashboardResolver {
  @Query(() => Dashboard, { description: 'What stands out in the workspace now; what a key may not see is empty' })
  dashboard(@Ctx() ctx: Context, @Selected() selection: ReadonlySet<string>) {
    return getDashboard(ctx, selection);
  }
}
