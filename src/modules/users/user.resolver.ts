import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Deleted } from '../../kernel/model/removal.js';
import { Unprocessable } from '../../kernel/model/unprocessable.js';
import { Detached, TakesLong } from '../../kernel/operations/operation.js';
import { inviteUser } from './user.invite.js';
import { InviteUserInput, UpdateUserInput, User, UserConnection, UserList } from './user.model.js';
import * as users from './user.service.js';
import { userTable } from './user.table.js';

const administration = { scope: 'users', role: 'admin', admin: true } as const;

@Resolver(() => User)
@Access({ scope: 'users' })
export class UserResolver {
  @Query(() => UserConnection, { description: 'The members of the workspace, oldest first unless sorted otherwise' })
  @Reads(userTable)
  users(@Ctx() ctx: Context, @Listing() args: UserList) {
    return users.listUsers(ctx, args);
  }

  @Query(() => User, { nullable: true, description: 'One member' })
  @Reads(userTable)
  user(@Ctx() ctx: Context, @IdArg() id: string) {
    return users.getUser(ctx, id);
  }

  @Mutation(() => User, { description: 'Invites a person by mail' })
  @Access(administration)
  @Detached()
  @Unprocessable()
  inviteUser(@Ctx() ctx: Context, @In() input: InviteUserInput) {
    return inviteUser(ctx, input);
  }

  @Mutation(() => User, { description: 'Changes the role, the permissions or the name of a member' })
  @Access(administration)
  updateUser(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateUserInput) {
    return users.updateUser(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Removes a member; what they were assigned to is unassigned' })
  @Access(administration)
  @TakesLong()
  deleteUser(@Ctx() ctx: Context, @IdArg() id: string) {
    return users.removeUser(ctx, id);
  }
}
