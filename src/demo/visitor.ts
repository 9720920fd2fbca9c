import { type App, Context } from '../kernel/context/context.js';
import { identify } from '../modules/auth/auth.identify.js';
import { mailsSent } from '../modules/auth/auth.mail.js';

/** Somebody without credentials, as the HTTP server would present them. */
export const visitorOf = (app: App) => new Context(app, { id: 'demo', ip: '127.0.0.1' }, null);

/** The server with a mailbox of its own, whose mails are read here and go no further; `token` is that of the last one's link. */
export function withMailbox(app: App) {
  const texts: string[] = [];
  const email = { send: async ({ text }: { text: string }) => ({ id: String(texts.push(text)), from: '' }), close: () => {} };
  const token = async () => {
    await mailsSent();
    return /token=([\w-]+)/.exec(texts.pop() ?? '')?.[1] ?? '';
  };
  return { app: { ...app, vendors: { ...app.vendors, email } }, token };
}

/** The context of the person whose login left a session with the request. Throws where the session is refused. */
export async function loggedIn(app: App, { request }: Context): Promise<Context> {
  const { principal, refusal } = await identify(app, { cookie: request.session?.token, ip: request.ip });
  if (!principal) throw refusal ?? new Error('The demo account cannot log in');
  return new Context(app, { id: request.id, ip: request.ip }, principal);
}
