import { flag, instant, integer, nullable, type RowOf, text } from '../../kernel/database/kinds.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { withTotal } from '../../kernel/tables/rowCondition.js';
import { Message, MessageConnection, MessageList } from './message.model.js';

/**
 * About the bytes of a message, alias `t`: its texts, which may be a megabyte and whose lengths are known without reading them, what an
 * integration keeps with it, and its addresses.
 */
export const bytesOfMessage = sql`(octet_length(t.body) + coalesce(octet_length(t.body_html), 0) + coalesce(octet_length(t.metadata::text), 0)
  + 254 * (coalesce(cardinality(t.cc), 0) + coalesce(cardinality(t.bcc), 0)) + 1000)`;

/**
 * A message as it is kept; `attempt` is the number of the last attempt to send it, `tries` how many of them were the server's own, by
 * its plan.
 */
export const messageRow = modelRow('Message', Message, {
  attempt: integer,
  tries: integer,
  dueAt: nullable(instant),
  idempotencyKey: nullable(text),
  requestHash: nullable(text),
  tracked: flag,
});

type MessageRow = RowOf<typeof messageRow.shape>;

/** How many characters of its body a list shows at most. */
const startLength = 4000;

export const messageTable = table({
  row: messageRow,
  list: MessageList,
  page: MessageConnection,
  fixed: ['scheduledAt'],
  computed: {
    bodyStart: {
      sql: rawSql(`left(t.body, ${startLength})`),
      of: ({ body }: MessageRow) => [...body.slice(0, 2 * startLength)].slice(0, startLength).join(''),
      type: () => String,
      // Conditions and groups would read every body.
      isShown: true,
      description: `The first ${startLength} characters of the body: enough for the line of a list, whose bodies may be 500 KB each`,
    },
  },
  // A text message is taken without a word of it: what becomes of it is told.
  movesUntold: { status: { sending: ['queued'] } },
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at') },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
    channel: (channel) => withTotal(sql`t.channel = ${channel}`, { table: 'messages', of: [channel] }),
    direction: (direction) => sql`t.direction = ${direction}`,
    status: (status) => sql`t.status = ${status}`,
  },
});
