import ipaddr from 'ipaddr.js';

const names = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** The proxies of a list: addresses, ranges of them, and names of such. Throws for what is none, which would trust nobody, or anybody. */
export function proxiesOf(list: string): string[] | undefined {
  const entries = list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
  for (const entry of entries) {
    if (!names.has(entry) && !isRange(entry))
      throw new Error(`Configuration: TRUST_PROXY: "${entry}" is no address, no range such as 10.0.0.0/8, and not loopback`);
  }
  return entries.length > 0 ? entries : undefined;
}

function isRange(entry: string): boolean {
  const [address = '', range, ...more] = entry.split('/');
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  // A number alone is not taken for an address: whoever writes it means hops, which are not counted.
  if (more.length > 0 || (!isV4 && !ipaddr.IPv6.isValid(address))) return false;
  if (range === undefined) return true;
  if (/^\d+$/.test(range)) return Number(range) >= 1 && Number(range) <= (isV4 ? 32 : 128);
  return isV4 && ipaddr.IPv4.isValidFourPartDecimal(range) && Boolean(ipaddr.IPv4.parse(range).prefixLengthFromSubnetMask());
}
