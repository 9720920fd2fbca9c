import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { LoginDocument, VerifyMfaDocument } from '../generated/client/pages.js';
import { enter } from './client.js';
import { Enrolment } from './Enrolment.js';
import { Fault } from './parts.js';
import { useTitle } from './Title.js';

/** What comes after the password: the second factor, or setting one up, for which the password is asked again by the server. */
type Next = { mfaToken: string } | { password: string };

/** The two steps of a login; the second one only where somebody has a second factor, or must have one. */
export function Login() {
  const [next, setNext] = useState<Next>();
  useTitle('Log in');
  if (next && 'password' in next) return <Enrolment password={next.password} />;
  return (
    <main className="login">
      {next ? <SecondFactor mfaToken={next.mfaToken} again={() => setNext(undefined)} /> : <Password next={setNext} />}
    </main>
  );
}

function Password({ next }: { next(next: Next): void }) {
  const [login, { loading, error }] = useMutation(LoginDocument);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const input = { email: String(form.get('email')), password: String(form.get('password')) };
    const { data } = await login({ variables: { input } }).catch(() => ({ data: undefined }));
    if (data?.login.mfaToken) next({ mfaToken: data.login.mfaToken });
    else if (data?.login.mfaSetupRequired) next({ password: input.password });
    else if (data) await enter();
  }
  return (
    <form onSubmit={submit}>
      <h1>Log in</h1>
      <p className="muted">The terminal in which the server was started shows the demo’s login.</p>
      <label>
        E-mail
        <input name="email" type="email" autoComplete="username" required defaultValue="demo@example.com" />
      </label>
      <label>
        Password
        <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <Fault error={error} />
      <button type="submit" disabled={loading}>
        Log in
      </button>
    </form>
  );
}

function SecondFactor({ mfaToken, again }: { mfaToken: string; again(): void }) {
  const [verify, { loading, error }] = useMutation(VerifyMfaDocument);
  const [isRecovery, setRecovery] = useState(false);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const said = String(new FormData(event.currentTarget).get('code')).trim();
    const input = { mfaToken, ...(isRecovery ? { recoveryCode: said } : { code: said }) };
    const { data } = await verify({ variables: { input } }).catch(() => ({ data: undefined }));
    if (data) await enter();
  }
  return (
    <form onSubmit={submit}>
      <h1>Second factor</h1>
      <label key={String(isRecovery)}>
        {isRecovery ? 'A recovery code' : 'Six digits of your authenticator'}
        <input
          name="code"
          required
          autoComplete="one-time-code"
          inputMode={isRecovery ? 'text' : 'numeric'}
          pattern={isRecovery ? undefined : '[0-9]{6}'}
          ref={(field) => field?.focus()}
        />
      </label>
      <Fault error={error} />
      <button type="submit" disabled={loading}>
        Log in
      </button>
      <span className="acts">
        <button type="button" className="plain" onClick={() => setRecovery(!isRecovery)}>
          {isRecovery ? 'Use the authenticator' : 'Use a recovery code'}
        </button>
        <button type="button" className="plain" onClick={again}>
          Begin again
        </button>
      </span>
    </form>
  );
}
