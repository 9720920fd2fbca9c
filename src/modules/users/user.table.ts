import { rawSql, sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { asksFor } from '../../kernel/tables/whereInput.js';
import { User, UserConnection, UserList } from './user.model.js';

/** What persons say of themselves. While a person has not accepted an invitation, an account knows only what the inviter wrote. */
const ofPerson = (what: string) => rawSql(`(select ${what} from users u where u.id = t.user_id and t.status in ('active', 'suspended'))`);

const notRemoved = sql`t.status <> 'removed'`;

/** The members of a workspace. A removed one stays because records name it: it is listed only where its status is asked for. */
export const userTable = table({
  row: modelRow('Membership', User),
  withoutEvents: ['lastActiveAt'],
  list: UserList,
  page: UserConnection,
  key: 'user_id',
  renamed: { id: 'user_id' },
  // Of whom was invited the account sees what the inviter sent, until they accept.
  computed: {
    email: sql`coalesce(t.invited_email, (select u.email from users u where u.id = t.user_id))`,
    // The same of a row at hand: `permissionsOf`.
    permissions: sql`array(select p.key from jsonb_each(t.permissions) p where p.value = 'true' order by p.key collate "C")`,
    firstName: {
      sql: ofPerson('u.first_name'),
      type: () => String,
      isNullable: true,
      description: 'Given name, once the person has joined',
    },
    lastName: {
      sql: ofPerson('u.last_name'),
      type: () => String,
      isNullable: true,
      description: 'Family name, once the person has joined',
    },
    emailVerified: {
      sql: sql`coalesce(${ofPerson('u.email_verified_at is not null')}, false)`,
      type: () => Boolean,
      description: 'Whether the person has joined and followed a link in a mail to the address',
    },
  },
  carried: ['email', 'permissions'],
  found: notRemoved,
  counted: false,
  sorts: { createdAt: byTime('created_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'asc'],
  conditions: {
    status: (status) => sql`t.status = ${status}`,
    role: (role) => sql`t.role = ${role}`,
    search: (text) => sql`(${contains('t.name', text)}
      or exists (select 1 from users u where u.id = t.user_id and strpos(u.email_lower, ${text.toLowerCase()}) > 0))`,
  },
  asked: (_ctx, { filter, where }, conditions) => ({
    conditions: filter?.status || asksFor(where, 'status', 'removed') ? conditions : [...conditions, notRemoved],
  }),
});
