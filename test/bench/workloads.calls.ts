import { signed } from './ceiling.calls.js';
import type { Call } from './load.js';
import { type Ground, get, graphql, type Workload } from './workloads.js';

const monthDocument = `query ($people: [ID!]!, $from: DateOrDateTime!, $to: DateOrDateTime!) {
  appointments(first: 200, filter: { startAfter: $from, startBefore: $to }, where: { assignedTo: { in: $people } }) {
    nodes { id title status startTime endTime calendar { name } contact { firstName lastName } assignedUser { id name } } } }`;

const day = 24 * 60 * 60 * 1000;

/** Half hours from 2040 on, each calendar's one after the other: nobody has them. */
function bookings(calendars: string[], people: string[]): Call[] {
  return Array.from({ length: 60_000 }, (_, i) => {
    const begins = Date.UTC(2040, 0, 1) + Math.floor(i / calendars.length) * 30 * 60_000;
    const [startTime, endTime] = [begins, begins + 30 * 60_000].map((time) => new Date(time).toISOString());
    const nth = i % calendars.length;
    const body = { title: `Demo ${i}`, startTime, endTime, assignedTo: people[nth] };
    return { method: 'POST', path: `/api/v1/calendars/${calendars[nth]}/appointments`, body };
  });
}

/** What the vendor sends when somebody presses a digit at a menu, or gives up at it. */
function turns({ filled, settings }: Ground, calls: { id: string; sid: string; number: string }[], rounds: number, digit: string): Call[] {
  const { PUBLIC_URL = '', TWILIO_AUTH_TOKEN = '' } = settings;
  return Array.from({ length: calls.length * rounds }, (_, i) => {
    const { id, sid, number } = calls[i % calls.length]!;
    const path = `/webhooks/twilio/voice/${filled.accountId}/${id}?n=${1 + Math.floor(i / calls.length)}&do=menu&at=menu&k=0`;
    const form = { CallSid: sid, From: '+14155550000', To: number, Digits: digit };
    return { method: 'POST', path, form, headers: { 'x-twilio-signature': signed(TWILIO_AUTH_TOKEN, PUBLIC_URL + path, form) } };
  });
}

/** Booking, the month of ten people, and turns of calls that go on. */
export async function callWorkloads(ground: Ground): Promise<Workload[]> {
  const { client, filled } = ground;
  const rows = async <Row extends object>(sql: string) => (await client.query<Row>(sql, [filled.accountId])).rows;
  const calendars = (await rows<{ id: string }>('select id from calendars where account_id = $1 order by id')).map(({ id }) => id);
  const people = (await rows<{ id: string }>('select user_id as id from memberships where account_id = $1 order by user_id')).map(
    ({ id }) => id,
  );
  const live = await rows<{ id: string; sid: string; number: string }>(
    'select id, provider_id as sid, to_number as number from live_calls where account_id = $1 order by id',
  );
  const booked = bookings(calendars, people);
  const [first, second] = [turns(ground, live, 1, '2'), turns(ground, live, 30, '1')];
  const now = Date.now();
  const range = { from: new Date(now).toISOString(), to: new Date(now + 30 * day).toISOString() };
  return [
    {
      key: 'month',
      title: 'GraphQL: a month of ten people',
      calls: [graphql(monthDocument, { people, ...range })],
      yardsticks: [
        {
          ...{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.8 } },
          calls: [get(`/month?people=${people.join(',')}&from=${range.from}&to=${range.to}`)],
        },
      ],
      comparable: ({ data }: { data: { appointments: { nodes: object[] } } }) => ({ data: data.appointments.nodes }),
      statements: 1,
    },
    {
      key: 'voiceTurn',
      title: 'a turn of a call: from a menu to another',
      calls: first,
      yardsticks: [{ name: 'ceiling', side: 'ceiling', target: { ratio: 0.5 } }],
      statements: 2,
    },
    {
      key: 'voiceRing',
      title: 'a turn that rings a group, one after the other',
      calls: second,
      yardsticks: [{ name: 'ceiling', side: 'ceiling', calls: first, hasOtherAnswers: true, target: { ratio: 0.5 } }],
      statements: 2,
    },
    {
      key: 'book',
      title: 'book an appointment',
      calls: booked,
      yardsticks: [
        {
          ...{ name: 'bare inserts', side: 'ceiling', hasOtherAnswers: true, target: { ratio: 0.6 } },
          calls: booked.map((call) => ({ ...call, path: call.path.replace('/api/v1', '/api/v1/bare') })),
        },
      ],
      isWriting: true,
      isOnce: true,
    },
  ];
}
