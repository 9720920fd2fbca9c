import { useMutation } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';
import { LoginDocument, VerifyMfaDocument } from '../generated/client/pages.js';
import { client, hangUp } from './client.js';
import { Fault } from './parts.js';

/** Who the caller is has changed: everything is asked for anew. */
async function enter() {
  hangUp();
  await client.resetStore();
}

/** The two steps of a login; the second one only where somebody has a second factor. */
export function Login() {
  const [token, setToken] = useState<string>();
  return (
    <main className="login">
      {token ? <SecondFactor mfaToken={token} again={() => setToken(undefined)} /> : <Password next={setToken} />}
    </main>
  );
}

function Password({ next }: { next(mfaToken: string): void }) {
  const [login, { loading, error }] = useMutation(LoginDocument);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const input = { email: String(form.get('email')), password: String(form.get('password')) };
    const { data } = await login({ variables: { input } }).catch(() => ({ data: undefined }));
    if (data?.login.mfaToken) next(data.login.mfaToken);
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
