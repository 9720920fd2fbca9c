// Who is logged in, and the login of the start page. The session is a cookie that no script sees.

/** What the server answers; in words of ours where it did not, or where a proxy did in its place. */
async function send(path, body) {
  const init = body && { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  try {
    const reply = await fetch(`/api/v1${path}`, init);
    const { ok, status, headers } = reply;
    const { data, error } = await reply.json();
    return { ok, status, data, error: status === 429 ? `Too many at once: try again in ${headers.get('Retry-After')} s.` : error };
  } catch {
    return { ok: false, status: 0, error: 'The server cannot be reached: try again.' };
  }
}

const who = document.querySelector('[data-who]');

/** The button that ends the session, and the place where it is told if that did not arrive. */
function wayOut() {
  const out = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Log out' });
  const fault = document.createElement('span');
  fault.setAttribute('role', 'alert');
  out.addEventListener('click', async () => {
    fault.textContent = '';
    const reply = await send('/auth/logout', {});
    if (reply.ok || reply.status === 401) location.reload();
    else fault.textContent = reply.error;
  });
  return [out, fault];
}

/** Shows who is logged in; answers what the server said. A refusal that is none of the session's (429, 503) tells nothing of it. */
async function showWho() {
  const reply = await send('/auth/me');
  const { ok, status, data, error } = reply;
  if (ok || status === 401) {
    for (const part of document.querySelectorAll('[data-guest]')) part.hidden = ok;
    for (const part of document.querySelectorAll('[data-member]')) part.hidden = !ok;
  }
  if (status === 401) who.replaceChildren(Object.assign(document.createElement('a'), { href: '/', textContent: 'Log in' }));
  // Of an account that is suspended there is a session, which may do nothing else.
  else if (ok || status === 403) who.replaceChildren(`${ok ? data.user.email : error} `, ...wayOut());
  else who.replaceChildren(`It is not known who is logged in. ${error}`);
  return reply;
}

const form = document.querySelector('[data-login]');
/** Of a password that was right, and asks for a second factor. */
let token;

/** Does the next steps of the login, as far as they go; answers what there is to say of it. */
async function enter({ email, password, code }) {
  if (!token) {
    const reply = await send('/auth/login', { email, password });
    if (!reply.ok) return reply.error;
    token = reply.data?.mfaToken;
    form.elements.code.parentElement.hidden = !token;
  }
  if (token) {
    const typed = code.replaceAll(' ', '');
    if (!typed) return 'Type the code of your authenticator, or a recovery code.';
    const reply = await send('/auth/mfa/verify', { mfaToken: token, [/^\d{6}$/.test(typed) ? 'code' : 'recoveryCode']: typed });
    // A wrong code and a token that is over are told alike: the next try begins with the password, which still stands there.
    if (reply.status === 401) token = undefined;
    if (!reply.ok) return reply.error;
    token = undefined;
  }
  const { ok, status, error } = await showWho();
  if (status === 401) return 'This browser kept no session: over plain http it does so at localhost or 127.0.0.1 alone.';
  return ok ? '' : `You are logged in, but this page cannot show it. ${error}`;
}

form?.addEventListener('submit', async (event) => {
  event.preventDefault();
  form.querySelector('[data-message]').textContent = await enter(Object.fromEntries(new FormData(form)));
});
// The token is of the address and the password that stood there.
form?.addEventListener('input', ({ target }) => {
  if (target.name !== 'code') token = undefined;
});

showWho();
