import { sql } from '../../kernel/database/sql.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { PhoneNumber, PhoneNumberConnection, PhoneNumberList } from './number.model.js';

export const numberTable = table({
  row: modelRow('PhoneNumber', PhoneNumber),
  list: PhoneNumberList,
  page: PhoneNumberConnection,
  what: 'Phone number',
  counted: false,
  sorts: { createdAt: byTime('created_at') },
  byDefault: ['createdAt', 'asc'],
  conditions: { hasSms: (has) => sql`t.has_sms = ${has}` },
});
