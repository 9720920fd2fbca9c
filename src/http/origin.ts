import type { FastifyRequest } from 'fastify';
import type { Config } from '../kernel/base/config.js';
import { type AppError, denied } from '../kernel/base/errors.js';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

type Ours = Pick<Config, 'publicUrl' | 'corsOrigins'>;

/** Refuses an unsafe request that a foreign page makes with the browser's cookie. Neither header means no browser. */
export function originRefusal(request: FastifyRequest, ours: Ours): AppError | undefined {
  if (safe.has(request.method)) return undefined;
  const { origin, host } = request.headers;
  if (origin !== undefined && ours.corsOrigins.includes(origin)) return undefined;
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site') return denied('A cross-site request with a session cookie is refused');
  if (origin === undefined) return undefined;
  return isOwnOrigin(origin, host, ours) ? undefined : denied('A request from another origin with a session cookie is refused');
}

/** Whether a page of this origin is one of ours. */
export const isOwnOrigin = (origin: string, host: string | undefined, { publicUrl, corsOrigins }: Ours) =>
  origin === new URL(publicUrl).origin || corsOrigins.includes(origin) || sameHost(origin, host);

const sameHost = (origin: string, host: string | undefined) => URL.canParse(origin) && new URL(origin).host === host;
