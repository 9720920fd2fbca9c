import type { App } from '../../kernel/context/context.js';
import {
  flag,
  instant,
  integer,
  json,
  listOf,
  nullable,
  type RowOf,
  readerOf,
  record,
  type Shape,
  text,
  uuid,
} from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { listedSql, slot, Template } from '../../kernel/database/statement.js';

/** The account, alias `a`, as every request knows it. */
export const accountColumns = sql`a.id, a.name, a.plan, a.billing_status as "billingStatus", a.timezone, a.currency,
  a.default_country as "defaultCountry", trim_scale(a.default_tax_rate)::text as "defaultTaxRate", a.trial_ends_at as "trialEndsAt"`;

const account = {
  id: uuid,
  name: text,
  plan: text,
  billingStatus: text,
  timezone: text,
  currency: text,
  defaultCountry: text,
  defaultTaxRate: text,
  trialEndsAt: nullable(instant),
  suspendedAt: nullable(instant),
  mfaRoles: listOf(text),
};
const member = {
  accountId: uuid,
  userId: uuid,
  name: text,
  role: text,
  status: text,
  permissions: json<unknown>(),
  account: record(account),
};

/** A person as who calls for an account. */
export type CallingMember = RowOf<typeof member>;

/** A member and the account, of the aliases `m` and `a`. */
const memberSql = sql`(select row_to_json(own) from (
  select m.account_id as "accountId", m.user_id as "userId", m.name, m.role, m.status, m.permissions,
    (select row_to_json(own) from (select ${accountColumns}, a.suspended_at as "suspendedAt", a.mfa_roles as "mfaRoles") own) as account) own)`;

/** The one row that a secret's hash finds, with its member. One statement, because every other request of the caller waits for it. */
function byHash<S extends Shape>(shape: S, { columns, from }: { columns: Sql; from: Sql }) {
  const template = new Template(listedSql(sql`select ${columns}, ${memberSql} as member from ${from} = ${slot('hash', 'text')}`));
  const read = readerOf<RowOf<S>>(shape);
  return async ({ database }: Pick<App, 'database'>, hash: string): Promise<RowOf<S> | undefined> => {
    const [found] = await database.planned(template.with({ hash }));
    return (JSON.parse(found!) as object[]).map(read)[0];
  };
}

/** An API key by the hash of its secret. */
export const keyByHash = byHash(
  {
    ...{
      id: uuid,
      name: text,
      kind: text,
      permission: text,
      scopes: listOf(text),
      ipAllowlist: listOf(text),
      rateLimit: nullable(integer),
    },
    createdAt: instant,
    lastUsedAt: nullable(instant),
    expiresAt: nullable(instant),
    revokedAt: nullable(instant),
    member: record(member),
  },
  {
    columns: sql`k.id, k.name, k.kind, k.permission, k.scopes, k.ip_allowlist as "ipAllowlist", k.rate_limit as "rateLimit",
      k.created_at as "createdAt", k.last_used_at as "lastUsedAt", k.expires_at as "expiresAt", k.revoked_at as "revokedAt"`,
    from: sql`api_keys k join memberships m on m.account_id = k.account_id and m.user_id = k.created_by
      join accounts a on a.id = k.account_id where k.hash`,
  },
);

/** A session by the hash of its token. */
export const sessionByHash = byHash(
  {
    id: uuid,
    expiresAt: instant,
    lastSeenAt: instant,
    revokedAt: nullable(instant),
    hasMfa: flag,
    member: record(member),
  },
  {
    columns: sql`s.id, s.expires_at as "expiresAt", s.last_seen_at as "lastSeenAt", s.revoked_at as "revokedAt",
      u.mfa_enabled_at is not null as "hasMfa"`,
    from: sql`sessions s join memberships m on m.account_id = s.account_id and m.user_id = s.user_id
      join accounts a on a.id = s.account_id join users u on u.id = s.user_id where s.token_hash`,
  },
);
