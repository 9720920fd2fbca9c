import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Deadline,
  Edit,
  Entity,
  Id,
  Input,
  Instant,
  Nested,
  OneOf,
  oneOf,
  Ref,
  SomeOf,
  Stamp,
  Text,
  Texts,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { OfCaller, RestName } from '../../kernel/model/recordMarks.js';
import { Scope } from '../../kernel/model/scopes.js';
import { Workspace } from '../auth/auth.member.model.js';

export const Permission = oneOf(
  'ApiKeyPermission',
  { read: 'Reads', 'read-write': 'Reads and changes', admin: 'Also what is marked for admins: users, webhooks, new call flows and wiring' },
  'What a key may do, each including those before it',
);

type PermissionWord = (typeof Permission)[keyof typeof Permission];

@ObjectType()
export class ApiKeyFields {
  @Text(100, 'What the key is for', { required: true }) name: string;
  @SomeOf(Scope, 'The domains that the key may touch; null means all', { min: 1 }) scopes: string[] | null;
  @Texts(50, 50, 'Addresses and ranges (CIDR) that the key may call from; null means all', { min: 1 }) ipAllowlist: string[] | null;
  @Count('Requests per minute, at most 10,000; null means what the server gives, 100 by default', { min: 1, max: 10_000 })
  rateLimit: number | null;
  @Deadline('When the key ends; a day is its last one, in the time zone of the workspace') expiresAt: Date | null;
}

@Entity('An API key, without its secret')
export class ApiKey extends ApiKeyFields {
  @Id() id: string;
  @OneOf(Permission, 'What the key may do', { required: true }) permission: PermissionWord;
  @Text(20, 'How the key begins', { required: true }) prefix: string;
  @Stamp('When the key was last used', {}) lastUsedAt: Date | null;
  @Stamp('When the key was made') createdAt: Date;
}

@Entity('A new API key and its secret, which is shown this once')
export class NewApiKey {
  @Nested(
    () => ApiKey,
    () => ApiKey,
    'The key, without its secret',
    { required: true },
  )
  apiKey: ApiKey;
  @Text(100, 'The key itself, as callers send it', { required: true }) @RestName('key') secret: string;
}

@Entity('What the calling key may do')
export class ApiKeyCheck {
  @Ref('The calling key', { required: true }) @RestName('id') apiKeyId: string;
  @Text(100, 'What the key is for', { required: true }) name: string;
  @OneOf(Permission, 'What the key may do', { required: true }) permission: PermissionWord;
  @SomeOf(Scope, 'The domains that the key may touch; null means all') scopes: string[] | null;
  @Texts(50, 50, 'Address ranges that the key may call from; null means all') ipAllowlist: string[] | null;
  @Count('Requests per minute', { required: true }) rateLimit: number;
  @Instant('When the key ends') expiresAt: Date | null;
  @Nested(
    () => Workspace,
    () => Workspace,
    'The workspace of the key',
    { required: true },
  )
  @OfCaller('id', 'name')
  workspace: Workspace;
}

@Input('A new API key')
export class CreateApiKeyInput extends New(ApiKeyFields) {
  @OneOf(Permission, 'What the key may do; REST takes write for read-write too', { required: true, spellings: { write: 'read-write' } })
  permission: PermissionWord;
}

@Input('Changes to an API key')
export class UpdateApiKeyInput extends Edit(CreateApiKeyInput) {}

@Input('Which keys')
export class ApiKeyFilter {
  @Text(200, 'Part of the name') search?: string | null;
}

export const ApiKeySort = oneOf('ApiKeySort', ['createdAt', 'name'], 'Sort keys of API keys');

@ArgsType()
export class ApiKeyList extends ListArgsOf(ApiKeyFilter, ApiKeySort) {}

@ObjectType({ description: 'A page of API keys' })
export class ApiKeyConnection extends ConnectionOf(ApiKey) {}

/** What is told of API keys. */
export const apiKeyEvents = eventsOf('api_key', 'ApiKey', [...everyChange, 'revoked']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    apiKey: typeof apiKeyEvents;
  }
}
