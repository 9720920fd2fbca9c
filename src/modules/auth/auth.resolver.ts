import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access, Public } from '../../kernel/access.js';
import type { Context } from '../../kernel/context.js';
import { In } from '../../kernel/fields.js';
import { Limited } from '../../kernel/limits.js';
import { Detached } from '../../kernel/operation.js';
import { AuthResult, CurrentUser, Done, LoginInput, RegisterInput } from './auth.model.js';
import * as auth from './auth.service.js';

@Resolver()
@Access({})
export class AuthResolver {
  @Mutation(() => AuthResult, { description: 'Makes an account and its owner, and logs in' })
  @Public()
  @Limited('register', 'security')
  @Detached()
  register(@Ctx() ctx: Context, @In() input: RegisterInput) {
    return auth.register(ctx, input);
  }

  @Mutation(() => AuthResult, { description: 'Logs in; the session comes as an HttpOnly cookie' })
  @Public()
  @Limited('login', 'security')
  @Detached()
  login(@Ctx() ctx: Context, @In() input: LoginInput) {
    return auth.login(ctx, input);
  }

  @Mutation(() => Done, { description: 'Ends the session' })
  @Access({ session: true })
  logout(@Ctx() ctx: Context) {
    return auth.logout(ctx);
  }

  @Query(() => CurrentUser, { description: 'Who is calling, and in which workspace' })
  me(@Ctx() ctx: Context) {
    return auth.me(ctx);
  }
}
