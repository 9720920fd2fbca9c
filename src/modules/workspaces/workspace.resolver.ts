import { Ctx, FieldResolver, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { In } from '../../kernel/model/fields.js';
import { Detached } from '../../kernel/operations/operation.js';
import { Workspace } from '../auth/auth.member.model.js';
import { UpdateWorkspaceSettingsInput, WorkspaceSettings } from './workspace.model.js';
import * as workspaces from './workspace.service.js';

@Resolver(() => Workspace)
@Access({ scope: 'settings' })
export class WorkspaceSettingsResolver {
  @Query(() => WorkspaceSettings, { description: 'How the workspace is set: its time zone, its currency, what it asks of lost deals' })
  workspaceSettings(@Ctx() ctx: Context) {
    return workspaces.getSettings(ctx);
  }

  @Mutation(() => WorkspaceSettings, { description: 'Changes the settings of the workspace' })
  @Access({ scope: 'settings', permission: 'settings:edit' })
  @Detached()
  updateWorkspaceSettings(@Ctx() ctx: Context, @In() input: UpdateWorkspaceSettingsInput) {
    return workspaces.updateSettings(ctx, input);
  }

  @FieldResolver(() => WorkspaceSettings, { description: 'How it is set' })
  settings(@Ctx() ctx: Context) {
    return workspaces.getSettings(ctx);
  }
}
