import { isOneOf, signatures } from '../../kernel/base/crypto.js';
import { hexOfIds, idInHex } from '../../kernel/base/ids.js';
import type { Context } from '../../kernel/context/context.js';
import { type ActingOptions, actingForAccount } from '../auth/auth.acting.js';

/** What an address or a link that names a message is for: one that was signed for something else does not open it. */
export type Purpose = 'open' | 'click' | 'unsubscribe' | 'reply';

// In digits and small letters, since mail servers may change the case of an address, and 64 of them: the part of an address before
// its @ has no more.
const [placeLength, signatureLength] = [50, 14];
const inLetters = (hex: string, length: number) => BigInt(`0x${hex}`).toString(36).padStart(length, '0');
const numberIn = (letters: string) => [...letters].reduce((sum, letter) => sum * 36n + BigInt(Number.parseInt(letter, 36)), 0n);

/** Of 72 bits: the present one, and those of the keys of before. */
const signaturesOf = ({ app }: Context, purpose: Purpose, place: string, target: string) =>
  signatures(app, 'mail links', `${purpose} ${place} ${target}`).map((signature) => {
    const hash = Buffer.from(signature, 'base64url');
    return inLetters(hash.subarray(0, 9).toString('hex'), signatureLength);
  });

/** The pattern of what `tokenOf` makes. */
export const tokenPattern = `[0-9a-z]{${placeLength + signatureLength}}`;
const isWord = new RegExp(`^${tokenPattern}$`);

/** A message and its account as a word that nobody else can make; a target is inside the signature. */
export function tokenOf(ctx: Context, purpose: Purpose, message: string, target = ''): string {
  const place = inLetters(hexOfIds(ctx.caller.account.id, message), placeLength);
  return `${place}${signaturesOf(ctx, purpose, place, target)[0]}`;
}

/** Who acts, and the target that is inside the signature. */
interface TokenUse extends ActingOptions {
  target?: string;
}

/** The message of such a word, and a context of its account in which the actor acts; undefined for what we did not write. */
export async function messageAt(ctx: Context, purpose: Purpose, written: string, { target = '', ...by }: TokenUse) {
  const word = written.toLowerCase();
  if (!isWord.test(word)) return undefined;
  const [place, given] = [word.slice(0, placeLength), word.slice(placeLength)];
  const ours = signaturesOf(ctx, purpose, place, target).map((signature) => Buffer.from(signature));
  if (!isOneOf(ours, Buffer.from(given))) return undefined;
  const hex = numberIn(place).toString(16).padStart(64, '0');
  const acting = await actingForAccount(ctx.app, idInHex(hex, 0), by);
  return acting && { acting, id: idInHex(hex, 1) };
}
