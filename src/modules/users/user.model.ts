import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Draft, Edit, Email, Input, JsonObject, OneOf, oneOf, Text } from '../../kernel/model/fields.js';
import { Role, User, UserStatus } from '../auth/auth.member.model.js';

export { User, UserStatus };

/** An owner is whoever made the workspace. */
export const GivenRole = oneOf(
  'GivenRole',
  { member: 'Works with the records', admin: 'Also manages users, webhooks, fields, pipelines and settings' },
  'The role that a person can be given',
);

const permissions =
  'Rights besides the role, each name with true: {"settings:edit": true} lets a member change the settings of the workspace, its phone numbers and its vendor of lines';

/** What an invitation says of a person. */
@ObjectType()
class Invitation {
  @Email('E-mail address', { required: true }) email: string;
  @OneOf(GivenRole, 'member by default; of who is invited already the role that they were given', { optional: true })
  role: keyof typeof GivenRole;
  @Text(100, 'Given name') firstName: string | null;
  @Text(100, 'Family name') lastName: string | null;
  @Text(30, 'Phone number') phone: string | null;
  @Text(20, 'Extension') extension: string | null;
  @JsonObject(8, permissions) permissions: object | null;
}

/** Contract POST /users/invite. */
@Input('Whom to invite')
export class InviteUserInput extends Draft(Invitation) {}

@Input()
class UserChanges {
  @OneOf(GivenRole, 'What they may do', { required: true }) role: keyof typeof GivenRole;
  @Text(200, 'Name', { required: true }) name: string;
  @JsonObject(8, `${permissions}. They take the place of those before`, { required: true }) permissions: object;
}

@Input('Changes to a member')
export class UpdateUserInput extends Edit(UserChanges) {}

@Input('Which members')
export class UserFilter {
  @Text(200, 'Part of the name or address') search?: string | null;
  @OneOf(Role, 'What they may do') role?: keyof typeof Role | null;
  @OneOf(UserStatus, 'Where the person stands; all but removed by default') status?: keyof typeof UserStatus | null;
}

export const UserSort = oneOf('UserSort', ['createdAt', 'name'], 'Sort keys of users');

@ArgsType()
export class UserList extends ListArgsOf(UserFilter, UserSort) {}

@ObjectType({ description: 'A page of users' })
export class UserConnection extends ConnectionOf(User) {}

/** What is told of members. */
export const userEvents = eventsOf('user', 'User', [...everyChange, 'invited', 'removed']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    user: typeof userEvents;
  }
}
