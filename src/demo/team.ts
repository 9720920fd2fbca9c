import { Context } from '../kernel/context/context.js';
import { mailsSent } from '../modules/auth/auth.mail.js';
import { acceptInvite } from '../modules/auth/auth.password.js';
import { logout } from '../modules/auth/auth.service.js';
import { inviteUser } from '../modules/users/user.service.js';
import { team } from './people.js';
import { loggedIn, visitorOf } from './visitor.js';

/** Invites the owner's colleagues and accepts for them, with the owner's password; answers the ids of all who work here. */
export async function addTeam(owner: Context, password: string): Promise<string[]> {
  const { app } = owner;
  const links: string[] = [];
  // the invitations are read here and go no further
  const email = {
    send: async ({ text }: { text: string }) => ({ id: String(links.push(text)) }),
    close: () => {},
  };
  const inviting = new Context({ ...app, vendors: { ...app.vendors, email } }, owner.request, owner.principal);
  const ids = [owner.caller.userId];
  for (const { role, ...person } of team) {
    const { id } = await inviteUser(inviting, { ...person, role });
    await mailsSent();
    const token = /token=([\w-]+)/.exec(links.pop() ?? '')?.[1] ?? '';
    const visitor = visitorOf(app);
    await acceptInvite(visitor, { token, password });
    await logout(await loggedIn(app, visitor));
    ids.push(id);
  }
  return ids;
}
