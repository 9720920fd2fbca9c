import { integer, json, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { LineAssignment, type LineHolder, VendorConnection } from './vendorLine.model.js';

/** A connection as it is kept; `sealedKey` opens by `keyOf` alone. */
export const connectionTable = table({
  row: modelRow('VendorConnection', VendorConnection, { generation: integer, sealedKey: text, vendorAccount: text, cursor: text }),
  what: 'Vendor connection',
  counted: false,
  sorts: { createdAt: byTime('created_at') },
  byDefault: ['createdAt', 'asc'],
});

/** An assignment with its holder. */
export const assignmentTable = table({
  row: modelRow('LineAssignment', LineAssignment, { userId: uuid }),
  what: 'Line assignment',
  counted: false,
  computed: {
    user: sql`(select json_build_object('id', m.user_id, 'firstName', u.first_name, 'lastName', u.last_name, 'email', u.email,
        'isActive', m.status = 'active', 'name', m.name)
      from memberships m join users u on u.id = m.user_id where m.account_id = t.account_id and m.user_id = t.user_id)`,
  },
  carried: ['user'],
  sorts: { createdAt: byTime('created_at') },
  byDefault: ['createdAt', 'asc'],
});

/** What statements answer of an assignment. Its holder has the name by which the workspace knows them, which the record does not show. */
export const assignmentShape = { ...assignmentTable.shape, user: json<LineHolder & { name: string }>() };
export type AssignmentRow = RowOf<typeof assignmentShape>;
