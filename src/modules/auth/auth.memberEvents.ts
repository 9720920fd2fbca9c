import type { Context } from '../../kernel/context/context.js';
import { type Changes, changesBetween } from '../../kernel/events/changes.js';
import { principalOf } from './auth.identify.js';
import { placesOf, userOf } from './auth.session.js';

type Person = Parameters<typeof userOf>[0];
type Place = Awaited<ReturnType<typeof placesOf>>[number];

/** What is told of a member. */
interface MemberChange {
  changes: Changes;
  logged?: boolean;
}

/** This unit of work in the name of a member, where the request has no caller yet. */
export const asMember = (inside: Context, place: Parameters<typeof principalOf>[2]): Context =>
  inside.as(principalOf('job', inside.request.id, place, { tier: 'admin', scopes: null }));

/** Tells an account what changed of its member, in this unit of work. */
const tellMember = (inside: Context, person: Person, place: Place, told: MemberChange): Promise<void> =>
  asMember(inside, place).emit({ name: 'user.updated', record: userOf(person, place), ...told });

const shown = ['name', 'email', 'status', 'firstName', 'lastName', 'emailVerified'];
/** What an account knows of nobody who has not joined. */
const unknown = { firstName: null, lastName: null, emailVerified: false };

/** A member who accepted an invitation: what the account knew of them, and what it knows now. */
export function tellJoined(inside: Context, before: { name: string; email: string }, person: Person, place: Place): Promise<void> {
  const changes = changesBetween({ ...unknown, ...before, status: 'invited' }, userOf(person, place), shown);
  return tellMember(inside, person, place, { changes });
}

/** Whose address was verified just now, wherever they are a member. */
export async function tellVerified(inside: Context, userId: string): Promise<void> {
  const changes = { emailVerified: { from: false, to: true } };
  for (const place of await placesOf(inside, userId)) await tellMember(inside, place.user, place, { changes, logged: false });
}
