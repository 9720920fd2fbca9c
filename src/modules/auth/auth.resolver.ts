import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, Public } from '../../kernel/access/access.js';
import { Limited } from '../../kernel/access/rateLimits.js';
import type { Context } from '../../kernel/context/context.js';
import { In } from '../../kernel/model/fields.js';
import { Detached, OfSession, OpensSession } from '../../kernel/operations/operation.js';
import { Workspace } from './auth.member.model.js';
import { disableMfa, enableMfa, mfaPolicy, setUpMfa, updateMfaPolicy, verifyMfa } from './auth.mfa.js';
import {
  AcceptInviteInput,
  AuthResult,
  ChangePasswordInput,
  Done,
  ForgotPasswordInput,
  LoginInput,
  MfaDisableInput,
  MfaEnableInput,
  MfaPolicy,
  MfaPolicyInput,
  MfaSetup,
  MfaSetupInput,
  MfaVerifyInput,
  RecoveryCodes,
  RegisterInput,
  ResetPasswordInput,
  SwitchAccountInput,
  VerifyEmailInput,
  Viewer,
} from './auth.model.js';
import { acceptInvite, changePassword, forgotPassword, resetPassword } from './auth.password.js';
import { register } from './auth.register.js';
import * as auth from './auth.service.js';
import { resendVerification, verifyEmail } from './auth.verification.js';

@Resolver()
@Access({})
export class AuthResolver {
  @Mutation(() => AuthResult, { description: 'Makes an account and its owner, and logs in' })
  @Public()
  @Limited('register', 'security')
  @Detached()
  @OpensSession()
  register(@Ctx() ctx: Context, @In() input: RegisterInput) {
    return register(ctx, input);
  }

  @Mutation(() => AuthResult, { description: 'Logs in; the session comes as an HttpOnly cookie' })
  @Public()
  @Limited('login', 'security')
  @Detached()
  @OpensSession()
  login(@Ctx() ctx: Context, @In() input: LoginInput) {
    return auth.login(ctx, input);
  }

  @Mutation(() => Done, { description: 'Ends the session' })
  @Access({ session: true, beforeMfa: true, whileSuspended: true })
  @OfSession()
  logout(@Ctx() ctx: Context) {
    return auth.logout(ctx);
  }

  @Query(() => Viewer, { description: 'Who is calling, and in which workspace' })
  @Access({ beforeMfa: true })
  me(@Ctx() ctx: Context) {
    return auth.me(ctx);
  }

  @Mutation(() => Done, { description: 'Changes the password; the other sessions end' })
  @Access({ session: true })
  @Limited('security')
  @Detached()
  changePassword(@Ctx() ctx: Context, @In() input: ChangePasswordInput) {
    return changePassword(ctx, input);
  }

  @Mutation(() => Done, { description: 'Sends a reset link, if the address is known; the answer is the same either way' })
  @Public()
  @Limited('security')
  @Detached()
  forgotPassword(@Ctx() ctx: Context, @In() input: ForgotPasswordInput) {
    return forgotPassword(ctx, input);
  }

  @Mutation(() => Done, { description: 'Sets a new password by the token of a reset link; every session ends' })
  @Public()
  @Limited('security')
  @Detached()
  resetPassword(@Ctx() ctx: Context, @In() input: ResetPasswordInput) {
    return resetPassword(ctx, input);
  }

  @Mutation(() => Done, { description: 'Verifies an address by the token of its link; no login' })
  @Public()
  @Limited('security')
  verifyEmail(@Ctx() ctx: Context, @In() input: VerifyEmailInput) {
    return verifyEmail(ctx, input);
  }

  @Mutation(() => Done, { description: "Sends another link that verifies the caller's address" })
  @Access({ session: true, beforeMfa: true })
  @Limited('security')
  @Detached()
  resendVerification(@Ctx() ctx: Context) {
    return resendVerification(ctx);
  }

  @Mutation(() => AuthResult, { description: 'Goes on in another account of the person, with a new session' })
  @Access({ session: true, beforeMfa: true, whileSuspended: true })
  @OfSession()
  @OpensSession()
  switchAccount(@Ctx() ctx: Context, @In() input: SwitchAccountInput) {
    return auth.switchAccount(ctx, input);
  }

  @Mutation(() => AuthResult, { description: 'Accepts an invitation and logs in' })
  @Public()
  @Limited('security')
  @Detached()
  @OpensSession()
  acceptInvite(@Ctx() ctx: Context, @In() input: AcceptInviteInput) {
    return acceptInvite(ctx, input);
  }

  @Mutation(() => MfaSetup, { description: 'Begins to set up a second factor, with the password' })
  @Access({ session: true, beforeMfa: true })
  @Limited('security')
  @Detached()
  setUpMfa(@Ctx() ctx: Context, @In() input: MfaSetupInput) {
    return setUpMfa(ctx, input);
  }

  @Mutation(() => RecoveryCodes, { description: 'Turns the second factor on, by a first code; the other sessions end' })
  @Access({ session: true, beforeMfa: true })
  @Limited('security')
  enableMfa(@Ctx() ctx: Context, @In() input: MfaEnableInput) {
    return enableMfa(ctx, input);
  }

  @Mutation(() => Done, { description: 'Turns the second factor off' })
  @Access({ session: true })
  @Limited('security')
  @Detached()
  disableMfa(@Ctx() ctx: Context, @In() input: MfaDisableInput) {
    return disableMfa(ctx, input);
  }

  @Query(() => MfaPolicy, { description: 'Which roles must have a second factor' })
  @Access({ session: true, role: 'admin' })
  mfaPolicy(@Ctx() ctx: Context) {
    return mfaPolicy(ctx);
  }

  @Mutation(() => MfaPolicy, { description: 'Says which roles must have a second factor' })
  @Access({ session: true, role: 'owner' })
  updateMfaPolicy(@Ctx() ctx: Context, @In() input: MfaPolicyInput) {
    return updateMfaPolicy(ctx, input);
  }

  @Mutation(() => AuthResult, { description: 'The second step of a login' })
  @Public()
  @Limited('security')
  @Detached()
  @OpensSession()
  verifyMfa(@Ctx() ctx: Context, @In() input: MfaVerifyInput) {
    return verifyMfa(ctx, input);
  }
}

@Resolver(() => Workspace)
export class WorkspaceResolver {
  @FieldResolver()
  memberCount(@Ctx() ctx: Context, @Root() { id }: Workspace): Promise<number> {
    return auth.countMembers(ctx, id);
  }
}
