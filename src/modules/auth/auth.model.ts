import { Anything, Edit, Email, Entity, Flag, Input, Nested, OneOf, Ref, Secret, SomeOf, Text, Texts } from '../../kernel/model/fields.js';
import { OfCaller, OfLogin, RestName } from '../../kernel/model/recordMarks.js';
import { Permissions, Role, User, Workspace } from './auth.member.model.js';

/** No object of its own: which workspace it is, its name and the role in it. */
@Entity('An account that the person belongs to')
export class AccountChoice {
  @Ref('The account', { required: true }) @RestName('id') accountId: string;
  @Text(200, 'Its name', { required: true }) name: string;
  @OneOf(Role, 'The role in it', { required: true }) role: keyof typeof Role;
}

/** The auth response of register, login, switch-account and accept-invite; with MFA pending only the last two say something. */
@Entity('The outcome of a login')
export class AuthResult {
  @Nested(
    () => User,
    () => User,
    'Who is logged in, as a member of the current account',
  )
  @OfLogin('id', 'email', 'firstName', 'lastName')
  user: User | null;
  @Nested(
    () => Workspace,
    () => Workspace,
    'The current account',
  )
  @OfLogin('id', 'name')
  account: Workspace | null;
  @OneOf(Role, 'The role in the current account') role: keyof typeof Role | null;
  @Nested(
    () => AccountChoice,
    () => AccountChoice,
    'All accounts of the person',
    { list: 1000 },
  )
  accounts: AccountChoice[] | null;
  @Flag('Whether the role must set up a second factor', { required: true }) mfaSetupRequired: boolean;
  @Flag('Whether a second factor is asked for before there is a session', { required: true }) mfaRequired: boolean;
  @Text(200, 'What the second step is called with') mfaToken: string | null;
}

@Entity('Who is calling, and where')
export class Viewer {
  @Nested(
    () => User,
    () => User,
    'The calling person, or whoever made the calling key',
    { required: true },
  )
  @OfCaller('id', 'name', 'email', 'emailVerified', 'role')
  user: User;
  @Nested(
    () => Workspace,
    () => Workspace,
    'The current workspace',
    { required: true },
  )
  @OfCaller('id', 'name', 'plan', 'memberCount')
  workspace: Workspace;
  @Permissions() permissions: readonly string[];
  @Flag('Whether the caller is to set up a second factor before anything else', { required: true }) mfaSetupRequired: boolean;
}

@Entity('That something was done')
export class Done {
  @Flag('Always true', { required: true }) success: boolean;
}

export const done: Done = { success: true };

@Input('A new account and its owner')
export class RegisterInput {
  @Email('E-mail address', { required: true }) email: string;
  @Secret(8, 'Password, at least 8 characters') password: string;
  @Text(200, 'Name of the new account, at least 2 characters', { required: true, min: 2 }) accountName: string;
  @Text(100, 'Given name') firstName?: string | null;
  @Text(100, 'Family name') lastName?: string | null;
}

@Input('Credentials')
export class LoginInput {
  @Text(254, 'E-mail address', { required: true }) email: string;
  @Secret(1, 'Password') password: string;
  @Ref('The account to enter; the first one by default') accountId?: string | null;
}

@Input('The old and the new password')
export class ChangePasswordInput {
  @Secret(1, 'The current password') currentPassword: string;
  @Secret(8, 'The new password, at least 8 characters') newPassword: string;
}

@Input('Whose password is forgotten')
export class ForgotPasswordInput {
  @Anything('E-mail address; the answer is the same to what is none') email?: string | null;
}

@Input('A token from the mail, and the new password')
export class ResetPasswordInput {
  @Text(200, 'The token', { required: true }) token: string;
  @Secret(8, 'The new password, at least 8 characters') password: string;
}

@Input('The token of the link that verifies an address')
export class VerifyEmailInput {
  @Text(200, 'The token', { required: true }) token: string;
}

@Input('Where to go on')
export class SwitchAccountInput {
  @Ref('The account to enter', { required: true }) accountId: string;
}

@Input('A token from the invitation; a new password, or the current one of an existing person')
export class AcceptInviteInput {
  @Text(200, 'The token', { required: true }) token: string;
  @Secret(8, 'Password, at least 8 characters') password: string;
  @Text(100, 'Given name') firstName?: string | null;
  @Text(100, 'Family name') lastName?: string | null;
}

@Entity('What an authenticator app needs')
export class MfaSetup {
  @Text(100, 'The secret, base32', { required: true }) secret: string;
  @Text(500, 'The same as a URL for a QR code', { required: true }) otpauthUrl: string;
}

@Entity('Codes that stand in for a lost authenticator, once each')
export class RecoveryCodes {
  @Texts(10, 20, 'The codes; they are shown only here', { required: true }) recoveryCodes: string[];
}

@Input('Proof of who sets a second factor up')
export class MfaSetupInput {
  @Secret(1, 'The password') password: string;
}

@Input('A code of the authenticator app')
export class MfaEnableInput {
  @Text(6, 'Six digits', { required: true }) code: string;
}

@Input('Proof of who is asking')
export class MfaDisableInput {
  @Secret(1, 'The password') password: string;
}

@Input('The second step of a login')
export class MfaVerifyInput {
  @Text(200, 'The token from the first step', { required: true }) mfaToken: string;
  @Text(6, 'Six digits') code?: string | null;
  @Text(30, 'A recovery code, in place of the six digits') recoveryCode?: string | null;
}

@Entity('Which roles must have a second factor')
export class MfaPolicy {
  @SomeOf(Role, 'The roles; a session of one without a second factor can do nothing but set it up. An empty list asks nobody', {
    required: true,
  })
  roles: (keyof typeof Role)[];
}

@Input('Which roles are to have a second factor: absent keeps')
export class MfaPolicyInput extends Edit(MfaPolicy) {}
