import type { RowOf } from '../../kernel/database/kinds.js';
import { modelRow } from '../../kernel/lists/modelRow.js';
import { Tag } from './tag.model.js';

/** A tag as it is kept. */
export const tagRow = modelRow('Tag', Tag);
export type TagRow = RowOf<typeof tagRow.shape>;
