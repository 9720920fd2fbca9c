import type pg from 'pg';
import { systemClock } from '../../src/kernel/base/clock.js';
import { digest, newKey } from '../../src/modules/auth/auth.secrets.js';

/** An account with its members and the owner's API key. */
export interface FilledAccount {
  accountId: string;
  key: string;
}

type Name = readonly [first: string, last: string];

/** An account of the largest plan with these members, the first of them its owner. */
export async function fillAccount(
  client: pg.Client,
  name: string,
  people: readonly Name[],
): Promise<FilledAccount & { members: string[] }> {
  const key = newKey(systemClock);
  const accountId = systemClock.id();
  await client.query(`insert into accounts (id, name, plan, billing_status, updated_at) values ($1, $2, 'enterprise', 'active', now())`, [
    accountId,
    name,
  ]);
  const members: string[] = [];
  for (const [first, last] of people) {
    const id = systemClock.id();
    const email = `${first}.${last}.${name}@example.com`.toLowerCase();
    await client.query('insert into users (id, email, first_name, last_name, updated_at) values ($1, $2, $3, $4, now())', [
      ...[id, email, first, last],
    ]);
    await client.query(
      'insert into memberships (account_id, user_id, role, status, name, created_at, updated_at) values ($1, $2, $3, $4, $5, now(), now())',
      [accountId, id, members.length === 0 ? 'owner' : 'member', 'active', `${first} ${last}`],
    );
    members.push(id);
  }
  await client.query(
    `insert into api_keys (id, account_id, name, prefix, last4, hash, permission, rate_limit, created_by, updated_at)
     values ($1, $2, 'bench', $3, $4, $5, 'admin', 10000, $6, now())`,
    [systemClock.id(), accountId, key.slice(0, 12), key.slice(-4), digest(key), members[0]],
  );
  return { accountId, key, members };
}
