import type { FastifyRequest } from 'fastify';
import type { Config } from '../kernel/base/config.js';
import { type AppError, denied } from '../kernel/base/errors.js';

const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

export type Ours = Pick<Config, 'publicUrl' | 'corsOrigins' | 'corsLocalhost'>;

const localhost = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** Whether pages of this origin may call with the caller's credentials: by name, or in the demo as those of this machine. */
export const isAllowedOrigin = (origin: string, { corsOrigins, corsLocalhost }: Ours): boolean =>
  corsOrigins.includes(origin) || (corsLocalhost && localhost.test(origin));

/** Refuses an unsafe request that a foreign page makes with the browser's cookie. Neither header means no browser. */
export function originRefusal(request: FastifyRequest, ours: Ours): AppError | undefined {
  if (safe.has(request.method)) return undefined;
  const { origin, host } = request.headers;
  if (origin !== undefined && isAllowedOrigin(origin, ours)) return undefined;
  const site = request.headers['sec-fetch-site'];
  if (site === 'cross-site')
    return denied('A cross-site request with a session cookie is refused: CORS_ORIGINS names the origins that may');
  if (origin === undefined) return undefined;
  return isOwnOrigin(origin, host, ours)
    ? undefined
    : denied('A request from another origin with a session cookie is refused: CORS_ORIGINS names those that may');
}

/** Whether a page of this origin is one of ours. */
export const isOwnOrigin = (origin: string, host: string | undefined, ours: Ours) =>
  origin === new URL(ours.publicUrl).origin || isAllowedOrigin(origin, ours) || sameHost(origin, host);

const sameHost = (origin: string, host: string | undefined) => URL.canParse(origin) && new URL(origin).host === host;
