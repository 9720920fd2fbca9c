import { domainToASCII } from 'node:url';
import { LRUCache } from 'lru-cache';

/** A mark that stands behind no letter. Behind one it is part of it, as a vowel of Hindi is. */
const strayMark = /(?<![\p{L}\p{M}])\p{M}/u;

const labels = /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,63}$/u;

/** Whether a text is the name of a domain, in letters of any script or in Punycode, without the dot of the root. */
export const isDomain = (name: string): boolean => name.length <= 253 && labels.test(name) && !strayMark.test(name);

/** What names of other letters are in Punycode. To find it takes 2 µs, and a list may hold 200 of them that each value is compared with. */
const punycode = new LRUCache<string, string>({ max: 5000 });

function inPunycode(name: string): string {
  const known = punycode.get(name);
  if (known !== undefined) return known;
  // It is '' of what can be no name.
  const found = domainToASCII(name) || name.toLowerCase();
  punycode.set(name, found);
  return found;
}

/**
 * A domain's name in the one form in which names are compared: in Punycode and lower case, without the dot of the root. What has no
 * such form stays in its letters.
 */
export const nameOf = (host: string): string => (/\P{ASCII}/u.test(host) ? inPunycode(host) : host.toLowerCase()).replace(/\.$/, '');
