import type { RowOf } from '../../kernel/database/kinds.js';
import { byText, byTime, modelRow, table } from '../../kernel/lists/list.js';
import { contains } from '../../kernel/lists/searchPatterns.js';
import { Tag, TagConnection, TagList } from './tag.model.js';

/** A tag as it is kept. */
export const tagRow = modelRow('Tag', Tag);
export type TagRow = RowOf<typeof tagRow.shape>;

export const tagTable = table({
  row: tagRow,
  list: TagList,
  page: TagConnection,
  sorts: { name: byText('name', false), createdAt: byTime('created_at'), updatedAt: byTime('updated_at') },
  byDefault: ['name', 'asc'],
  conditions: { search: (text) => contains('t.name', text) },
});
