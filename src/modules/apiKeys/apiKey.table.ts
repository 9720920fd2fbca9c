import { sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { ApiKey, ApiKeyConnection, ApiKeyList } from './apiKey.model.js';

/** The keys that are not revoked. Kept as an empty list, what restricts nothing is shown as null. */
export const apiKeyTable = table({
  row: modelRow('ApiKey', ApiKey),
  withoutEvents: ['lastUsedAt'],
  list: ApiKeyList,
  page: ApiKeyConnection,
  what: 'API key',
  computed: { scopes: sql`nullif(t.scopes, '{}')`, ipAllowlist: sql`nullif(t.ip_allowlist, '{}')` },
  carried: ['scopes', 'ipAllowlist'],
  live: sql`t.revoked_at is null`,
  counted: false,
  sorts: { createdAt: byTime('created_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
  conditions: { search: (text) => contains('t.name', text) },
});
