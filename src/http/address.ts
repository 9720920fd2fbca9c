import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';

/** Who is at the other end, behind the proxies that are trusted: what `request.ip` is to Fastify, for an upgrade that it does not see. */
export function clientAddress(request: IncomingMessage, trusted: string[] | undefined): string {
  return trusted ? proxyAddress(request, proxyAddress.compile(trusted)) : (request.socket.remoteAddress ?? '');
}
