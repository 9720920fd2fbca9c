import { sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/lists/list.js';
import { contains } from '../../kernel/lists/searchPatterns.js';
import { User, UserConnection, UserList } from './user.model.js';

/** The members of a workspace. A removed one stays for what it wrote, and is found by id and listed no more. */
export const userTable = table({
  row: modelRow('Membership', User),
  list: UserList,
  page: UserConnection,
  key: 'user_id',
  renamed: { id: 'user_id' },
  // Of whom was invited the account sees what the inviter sent, until they accept.
  computed: { email: sql`coalesce(t.invited_email, (select u.email from users u where u.id = t.user_id))` },
  carried: ['email'],
  found: sql`t.status <> 'removed'`,
  counted: false,
  sorts: { createdAt: byTime('created_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'asc'],
  conditions: {
    status: (status) => sql`t.status = ${status}`,
    role: (role) => sql`t.role = ${role}`,
    search: (text) => sql`(${contains('t.name', text)}
      or exists (select 1 from users u where u.id = t.user_id and strpos(u.email_lower, ${text.toLowerCase()}) > 0))`,
  },
  asked: (_ctx, { filter }, conditions) => ({ conditions: filter?.status ? conditions : [...conditions, sql`t.status <> 'removed'`] }),
});
