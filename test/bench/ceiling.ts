import { createHash } from 'node:crypto';
import Fastify, { type FastifyReply } from 'fastify';
import pg from 'pg';
import { v7 } from 'uuid';
import * as deals from './ceiling.deals.sql.js';
import * as sql from './ceiling.sql.js';

/*
 * The best that a hand-written server does on these tables: Fastify, pg, prepared statements, JSON built by PostgreSQL.
 * It has the same key check and gives the same records, and nothing else: no schema, no limits, no other endpoint.
 */

const { PORT = '4171', DATABASE_URL } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c TimeZone=UTC -c jit=off' });
let statements = 0;

async function query<Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[]): Promise<Row[]> {
  statements++;
  return (await pool.query<Row>({ name, text, values })).rows;
}

interface Caller {
  id: string;
  account_id: string;
  user_id: string;
  user_name: string;
  permission: string;
  expires_at: Date | null;
  last_used_at: Date | null;
}

const second = 1000;
const known = new Map<string, { caller: Caller; until: number }>();

/** Who calls, cached for one second; last use is written at most once a minute. */
async function callerOf(authorization: string | undefined): Promise<Caller | undefined> {
  if (!authorization?.startsWith('Bearer ')) return undefined;
  const hash = createHash('sha256').update(authorization.slice(7)).digest('hex');
  const now = Date.now();
  const cached = known.get(hash);
  const caller = cached && cached.until > now ? cached.caller : await look(hash, now);
  return caller && (!caller.expires_at || caller.expires_at.getTime() > now) ? caller : undefined;
}

async function look(hash: string, now: number): Promise<Caller | undefined> {
  const [caller] = await query<Caller>('key', sql.findKey, [hash]);
  if (!caller) return undefined;
  if (!caller.last_used_at || now - caller.last_used_at.getTime() > 60 * second)
    await query('touch', sql.touchKey, [caller.id, new Date(now)]);
  if (known.size > 10_000) known.clear();
  known.set(hash, { caller, until: now + second });
  return caller;
}

const server = Fastify();
const fail = (reply: FastifyReply, status: number, error: string) => reply.status(status).send({ error });
const sendJson = (reply: FastifyReply, text: string) => reply.header('content-type', 'application/json; charset=utf-8').send(text);

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

server.decorateRequest('caller');
server.addHook('onRequest', async (request, reply) => {
  if (!request.url.startsWith('/api/')) return;
  const caller = await callerOf(request.headers.authorization);
  if (!caller) return fail(reply, 401, 'unauthenticated');
  request.caller = caller;
});

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

server.get<{ Params: { id: string } }>('/api/v1/contacts/:id', async ({ caller, params }, reply) => {
  if (!uuid.test(params.id)) return fail(reply, 404, 'not_found');
  const [row] = await query<{ json: string }>('one', sql.readOne, [caller.account_id, params.id]);
  return row ? sendJson(reply, `{"data":${row.json}}`) : fail(reply, 404, 'not_found');
});

interface ListQuery {
  page?: string;
  per_page?: string;
  search?: string;
  tag?: string;
}

server.get<{ Querystring: ListQuery }>('/api/v1/contacts', async ({ caller, query: asked }, reply) => {
  const page = Number(asked.page ?? 1);
  const size = Math.min(Number(asked.per_page ?? 50), 200);
  if (!(page >= 1 && size >= 1)) return fail(reply, 400, 'invalid_request');
  const values = [caller.account_id, size, (page - 1) * size];
  const [row] = asked.search
    ? await query<PageRow>('search', sql.search, [...values, pattern(asked.search), asked.tag])
    : await query<PageRow>('list', sql.list, values);
  return sendJson(reply, pageJson(row!, page, size));
});

const pattern = (term: string) => `%${term.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;

interface PageRow {
  json: string;
  total: string;
  last: string | null;
}

function pageJson({ json, total, last }: PageRow, page: number, size: number): string {
  const pages = Math.ceil(Number(total) / size);
  // spaces are how PostgreSQL prints an array
  const cursor = page < pages && last ? `"${Buffer.from(JSON.stringify(JSON.parse(last))).toString('base64url')}"` : 'null';
  const meta = `{"page":${page},"per_page":${size},"total":${total},"totalPages":${pages},"next_cursor":${cursor}}`;
  return `{"data":{"data":${json},"meta":${meta}}}`;
}

const text = (maxLength: number) => ({ type: ['string', 'null'], maxLength });
const schema = {
  body: {
    type: 'object',
    properties: {
      ...Object.fromEntries(sql.writableTexts.map((name) => [name, text(200)])),
      phone: { ...text(30), pattern: '^\\+[1-9]\\d{6,14}$' },
      email: { ...text(254), pattern: '^[^@\\s]+@[^@\\s]+$' },
      customFields: { type: 'object' },
    },
  },
};

server.post<{ Body: Record<string, unknown> }>('/api/v1/contacts', { schema }, async ({ caller, body, id }, reply) => {
  if (!body.firstName && !body.lastName && !body.email && !body.phone) return fail(reply, 400, 'invalid_request');
  const texts = sql.writableTexts.map((name) => body[name] ?? null);
  const fixed = [caller.account_id, v7(), v7(), v7(), new Date(), caller.user_id, JSON.stringify(body.customFields ?? {})];
  const [row] = await query<{ json: string }>('create', sql.create, [...fixed, ...texts, id, caller.user_name]);
  return sendJson(reply.status(201), `{"data":${row!.json}}`);
});

server.get<{ Querystring: ListQuery }>('/api/v1/deals', async ({ caller, query: asked }, reply) => {
  const page = Number(asked.page ?? 1);
  const size = Math.min(Number(asked.per_page ?? 50), 200);
  if (!(page >= 1 && size >= 1)) return fail(reply, 400, 'invalid_request');
  const [row] = await query<PageRow>('deals', deals.listDeals, [caller.account_id, size, (page - 1) * size]);
  return sendJson(reply, pageJson(row!, page, size));
});

interface NewDeal {
  title: string;
  pipelineId: string;
  stageId: string;
  companyId: string;
  assignedTo: string;
  value: number;
}

const id = { type: 'string', format: 'uuid' };
const dealSchema = {
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

server.post<{ Body: NewDeal }>('/api/v1/deals', { schema: dealSchema }, async ({ caller, body, id: request }, reply) => {
  const { title, pipelineId, stageId, companyId, assignedTo, value } = body;
  const [place] = await query<{ pipeline_id: string; probability: string | null; known: boolean }>('place', deals.placeOf, [
    ...[caller.account_id, stageId, companyId, assignedTo],
  ]);
  if (place?.pipeline_id !== pipelineId) return fail(reply, 404, 'not_found');
  if (!place.known) return fail(reply, 400, 'invalid_request');
  const now = new Date();
  const fixed = [caller.account_id, v7(), v7(), v7(), now, caller.user_id, title, pipelineId, stageId, companyId, value, place.probability];
  const [row] = await query<{ json: string }>('createDeal', deals.createDeal, [
    ...fixed,
    assignedTo,
    now.getTime(),
    request,
    caller.user_name,
  ]);
  return sendJson(reply.status(201), `{"data":${row!.json}}`);
});

server.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }));
server.get('/metrics', (_request, reply) => reply.send(`db_queries_total ${statements}\n`));

process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
await server.listen({ port: Number(PORT), host: '127.0.0.1' });
