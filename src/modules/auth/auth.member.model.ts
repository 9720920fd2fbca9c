import { Field } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { Count, Entity, Id, OneOf, oneOf, Stamp, Text, Texts } from '../../kernel/model/fields.js';
import { Plan } from '../plans/plan.model.js';

export const Role = oneOf(
  'Role',
  {
    member: 'Works with the records',
    admin: 'Also manages users, webhooks, fields, pipelines, settings and billing',
    owner: 'Also says which roles must have a second factor; keeps the role, and cannot be removed',
  },
  'What a member may do, each including those before it',
);
export const UserStatus = oneOf(
  'UserStatus',
  {
    active: 'A member',
    invited: 'Was invited, and has not accepted yet',
    suspended: 'Cannot log in to the workspace for now',
    removed: 'Is no member any more',
  },
  'Where a person stands in the workspace',
);

/** The field `permissions` of a member: at most as many as a given object has room for. */
export const Permissions = () =>
  Texts(2000, 8192, 'Rights that are given besides the role, by name: settings:edit. Owners and admins have all of them without', {
    required: true,
  });

/** The names that are true in a member's permissions, in one order; the same in SQL: user.table. */
export const permissionsOf = (permissions: unknown): string[] =>
  Object.entries((permissions ?? {}) as object)
    .flatMap(([name, isGranted]) => (isGranted === true ? [name] : []))
    .sort();

/** Contract "User": a person's place in the workspace. Who reads a record reads who wrote it or looks after it by id and name. */
@Entity('A member of the workspace', { scope: 'users', alongside: ['id', 'name'] })
export class User {
  @Id() id: string;
  @Text(200, 'Name', { required: true }) name: string;
  @Text(254, 'E-mail address', { required: true }) email: string;
  @OneOf(Role, 'What the person may do', { required: true }) role: keyof typeof Role;
  @Permissions() permissions: readonly string[];
  @OneOf(UserStatus, 'Where the person stands', { required: true }) status: keyof typeof UserStatus;
  @Stamp('When the person last used the server, by a session or a key, to a minute', {}) lastActiveAt: Date | null;
  @Stamp('When the person was invited or joined') createdAt: Date;
  @Field(() => String, { nullable: true, description: 'Given name, once the person has joined' }) firstName?: string | null;
  @Field(() => String, { nullable: true, description: 'Family name, once the person has joined' }) lastName?: string | null;
  @Field(() => Boolean, { description: 'Whether the person has joined and followed a link in a mail to the address' })
  emailVerified?: boolean;
}

@Entity('An account: what a person works in, and all its records belong to')
export class Workspace {
  @Id() id: string;
  @Text(200, 'Name', { required: true }) name: string;
  @OneOf(Plan, 'What it pays for', { required: true }) plan: keyof typeof Plan;
  @Count('Active members', { required: true }) memberCount?: number;
}

/** What is told of a workspace: its settings, its plan, and how that is paid. */
export const workspaceEvents = eventsOf('workspace', 'Workspace', ['updated']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    workspace: typeof workspaceEvents;
  }
}
