// Who is logged in, and the login of the start page. The session is a cookie that no script sees.
const send = (path, body) =>
  fetch(`/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

const who = document.querySelector('[data-who]');

async function showWho() {
  const reply = await send('/auth/me');
  const body = await reply.json();
  for (const part of document.querySelectorAll('[data-guest]')) part.hidden = reply.ok;
  for (const part of document.querySelectorAll('[data-member]')) part.hidden = !reply.ok;
  if (!reply.ok) {
    const link = Object.assign(document.createElement('a'), { href: '/', textContent: 'Log in' });
    who.replaceChildren(link);
    return;
  }
  const { user } = body.data;
  const out = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Log out' });
  out.addEventListener('click', async () => {
    await send('/auth/logout', {});
    location.reload();
  });
  who.replaceChildren(`${user.email} `, out);
}

const form = document.querySelector('[data-login]');
let token;

form?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const message = form.querySelector('[data-message]');
  const { email, password, code } = Object.fromEntries(new FormData(form));
  const reply = token ? await send('/auth/mfa/verify', { mfaToken: token, code }) : await send('/auth/login', { email, password });
  const body = await reply.json();
  if (!reply.ok) {
    message.textContent = body.error;
    return;
  }
  token = body.data?.mfaToken;
  form.elements.code.parentElement.hidden = !token;
  message.textContent = token ? 'Type the code of your authenticator.' : '';
  if (!token) await showWho();
});

showWho();
