import type { RowOf } from '../../kernel/database/kinds.js';
import { keptCount, sql } from '../../kernel/database/sql.js';
import { byText, byTime, modelRow, table } from '../../kernel/tables/index.js';
import { contains } from '../../kernel/tables/searchPatterns.js';
import { textOrder } from '../../kernel/tables/sortKeys.js';
import { Tag, TagConnection, TagCount, TagList } from './tag.model.js';

/** A tag as it is kept. */
export const tagRow = modelRow('Tag', Tag);
export type TagRow = RowOf<typeof tagRow.shape>;

/** How tags are sorted wherever a record carries them: as their list is. */
export const tagOrder = (alias: string) => `${textOrder(`${alias}.name`)}, ${alias}.id`;

// Kept by a trigger: counting would read every contact of the account for a page of tags.
const usage = sql`(select json_build_object('contacts', ${keptCount(sql`t.account_id`, 'contact_tags', sql`'tag:' || t.id`)}))`;

export const tagTable = table({
  row: tagRow,
  list: TagList,
  page: TagConnection,
  neverTold: ['_count'],
  computed: {
    _count: {
      sql: usage,
      type: () => TagCount,
      description: 'How often the tag is used',
      record: ['contacts'],
    },
  },
  sorts: { name: byText('name', false), createdAt: byTime('created_at'), updatedAt: byTime('updated_at') },
  byDefault: ['name', 'asc'],
  conditions: { search: (text) => contains('t.name', text) },
});

/** A tag with how often it is used. */
export type CountedTag = TagRow & { _count: TagCount };

/** How often a tag is used that is made just now, or that was taken off everybody. */
export const unused = { _count: { contacts: 0 } };
