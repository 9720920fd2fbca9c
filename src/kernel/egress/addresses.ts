import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { nameOf } from '../base/domains.js';

/** Addresses of the public Internet: all others, such as those that carry an IPv4 address inside, are outside of it. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address, as text, is one that anybody on the Internet may be reached at. */
export function isPublic(address: string): boolean {
  // A zone (fe80::1%eth0) belongs to a link.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || (parsed.match(globalUnicast) && !isIsatap(parsed));
}

/** Whether an interface leads through a tunnel to the IPv4 address in its last 32 bits (RFC 5214). */
const isIsatap = ({ parts }: ipaddr.IPv6) => (parts[4]! & 0xfdff) === 0 && parts[5] === 0x5efe;

/** The address that a host of a URL is, undefined where it is a name. */
export function literalOf(host: string): string | undefined {
  const bare = host.startsWith('[') ? host.slice(1, -1) : host;
  return isIP(bare) ? bare : undefined;
}

/** Names that no public server has: of this machine, of its network, or without a domain. */
const privateName = /^[^.]*$|(^|\.)(localhost|local|internal|localdomain|arpa)$/;

export const isPrivateName = (host: string): boolean => privateName.test(nameOf(host));

/** Whether a name is this machine's by RFC 6761, whatever a server of names says. */
export const isLocalhost = (host: string): boolean => /(^|\.)localhost$/.test(nameOf(host));
