import type { FastifyInstance } from 'fastify';
import { v7 } from 'uuid';
import type { Caller } from './ceiling.caller.js';
import { fail, isUuid, nullableText, type PageQuery, type PageRow, pageJson, pageOf, sendJson } from './ceiling.pages.js';
import * as sql from './ceiling.sql.js';
import { inTransaction, query } from './ceiling.store.js';
import * as writes from './ceiling.writes.sql.js';

interface ListQuery extends PageQuery {
  search?: string;
  tag?: string;
}

type Body = Record<string, unknown>;

const pattern = (term: string) => `%${term.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;

const schema = {
  body: {
    type: 'object',
    properties: {
      ...Object.fromEntries(sql.writableTexts.map((name) => [name, nullableText(200)])),
      phone: { ...nullableText(30), pattern: '^\\+[1-9]\\d{6,14}$' },
      email: { ...nullableText(254), pattern: '^[^@\\s]+@[^@\\s]+$' },
      customFields: { type: 'object' },
    },
  },
};

const isNamed = (body: Body) => Boolean(body.firstName || body.lastName || body.email || body.phone);
/** Who it is in the log, and by which key in the events. */
const namesOf = ({ user_name, id, key_name }: Caller) => [user_name, id, key_name];
const textsOf = (body: Body) => sql.writableTexts.map((name) => body[name] ?? null);

export function contactRoutes(server: FastifyInstance, isKept: boolean): void {
  const list = sql.list(isKept);

  server.get<{ Params: { id: string } }>('/api/v1/contacts/:id', async ({ caller, params }, reply) => {
    if (!isUuid(params.id)) return fail(reply, 404, 'not_found');
    const [row] = await query<{ json: string }>('one', sql.readOne, [caller.account_id, params.id]);
    return row ? sendJson(reply, `{"data":${row.json}}`) : fail(reply, 404, 'not_found');
  });

  server.get<{ Querystring: ListQuery }>('/api/v1/contacts', async ({ caller, query: asked }, reply) => {
    const place = pageOf(asked);
    if (!place) return fail(reply, 400, 'invalid_request');
    const values = [caller.account_id, place.size, (place.page - 1) * place.size];
    const [row] = asked.search
      ? await query<PageRow>('search', sql.search, [...values, pattern(asked.search), asked.tag])
      : await query<PageRow>('list', list, values);
    return sendJson(reply, pageJson(row!, place));
  });

  server.post<{ Body: Body }>('/api/v1/contacts', { schema }, async ({ caller, body, id }, reply) => {
    if (!isNamed(body)) return fail(reply, 400, 'invalid_request');
    const fixed = [caller.account_id, v7(), v7(), v7(), new Date(), caller.user_id, JSON.stringify(body.customFields ?? {})];
    const [row] = await query<{ json: string }>('create', sql.create, [...fixed, ...textsOf(body), id, ...namesOf(caller)]);
    return sendJson(reply.status(201), `{"data":${row!.json}}`);
  });

  server.patch<{ Params: { id: string }; Body: Body }>('/api/v1/contacts/:id', { schema }, async ({ caller, params, body, id }, reply) => {
    if (!isUuid(params.id)) return fail(reply, 404, 'not_found');
    const fields = sql.writableTexts.filter((name) => body[name] !== undefined);
    const fixed = [caller.account_id, params.id, v7(), v7(), new Date(), caller.user_id, caller.user_name, id, caller.id, caller.key_name];
    const values = [...fixed, ...fields.map((name) => body[name])];
    const [row] = await query<{ json: string }>(`change ${fields}`, writes.changeContact(fields), values);
    return row ? sendJson(reply, `{"data":${row.json}}`) : fail(reply, 404, 'not_found');
  });

  bareRoute(server);
}

/** The rows of a new contact and nothing else: a transaction of three inserts. */
function bareRoute(server: FastifyInstance): void {
  server.post<{ Body: Body }>('/api/v1/bare/contacts', { schema }, async ({ caller, body, id: request }, reply) => {
    const [account, id, now] = [caller.account_id, v7(), new Date()];
    const who = [caller.user_id, caller.user_name];
    const custom = JSON.stringify(body.customFields ?? {});
    await inTransaction([
      { name: 'bare contact', text: writes.bareContact, values: [account, id, now, custom, ...textsOf(body)] },
      { name: 'bare entry', text: writes.bareEntry, values: [account, v7(), id, now, ...who] },
      {
        name: 'bare event',
        text: writes.bareEvent,
        values: [account, v7(), id, JSON.stringify(body), now, caller.id, caller.key_name, request],
      },
    ]);
    return sendJson(reply.status(201), `{"data":{"id":"${id}"}}`);
  });
}
