import type { Context } from '../../kernel/context/context.js';
import { instant, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { emitMessage } from './message.service.js';
import { messageTable } from './message.table.js';

const replying = statement({
  name: 'replyToLastStep',
  takes: { contact: uuid, now: instant },
  row: messageTable.shape,
  changes: true,
  text: ({ account, contact, now }) => sql`
    update messages t set replied_at = ${now}, updated_at = ${now} where t.account_id = ${account} and t.replied_at is null and t.id = (
      select l.id from messages l where l.account_id = ${account} and l.contact_id = ${contact} and l.enrollment_id is not null
        and l.sent_at is not null order by l.created_at desc, l.id desc limit 1) returning ${messageTable.columns}`,
});

/** Notes that a contact answered the last e-mail of a sequence that they got. */
export async function noteReply(ctx: Context, contact: string): Promise<void> {
  const [answered] = await ctx.rows(replying, { contact, now: ctx.now() });
  if (answered) await emitMessage(ctx, 'updated', answered, { repliedAt: { from: null, to: ctx.now().toISOString() } });
}
