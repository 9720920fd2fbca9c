import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Agent, request as send } from 'undici';
import { v7 } from 'uuid';
import type { Caller } from './ceiling.caller.js';
import { fail, isUuid, type PageQuery, type PageRow, pageJson, pageOf, sendJson } from './ceiling.pages.js';
import { inTransaction, query } from './ceiling.store.js';
import * as sql from './ceiling.talk.sql.js';

const formPath = /^\/api\/v1\/forms\/[^/]+\/submit$/;

/** Whether an address is open to strangers. */
export const isOpen = (url: string) => formPath.test(url);

const id = { type: 'string', format: 'uuid' };
const bodyText = { type: 'string', minLength: 1, maxLength: 500 * 1024 };
const newMessage = {
  body: {
    type: 'object',
    required: ['contactId', 'channel', 'direction', 'body'],
    properties: { contactId: id, channel: { enum: ['sms'] }, direction: { enum: ['inbound'] }, body: bodyText },
  },
};
const newSms = {
  body: { type: 'object', required: ['contactId', 'body'], properties: { contactId: id, body: { ...bodyText, maxLength: 1600 } } },
};

interface NewMessage {
  contactId: string;
  body: string;
}

/** What every kept message says of who keeps it, and when. */
const author = ({ id, key_name, account_id }: Caller, request: string, message: string) => [
  account_id,
  message,
  new Date(),
  id,
  key_name,
  request,
];

const { TWILIO_API_BASE = '', TWILIO_ACCOUNT_SID = '', TWILIO_AUTH_TOKEN = '' } = process.env;
const agent = new Agent();
const authorization = `Basic ${Buffer.from(`${TWILIO_ACCOUNT_SID}:${TWILIO_AUTH_TOKEN}`).toString('base64')}`;

/** Hands a text message to the vendor; its id there. */
async function handOver(from: string, to: string, body: string, message: string): Promise<string> {
  const form = new URLSearchParams({
    From: from,
    To: to,
    Body: body,
    StatusCallback: `http://127.0.0.1:4000/webhooks/twilio/status/${message}`,
  });
  const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  const address = `${TWILIO_API_BASE}/2010-04-01/Accounts/${TWILIO_ACCOUNT_SID}/Messages.json`;
  const answer = await send(address, { method: 'POST', dispatcher: agent, headers, body: form.toString() });
  const { sid } = (await answer.body.json()) as { sid?: string };
  if (!sid) throw new Error(`The vendor answered ${answer.statusCode}`);
  return sid;
}

interface Addressed {
  phone: string | null;
  refused: boolean;
  number: string;
}

export function talkRoutes(server: FastifyInstance, isKept: boolean): void {
  const conversations = sql.listConversations(isKept);

  server.get<{ Querystring: PageQuery }>('/api/v1/conversations', async ({ caller, query: asked }, reply) => {
    const place = pageOf(asked);
    if (!place) return fail(reply, 400, 'invalid_request');
    const [row] = await query<PageRow>('conversations', conversations, [caller.account_id, place.size, (place.page - 1) * place.size]);
    return sendJson(reply, pageJson(row!, place));
  });

  server.get<{ Params: { id: string } }>('/api/v1/conversations/:id', async ({ caller, params }, reply) => {
    if (!isUuid(params.id)) return fail(reply, 404, 'not_found');
    const [row] = await query<{ json: string }>('thread', sql.thread, [caller.account_id, params.id]);
    return row ? sendJson(reply, `{"data":${row.json}}`) : fail(reply, 404, 'not_found');
  });

  server.post<{ Body: NewMessage }>('/api/v1/messages', { schema: newMessage }, async ({ caller, body, id: request }, reply) => {
    const what = [body.contactId, 'sms', 'inbound', body.body, 'received', v7(), 'message.received', 'Message received'];
    const told = [caller.user_id, caller.user_name, [v7(), v7()], ['message.created', 'message.received'], null, null, null, null, null];
    const [row] = await query<{ json: string }>('keep', sql.keepMessage, [...author(caller, request, v7()), ...what, ...told]);
    return row ? sendJson(reply.status(201), `{"data":${row.json}}`) : fail(reply, 400, 'invalid_request');
  });

  server.post<{ Body: NewMessage }>('/api/v1/messages/sms/send', { schema: newSms }, async ({ caller, body, id: request }, reply) => {
    const [to] = await query<Addressed>('recipient', sql.recipient, [caller.account_id, body.contactId]);
    if (!to?.phone) return fail(reply, 400, 'invalid_request');
    if (to.refused) return fail(reply, 409, 'refused');
    const message = v7();
    const what = [body.contactId, 'sms', 'outbound', body.body, 'sending', v7(), 'message.created', 'Message created'];
    const way = [to.number, to.phone, 'primary', 'twilio', caller.user_id];
    const told = [caller.user_id, caller.user_name, [v7()], ['message.created'], ...way];
    await query('keep', sql.keepMessage, [...author(caller, request, message), ...what, ...told]);
    const sid = await handOver(to.number, to.phone, body.body, message);
    const settled = [sid, v7(), caller.user_id, caller.user_name, [v7(), v7()]];
    const [row] = await query<{ json: string }>('settle', sql.settleSms, [...author(caller, request, message), ...settled]);
    return sendJson(reply.status(201), `{"data":${row!.json}}`);
  });

  formRoute(server);
}

interface Field {
  key: string;
  type: string;
  required: boolean;
}

interface OpenForm {
  account_id: string;
  name: string;
  fields: Field[];
  redirect_url: string | null;
  thank_you_message: string | null;
}

interface Submission {
  data: Record<string, unknown>;
  source?: string;
  utm?: Record<string, string>;
}

const submission = {
  body: {
    type: 'object',
    required: ['data'],
    properties: { data: { type: 'object' }, source: { type: 'string', maxLength: 100 }, utm: { type: 'object' } },
  },
};

/** What was filled in; undefined where something is missing or wrong. */
function valuesOf(fields: Field[], data: Record<string, unknown>): Record<string, string> | undefined {
  const values: Record<string, string> = {};
  for (const { key, type, required } of fields) {
    const value = data[key];
    if (value === undefined && !required) continue;
    if (typeof value !== 'string' || value.length > 1000 || (type === 'email' && !/^[^@\s]+@[^@\s]+$/.test(value))) return undefined;
    values[key] = value;
  }
  return values;
}

interface Submitted {
  id: string;
  contact_id: string;
}

/** A submission by a stranger, which makes a contact unless the address is known: one at a time for an address. */
function formRoute(server: FastifyInstance): void {
  server.post<{ Params: { id: string }; Body: Submission }>(
    '/api/v1/forms/:id/submit',
    { schema: submission },
    async ({ params, body, id: request, ip }: FastifyRequest<{ Params: { id: string }; Body: Submission }>, reply) => {
      const [form] = isUuid(params.id) ? await query<OpenForm>('form', sql.openForm, [params.id]) : [];
      if (!form) return fail(reply, 404, 'not_found');
      const values = valuesOf(form.fields, body.data);
      if (!values) return fail(reply, 400, 'invalid_request');
      const { account_id: account, name, redirect_url: redirectUrl, thank_you_message: thankYouMessage } = form;
      const [, first, last] = /^(.*\S)\s+(\S+)$/s.exec(values.name!) ?? [];
      const attribution = { utm_source: body.utm?.source };
      const who = [v7(), first ?? values.name, last ?? null, values.email, JSON.stringify(attribution)];
      const what = [JSON.stringify(values), body.source ?? null, JSON.stringify(body.utm ?? null), ip, [v7(), v7()], [v7(), v7(), v7()]];
      const rows = await inTransaction<Submitted>([
        { name: 'lock', text: sql.lockAddress, values: [account, values.email!.toLowerCase()] },
        { name: 'submit', text: sql.submit, values: [account, v7(), new Date(), params.id, name, request, ...who, ...what] },
      ]);
      const data = { id: rows[0]!.id, contactId: rows[0]!.contact_id, redirectUrl, thankYouMessage };
      return reply.status(201).send({ data });
    },
  );
}
