import { createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { v7 } from 'uuid';
import { sendJson } from './ceiling.pages.js';
import { column } from './ceiling.sql.js';
import { inTransaction, query } from './ceiling.store.js';

const id = { type: 'string', format: 'uuid' };
const time = { type: 'string', format: 'date-time' };
const booking = {
  body: {
    type: 'object',
    required: ['title', 'startTime', 'endTime'],
    properties: { title: { type: 'string', minLength: 1, maxLength: 500 }, startTime: time, endTime: time, assignedTo: id },
  },
};

interface Booking {
  title: string;
  startTime: string;
  endTime: string;
  assignedTo: string;
}

const bareAppointment = `
insert into appointments (account_id, id, calendar_id, title, start_time, end_time, busy_until, assigned_to, created_at, updated_at)
values ($1, $2, $3, $4, $5, $6, $6, $7, $8, $8)`;
const bareEntry = `
insert into activities (account_id, id, type, title, description, entity_type, entity_id, action, user_id, user_name, created_at)
values ($1, $2, 'appointment.created', 'Appointment created', $4, 'appointment', $3, 'created', $6, $7, $5)`;
const bareEvent = `
insert into outbox_events (account_id, id, name, entity_type, entity_id, data, actor_id, actor_name, request_id, created_at)
values ($1, $2, 'appointment.created', 'appointment', $3, $4, $6, $7, $8, $5)`;

const shown = ['id', 'title', 'status'].map((name) => `t.${column(name)} as "${name}"`);
const times = ['startTime', 'endTime'].map((name) => `to_char(t.${column(name)}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "${name}"`);

/** $1 account, $2 people, $3 from, $4 to. */
const month = `
select coalesce(json_agg(r), '[]')::text as json from (
  select ${[...shown, ...times].join(', ')}, json_build_object('name', k.name) as calendar,
    case when c.id is not null then json_build_object('firstName', c.first_name, 'lastName', c.last_name) end as contact,
    json_build_object('id', m.user_id, 'name', m.name) as "assignedUser"
  from appointments t join calendars k on k.account_id = t.account_id and k.id = t.calendar_id
  join memberships m on m.account_id = t.account_id and m.user_id = t.assigned_to
  left join contacts c on c.account_id = t.account_id and c.id = t.contact_id and c.deleted_at is null
  where t.account_id = $1 and t.deleted_at is null and t.assigned_to = any($2::uuid[]) and t.start_time >= $3 and t.start_time < $4
  order by t.start_time, t.id limit 200) r`;

/** $1 account, $2 live call. */
const liveCall = `
select v.graph from live_calls l join call_flow_versions v
on v.account_id = l.account_id and v.call_flow_id = l.call_flow_id and v.version = l.call_flow_version where l.account_id = $1 and l.id = $2`;

interface Menu {
  id: string;
  text: string;
  options: { digit: number; next: string }[];
}

const { PUBLIC_URL = '', TWILIO_AUTH_TOKEN = '' } = process.env;
const escaped = (text: string) => text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one]!);

/** How Twilio signs a form that it sends to an address. */
export function signed(token: string, url: string, form: Record<string, string>): string {
  const text = Object.keys(form)
    .sort()
    .reduce((all, name) => all + name + form[name], url);
  return createHmac('sha1', token).update(text).digest('base64');
}

/** A menu as it is read to a caller. */
function gathered({ id: at, text }: Menu, base: string, n: number): string {
  const action = escaped(`${base}?${new URLSearchParams({ n: String(n), do: 'menu', at, k: '0' })}`);
  const gather = `<Gather input="dtmf" numDigits="1" timeout="5" action="${action}" method="POST" finishOnKey=""><Say>${escaped(text)}</Say></Gather>`;
  return `<?xml version="1.0" encoding="UTF-8"?><Response>${gather}<Redirect method="POST">${action}</Redirect></Response>`;
}

/** A menu of a call that goes on, by what was pressed: the signature, one look-up, the document. */
function voiceRoute(server: FastifyInstance): void {
  server.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body as string))),
  );
  server.post<{ Params: { account: string; call: string }; Querystring: { n: string; at: string }; Body: Record<string, string> }>(
    '/webhooks/twilio/voice/:account/:call',
    async ({ params, query: asked, body, url, headers }, reply) => {
      if (signed(TWILIO_AUTH_TOKEN, PUBLIC_URL + url, body) !== headers['x-twilio-signature']) return reply.status(403).send();
      const [row] = await query<{ graph: { nodes: Menu[] } }>('live call', liveCall, [params.account, params.call]);
      const nodes = new Map(row!.graph.nodes.map((node) => [node.id, node]));
      const option = nodes.get(asked.at)!.options.find(({ digit }) => String(digit) === body.Digits);
      const base = `${PUBLIC_URL}/webhooks/twilio/voice/${params.account}/${params.call}`;
      const text = gathered(nodes.get(option!.next)!, base, Number(asked.n) + 1);
      return reply.header('content-type', 'text/xml; charset=utf-8').send(text);
    },
  );
}

export function callRoutes(server: FastifyInstance): void {
  server.post<{ Params: { id: string }; Body: Booking }>(
    '/api/v1/bare/calendars/:id/appointments',
    { schema: booking },
    async ({ caller, params, body, id: request }, reply) => {
      const [account, made, now] = [caller.account_id, v7(), new Date()];
      const place = [params.id, body.title, body.startTime, body.endTime, body.assignedTo];
      const who = [caller.user_id, caller.user_name];
      await inTransaction([
        { name: 'bare appointment', text: bareAppointment, values: [account, made, ...place, now] },
        { name: 'bare entry of it', text: bareEntry, values: [account, v7(), made, body.title, now, ...who] },
        { name: 'bare event of it', text: bareEvent, values: [account, v7(), made, JSON.stringify(body), now, ...who, request] },
      ]);
      return sendJson(reply.status(201), `{"data":{"id":"${made}"}}`);
    },
  );

  server.get<{ Querystring: { people: string; from: string; to: string } }>('/api/v1/month', async ({ caller, query: asked }, reply) => {
    const [row] = await query<{ json: string }>('month', month, [caller.account_id, asked.people.split(','), asked.from, asked.to]);
    return sendJson(reply, `{"data":${row!.json}}`);
  });

  voiceRoute(server);
}
