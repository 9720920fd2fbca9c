import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Deleted } from '../../kernel/model/removal.js';
import { ApiKey, ApiKeyCheck, ApiKeyConnection, ApiKeyList, CreateApiKeyInput, NewApiKey, UpdateApiKeyInput } from './apiKey.model.js';
import * as keys from './apiKey.service.js';
import { apiKeyTable } from './apiKey.table.js';

@Resolver(() => ApiKey)
@Access({ session: true, role: 'admin' })
export class ApiKeyResolver {
  @Query(() => ApiKeyConnection, { description: 'The API keys of the workspace, newest first unless sorted otherwise' })
  @Reads(apiKeyTable)
  apiKeys(@Ctx() ctx: Context, @Listing() args: ApiKeyList) {
    return keys.listKeys(ctx, args);
  }

  @Query(() => ApiKey, { nullable: true, description: 'One API key' })
  @Reads(apiKeyTable)
  apiKey(@Ctx() ctx: Context, @IdArg() id: string) {
    return keys.getKey(ctx, id);
  }

  @Query(() => ApiKeyCheck, { description: 'What the calling key may do' })
  @Access({})
  checkApiKey(@Ctx() ctx: Context) {
    return keys.checkKey(ctx);
  }

  @Mutation(() => NewApiKey, { description: 'Makes an API key and shows its secret, once' })
  createApiKey(@Ctx() ctx: Context, @In() input: CreateApiKeyInput) {
    return keys.createKey(ctx, input);
  }

  @Mutation(() => ApiKey, { description: 'Changes an API key' })
  updateApiKey(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateApiKeyInput) {
    return keys.updateKey(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Revokes an API key' })
  revokeApiKey(@Ctx() ctx: Context, @IdArg() id: string) {
    return keys.revokeKey(ctx, id);
  }
}
