import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';

const withPort = /^(\d{1,3}(?:\.\d{1,3}){3}):\d+$|^\[([\da-f:.]+)\](?::\d+)?$/i;

/** An address without the port that some proxies (Azure, IIS) write behind it in `X-Forwarded-For`. */
export function withoutPort(address: string): string {
  const [, v4, v6] = withPort.exec(address) ?? [];
  return v4 ?? v6 ?? address;
}

/** Whether an address is a proxy that is trusted to say who called it. */
export function isTrustedProxy(trusted: string[]): (address: string, hop: number) => boolean {
  const isTrusted = proxyAddress.compile(trusted);
  return (address, hop) => isTrusted(withoutPort(address), hop);
}

/** Who is at the other end, behind the proxies that are trusted: what `request.ip` is to Fastify, for an upgrade that it does not see. */
export function clientAddress(request: IncomingMessage, trusted: string[] | undefined): string {
  return trusted ? withoutPort(proxyAddress(request, isTrustedProxy(trusted))) : (request.socket.remoteAddress ?? '');
}
