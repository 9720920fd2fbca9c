import { sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { CustomField, CustomFieldCleanup, CustomFieldConnection, CustomFieldList } from './customField.model.js';

export const customFieldTable = table({
  row: modelRow('CustomField', CustomField),
  list: CustomFieldList,
  page: CustomFieldConnection,
  what: 'Custom field',
  counted: false,
  sorts: {
    sortOrder: {
      by: 't.sort_order',
      type: 'numeric',
      lead: { by: 't.entity_type', type: 'text' },
      description: 'By the records that carry them first, then by where they stand among the others',
    },
    label: byText('label', false),
    createdAt: byTime('created_at'),
  },
  byDefault: ['sortOrder', 'asc'],
  conditions: { entityType: (type) => sql`t.entity_type = ${type}` },
});

export const cleanupTable = table({
  row: modelRow('CustomFieldCleanup', CustomFieldCleanup),
  untold: true,
  what: 'Cleanup',
  counted: false,
  sorts: { createdAt: byTime('created_at') },
  byDefault: ['createdAt', 'desc'],
});
