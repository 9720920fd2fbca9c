import Fastify from 'fastify';
import { type Caller, callerOf } from './ceiling.caller.js';
import { callRoutes } from './ceiling.calls.js';
import { contactRoutes } from './ceiling.contacts.js';
import { dealRoutes } from './ceiling.deals.js';
import { fail } from './ceiling.pages.js';
import { statements } from './ceiling.store.js';
import { isOpen, talkRoutes } from './ceiling.talk.js';

/*
 * The best that a hand-written server does on these tables: Fastify, pg, prepared statements, JSON built by PostgreSQL.
 * It has the same key check and gives the same records, and nothing else: no schema, no limits, no other endpoint.
 * With KEPT=1 it reads the totals of its lists from the table that keeps them, instead of counting.
 */

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

const server = Fastify();
server.decorateRequest('caller');
server.addHook('onRequest', async (request, reply) => {
  if (!request.url.startsWith('/api/') || isOpen(request.url)) return;
  const caller = await callerOf(request.headers.authorization);
  if (!caller) return fail(reply, 401, 'unauthenticated');
  request.caller = caller;
});

const isKept = process.env.KEPT === '1';
contactRoutes(server, isKept);
dealRoutes(server, isKept);
talkRoutes(server, isKept);
callRoutes(server);
server.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }));
server.get('/metrics', (_request, reply) => reply.send(`db_queries_total ${statements()}\n`));

process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
await server.listen({ port: Number(process.env.PORT ?? 4171), host: '127.0.0.1' });
