import { useMutation } from '@apollo/client/react';
import encodeQR from 'qr';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { EnableMfaDocument, LogoutDocument, SetUpMfaDocument, type SetUpMfaMutation } from '../generated/client/pages.js';
import { enter } from './client.js';
import { Fault } from './parts.js';
import { useTitle } from './Title.js';

type Setup = SetUpMfaMutation['setUpMfa'];

/** Where each step begins; one function, so that it is called once. */
const focused = (element: HTMLElement | null) => element?.focus();

/**
 * What somebody meets whose role must have a second factor and who has none: the server refuses all else until it is set up.
 * The password proves who sets it up; who has just logged in is not asked for it again.
 */
export function Enrolment({ password }: { password?: string }) {
  const [setup, setSetup] = useState<Setup>();
  const [codes, setCodes] = useState<readonly string[]>();
  useTitle('Second factor');
  return (
    <main className="login">
      {codes ? (
        <RecoveryCodes codes={codes} />
      ) : setup ? (
        <Authenticator setup={setup} next={setCodes} />
      ) : (
        <Proof password={password} next={setSetup} />
      )}
    </main>
  );
}

/** A way out, for who has no authenticator at hand. */
function Leave() {
  const [logout, { error }] = useMutation(LogoutDocument);
  const leave = async () => {
    const done = await logout().catch(() => undefined);
    if (done) await enter();
  };
  return (
    <>
      <button type="button" className="plain" onClick={leave}>
        Log out
      </button>
      <Fault error={error} />
    </>
  );
}

function Proof({ password, next }: { password?: string; next(setup: Setup): void }) {
  const [setUp, { loading, error }] = useMutation(SetUpMfaDocument);
  const isAsked = useRef(false);
  async function prove(said: string) {
    const { data } = await setUp({ variables: { input: { password: said } } }).catch(() => ({ data: undefined }));
    if (data) next(data.setUpMfa);
  }
  useEffect(() => {
    if (password === undefined || isAsked.current) return;
    isAsked.current = true;
    void prove(password);
  });
  // Nothing to show while the password of the login is on its way; the form comes back where it was refused.
  if (password !== undefined && !error) return null;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void prove(String(new FormData(event.currentTarget).get('password')));
  };
  return (
    <form onSubmit={submit}>
      <h1>Set up a second factor</h1>
      <p className="muted">Your workspace asks your role for one: from then on a login takes a code of your phone besides the password.</p>
      <label>
        Your password
        <input name="password" type="password" autoComplete="current-password" required ref={focused} />
      </label>
      <Fault error={error} />
      <button type="submit" disabled={loading}>
        Go on
      </button>
      <Leave />
    </form>
  );
}

/** A QR code as one path: dark on white in either scheme, with the margin that readers need. */
function QrCode({ text }: { text: string }) {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 });
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg className="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label="QR code of the key">
      <path d={path} shapeRendering="crispEdges" />
    </svg>
  );
}

/** The key, to be scanned, opened on this device or typed, and the first code that it makes. */
function Authenticator({ setup, next }: { setup: Setup; next(codes: readonly string[]): void }) {
  const [enable, { loading, error }] = useMutation(EnableMfaDocument);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get('code')).trim();
    const { data } = await enable({ variables: { input: { code } } }).catch(() => ({ data: undefined }));
    if (data) next(data.enableMfa.recoveryCodes);
  }
  return (
    <form onSubmit={submit}>
      <h1>Set up a second factor</h1>
      <p className="muted">Your workspace asks your role for one. Scan this with an authenticator app, and type the code it shows.</p>
      <QrCode text={setup.otpauthUrl} />
      <p className="muted">
        On this device: <a href={setup.otpauthUrl}>open it in an app</a>, or type the key:
      </p>
      <code className="secret">{setup.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
      <label>
        Six digits of your authenticator
        <input name="code" required autoComplete="one-time-code" inputMode="numeric" pattern="[0-9]{6}" ref={focused} />
      </label>
      <Fault error={error} />
      <button type="submit" disabled={loading}>
        Turn it on
      </button>
      <Leave />
    </form>
  );
}

/** The codes for a lost phone: the server shows them this once. */
function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(codes.join('\n')).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void enter();
  };
  return (
    <form onSubmit={submit}>
      <h1>Keep these codes</h1>
      <p className="muted">Each logs you in once if your phone is lost. They are not shown again.</p>
      <ul className="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      {/* Browsers lend the clipboard to pages of https and of this machine alone. */}
      {navigator.clipboard && (
        <button type="button" className="plain" onClick={copy}>
          {isCopied ? 'Copied' : 'Copy them'}
        </button>
      )}
      <button type="submit" ref={focused}>
        I have kept them: go on
      </button>
    </form>
  );
}
