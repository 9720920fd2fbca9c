import { invalidField } from '../../kernel/base/errors.js';
import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { formBytes } from '../../kernel/module/page.js';
import { act, edit, read } from '../../kernel/module/routes.js';
import { mailOfTokenAgain } from './auth.mail.js';
import { Workspace, workspaceEvents } from './auth.member.model.js';
import { seals } from './auth.mfa.js';
import { passwordPages } from './auth.pages.js';
import { AuthResolver, WorkspaceResolver } from './auth.resolver.js';
import { findWorkspace } from './auth.service.js';
import { ownWorkspace } from './auth.session.js';
import { endedSessions, endedTokens } from './auth.sweeps.js';
import { confirmVerification, showVerification } from './auth.verification.js';

export default defineModule({
  name: 'auth',
  about: 'Sessions of people: registration, login, second factor, passwords, accounts',
  sweeps: { endedSessions, endedTokens },
  seals,
  constraints: { users_email_lower_key: () => invalidField('email', 'taken', 'is taken already') },
  jobs: { mailOfToken: mailOfTokenAgain },
  resolvers: [AuthResolver, WorkspaceResolver],
  nodes: { Workspace: ownWorkspace },
  // As how it is paid is: for every session, and no key.
  events: [recordFeed(workspaceEvents, { record: () => Workspace, find: findWorkspace, access: { session: true } })],
  routes: [
    act('POST /auth/register', 'register', { setsCookie: true }),
    act('POST /auth/login', 'login', { also: [401], setsCookie: true }),
    act('POST /auth/logout', 'logout', { setsCookie: true }),
    read('GET /auth/me', 'me'),
    act('POST /auth/change-password', 'changePassword'),
    act('POST /auth/forgot-password', 'forgotPassword', { forgiving: true }),
    act('POST /auth/reset-password', 'resetPassword'),
    act('POST /auth/verify-email', 'verifyEmail'),
    act('POST /auth/resend-verification', 'resendVerification'),
    act('POST /auth/switch-account', 'switchAccount', { setsCookie: true }),
    act('POST /auth/accept-invite', 'acceptInvite', { setsCookie: true }),
    act('POST /auth/mfa/setup', 'setUpMfa', { also: [400] }),
    act('POST /auth/mfa/enable', 'enableMfa'),
    act('POST /auth/mfa/disable', 'disableMfa'),
    read('GET /auth/mfa/policy', 'mfaPolicy'),
    edit('PATCH /auth/mfa/policy', 'updateMfaPolicy'),
    act('POST /auth/mfa/verify', 'verifyMfa', { also: [401], setsCookie: true }),
  ],
  callbacks: [
    { method: 'GET', path: '/verify-email', page: true, handler: showVerification },
    { method: 'POST', path: '/verify-email', page: true, bodyCap: formBytes, handler: confirmVerification },
    ...passwordPages,
  ],
});
