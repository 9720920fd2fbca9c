import { Context } from '../kernel/context/context.js';
import { acceptInvite } from '../modules/auth/auth.password.js';
import { logout } from '../modules/auth/auth.service.js';
import { setPresence } from '../modules/callFlows/roster.service.js';
import { inviteUser } from '../modules/users/user.invite.js';
import { team } from './people.js';
import { loggedIn, visitorOf, withMailbox } from './visitor.js';

/** Invites the owner's colleagues and accepts for them, with the owner's password; answers the ids of all who work here. */
export async function addTeam(owner: Context, password: string): Promise<string[]> {
  const { app } = owner;
  const mailbox = withMailbox(app);
  const inviting = new Context(mailbox.app, owner.request, owner.principal);
  const ids = [owner.person];
  for (const { role, phone, ...person } of team) {
    const { id } = await inviteUser(inviting, { ...person, role });
    const visitor = visitorOf(app);
    await acceptInvite(visitor, { token: await mailbox.token(), password });
    const member = await loggedIn(app, visitor);
    if (phone) await member.transaction((inside) => setPresence(inside, { presence: 'on', phone }));
    await logout(member);
    ids.push(id);
  }
  return ids;
}
