import type { FastifyInstance } from 'fastify';
import { v7 } from 'uuid';
import * as deals from './ceiling.deals.sql.js';
import { fail, isUuid, nullableText, type PageQuery, type PageRow, pageJson, pageOf, sendJson } from './ceiling.pages.js';
import { query } from './ceiling.store.js';
import { changeDeal } from './ceiling.writes.sql.js';

interface NewDeal {
  title: string;
  pipelineId: string;
  stageId: string;
  companyId: string;
  assignedTo: string;
  value: number;
}

const id = { type: 'string', format: 'uuid' };
const newDeal = {
  body: {
    type: 'object',
    required: ['title', 'pipelineId', 'stageId'],
    properties: {
      title: { type: 'string', maxLength: 200 },
      pipelineId: id,
      stageId: id,
      companyId: id,
      assignedTo: id,
      value: { type: 'number' },
    },
  },
};

const changeable = ['title', 'value', 'priority', 'source'];
const dealChange = {
  body: {
    type: 'object',
    properties: {
      title: { type: 'string', maxLength: 200 },
      value: { type: 'number' },
      priority: nullableText(30),
      source: nullableText(500),
    },
  },
};

export function dealRoutes(server: FastifyInstance, isKept: boolean): void {
  const [listDeals, board] = [deals.listDeals(isKept), deals.board(isKept)];

  server.get<{ Querystring: PageQuery }>('/api/v1/deals', async ({ caller, query: asked }, reply) => {
    const place = pageOf(asked);
    if (!place) return fail(reply, 400, 'invalid_request');
    const [row] = await query<PageRow>('deals', listDeals, [caller.account_id, place.size, (place.page - 1) * place.size]);
    return sendJson(reply, pageJson(row!, place));
  });

  server.get<{ Params: { id: string } }>('/api/v1/board/:id', async ({ caller, params }, reply) => {
    if (!isUuid(params.id)) return fail(reply, 404, 'not_found');
    const [row] = await query<{ json: string }>('board', board, [caller.account_id, params.id]);
    return row ? sendJson(reply, `{"data":${row.json}}`) : fail(reply, 404, 'not_found');
  });

  server.post<{ Body: NewDeal }>('/api/v1/deals', { schema: newDeal }, async ({ caller, body, id: request }, reply) => {
    const { title, pipelineId, stageId, companyId, assignedTo, value } = body;
    const [place] = await query<{ pipeline_id: string; probability: string | null; known: boolean }>('place', deals.placeOf, [
      ...[caller.account_id, stageId, companyId, assignedTo],
    ]);
    if (place?.pipeline_id !== pipelineId) return fail(reply, 404, 'not_found');
    if (!place.known) return fail(reply, 400, 'invalid_request');
    const now = new Date();
    const fixed = [caller.account_id, v7(), v7(), v7(), now, caller.user_id, title, pipelineId, stageId, companyId, value];
    const rest = [place.probability, assignedTo, now.getTime(), request, caller.user_name, caller.id, caller.key_name];
    const [row] = await query<{ json: string }>('createDeal', deals.createDeal, [...fixed, ...rest]);
    return sendJson(reply.status(201), `{"data":${row!.json}}`);
  });

  server.patch<{ Params: { id: string }; Body: Record<string, unknown> }>(
    '/api/v1/deals/:id',
    { schema: dealChange },
    async ({ caller, params, body, id: request }, reply) => {
      if (!isUuid(params.id)) return fail(reply, 404, 'not_found');
      const fields = changeable.filter((name) => body[name] !== undefined);
      const fixed = [
        caller.account_id,
        params.id,
        v7(),
        v7(),
        new Date(),
        caller.user_id,
        caller.user_name,
        request,
        caller.id,
        caller.key_name,
      ];
      const values = [...fixed, ...fields.map((name) => body[name])];
      const [row] = await query<{ json: string }>(`change ${fields}`, changeDeal(fields), values);
      return row ? sendJson(reply, `{"data":${row.json}}`) : fail(reply, 404, 'not_found');
    },
  );
}
