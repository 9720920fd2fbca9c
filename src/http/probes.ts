import { createHash, timingSafeEqual } from 'node:crypto';
import { hostname } from 'node:os';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { Config } from '../kernel/base/config.js';
import { denied } from '../kernel/base/errors.js';
import type { App } from '../kernel/context/context.js';
import type { Metrics } from './metrics.js';
import { readiness } from './readiness.js';

/** What operators and their tools ask: neither limited nor asked for credentials, the metrics aside. */
export function probes(server: FastifyInstance, app: App, metrics: Metrics): void {
  const bare = { config: { bare: true } };
  const { simulated, config } = app;
  server.get('/healthz', bare, (_request, reply) => reply.status(app.ready ? 200 : 503).send({ status: app.ready ? 'ok' : 'unavailable' }));
  const ready = readiness(app);
  server.get('/readyz', bare, async (_request, reply) => {
    const isReady = await ready();
    const status = isReady ? 'ok' : 'unavailable';
    reply.status(isReady ? 200 : 503);
    return { status, ...(simulated.length > 0 && { simulated }) };
  });
  server.get('/metrics', bare, async (request, reply) => {
    if (!isFromHere(request, config) && !hasToken(request, config.metricsToken))
      throw denied('Metrics are for this machine, and for whoever has METRICS_TOKEN');
    reply.type(metrics.registry.contentType);
    return metrics.text();
  });
}

const forwarding = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/**
 * Whether a program on this machine asks. What a proxy hands on comes from elsewhere, even when the proxy runs here; so does a page
 * of the internet whose name leads here: its browser says that name.
 */
export function isFromHere({ ip, headers }: FastifyRequest, { publicUrl }: Pick<Config, 'publicUrl'>): boolean {
  return !forwarding.some((name) => name in headers) && isLoopback(ip) && isOurHost(headers.host, publicUrl);
}

const isLoopback = (ip: string) => ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback';

/** Whether a request was addressed to this machine by a name that nobody else can have. Browsers always say one. */
function isOurHost(host: string | undefined, publicUrl: string): boolean {
  if (host === undefined) return true;
  if (!URL.canParse(`http://${host}`)) return false;
  const name = new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '');
  return isLoopback(name) || ['localhost', hostname().toLowerCase(), new URL(publicUrl).hostname].includes(name);
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Whether the request bears the token, compared in the same time whatever it bears. */
function hasToken({ headers }: FastifyRequest, token: string | undefined): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return token !== undefined && given !== undefined && timingSafeEqual(digest(given), digest(token));
}
