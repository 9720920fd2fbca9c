import { longThread } from './fill.talk.js';
import type { Call } from './load.js';
import { bothCeilings, type Ground, get, type Workload } from './workloads.js';

/** Conversations, messages that are kept and sent, and a form that strangers fill in. */
export async function talkWorkloads({ client, filled }: Ground): Promise<Workload[]> {
  const idsOf = async (sql: string) => (await client.query<{ id: string }>(sql, [filled.accountId])).rows.map(({ id }) => id);
  const long = await idsOf(
    `select contact_id as id from conversations where account_id = $1 and message_count >= ${longThread} order by contact_id limit 20`,
  );
  const reachable = await idsOf(
    `select id from contacts where account_id = $1 and phone is not null and do_not_contact is not true and not opted_out_sms
     order by md5(id::text) limit 10000`,
  );
  const [form] = await idsOf('select id from forms where account_id = $1 and is_active');
  const post = (path: string, body: object): Call => ({ method: 'POST', path: `/api/v1${path}`, body });
  const times = ['sentAt', 'createdAt', 'updatedAt'];
  const written = { isWriting: true, differing: ['id', 'providerId', 'from', 'to', ...times] };
  return [
    {
      key: 'conversations',
      title: 'conversations over 100,000 messages',
      calls: [get('/conversations')],
      yardsticks: bothCeilings(0.8, 0.8),
      statements: 2,
    },
    {
      key: 'thread',
      title: 'a thread of 500 messages',
      calls: long.map((id) => get(`/conversations/${id}`)),
      yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.6 } }],
    },
    {
      key: 'postMessage',
      title: 'keep a message that came in',
      calls: reachable.map((contactId) =>
        post('/messages', { contactId, channel: 'sms', direction: 'inbound', body: 'Please call me back.' }),
      ),
      yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.6 } }],
      ...written,
      statements: 3,
    },
    {
      key: 'sendSms',
      title: 'send a text message',
      calls: reachable.map((contactId) => post('/messages/sms/send', { contactId, body: 'We will call you at ten.' })),
      yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.6 } }],
      ...written,
    },
    {
      key: 'submitForm',
      title: 'fill in a form as somebody new',
      calls: Array.from({ length: 30_000 }, (_, n) => {
        const data = { name: 'Ada Lovelace', email: `visitor.${n}@form.example`, question: 'How much is it?' };
        return post(`/forms/${form}/submit`, { data, source: 'website', utm: { source: 'bench' } });
      }),
      yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.5 } }],
      ...written,
      differing: ['id', 'contactId', 'submittedAt'],
    },
  ];
}
