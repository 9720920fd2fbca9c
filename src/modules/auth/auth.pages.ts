import { AppError } from '../../kernel/base/errors.js';
import { html } from '../../kernel/base/html.js';
import type { Context } from '../../kernel/context/context.js';
import { secret } from '../../kernel/model/checks.js';
import type { Callback, CallbackRequest } from '../../kernel/module/module.js';
import { formBytes, htmlPage } from '../../kernel/module/page.js';
import type { RawReply } from '../../kernel/module/routes.js';
import { acceptInviteByPage, resetPassword } from './auth.password.js';
import { deadLink } from './auth.verification.js';

/** A page that a link in a mail leads to, where a person says a password. */
interface PasswordPage {
  title: string;
  /** What is asked for. */
  words: string;
  button: string;
  /** What is done with the token of the link. Throws 400 for a password that is refused, and for a token that is. */
  take(ctx: Context, input: { token: string; password: string }): Promise<unknown>;
  done: string;
}

const [shortest, longest] = [8, 256];

const formOf = ({ title, words, button }: PasswordPage, fault?: string): RawReply =>
  htmlPage(
    title,
    html`<p>${words}</p>${fault && html`<p class="error" role="alert">${fault}</p>`}
<form method="post"><label>Password<input type="password" name="password" required minlength="${shortest}" maxlength="${longest}"
autocomplete="new-password"></label><button>${button}</button></form>`,
  );

/** What is wrong with a password, by the rule of its field in the API. */
function faultOf(password: string): string | undefined {
  let fault: string | undefined;
  secret(shortest)(
    password,
    'password',
    (_field, _code, message) => {
      fault = `The password ${message}.`;
    },
    {},
  );
  return fault;
}

async function taken(page: PasswordPage, ctx: Context, { query, body }: CallbackRequest): Promise<RawReply> {
  const password = new URLSearchParams(body.toString('utf8')).get('password') ?? '';
  const fault = faultOf(password);
  if (fault) return { ...formOf(page, fault), status: 400 };
  try {
    await page.take(ctx, { token: query.token ?? '', password });
    return htmlPage('Thank you', page.done);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 400) throw error;
    if (error.field !== 'token') return { ...formOf(page, `The ${error.message}.`), status: 400 };
    return deadLink('It was used before, or its time is over.');
  }
}

/** The page at a path. Opening it changes nothing, because programs that check mails open links too; its button does it. */
const callbacksOf = (path: `/${string}`, page: PasswordPage): Callback[] => [
  { method: 'GET', path, page: true, handler: async () => formOf(page) },
  { method: 'POST', path, page: true, buckets: ['security'], bodyCap: formBytes, handler: (ctx, request) => taken(page, ctx, request) },
];

/** GET and POST /reset-password and /accept-invite, where the links of these mails lead. */
export const passwordPages: Callback[] = [
  ...callbacksOf('/reset-password', {
    title: 'Reset your password',
    words: 'Choose a new password. Everywhere else you are logged out.',
    button: 'Set the password',
    take: resetPassword,
    done: 'Your password is changed. You can log in with it now.',
  }),
  ...callbacksOf('/accept-invite', {
    title: 'Accept the invitation',
    words: 'Choose a password. If you have a login here already, type the password of that.',
    button: 'Accept',
    take: acceptInviteByPage,
    done: 'You are a member of the workspace. You can log in now.',
  }),
];
