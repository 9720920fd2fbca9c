import { sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { Template, TemplateConnection, TemplateList } from './template.model.js';

export const templateTable = table({
  row: modelRow('Template', Template),
  list: TemplateList,
  page: TemplateConnection,
  live: sql`t.archived_at is null`,
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), name: byText('name', false) },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    category: (category) => sql`t.category = ${category}`,
    channel: (channel) => sql`t.channel = ${channel}`,
    isActive: (isActive) => sql`t.is_active = ${isActive}`,
    provider: (provider) => sql`t.provider = ${provider}`,
  },
});
