import { timingSafeEqual } from 'node:crypto';
import { sign } from '../../kernel/base/crypto.js';
import type { Actor } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { actingForAccounts } from '../auth/auth.acting.js';

/** What an address or a link that names a message is for: one that was signed for something else does not open it. */
export type Purpose = 'open' | 'click' | 'unsubscribe' | 'reply';

// In digits and small letters, since mail servers may change the case of an address, and 64 of them: the part of an address before
// its @ has no more.
const [placeLength, signatureLength] = [50, 14];
const inLetters = (hex: string, length: number) => BigInt(`0x${hex}`).toString(36).padStart(length, '0');
const numberIn = (letters: string) => [...letters].reduce((sum, letter) => sum * 36n + BigInt(Number.parseInt(letter, 36)), 0n);

const hexOf = (id: string) => id.replaceAll('-', '');
const idOf = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** 72 bits. */
const signatureOf = ({ app }: Context, purpose: Purpose, place: string, target: string) => {
  const hash = Buffer.from(sign(app, 'mail links', `${purpose} ${place} ${target}`), 'base64url');
  return inLetters(hash.subarray(0, 9).toString('hex'), signatureLength);
};

/** What `placeOf` makes. */
export const wordPattern = `[0-9a-z]{${placeLength + signatureLength}}`;
const isWord = new RegExp(`^${wordPattern}$`);

/** A message and its account as a word that nobody else can make; a target is inside the signature. */
export function placeOf(ctx: Context, purpose: Purpose, message: string, target = ''): string {
  const place = inLetters(`${hexOf(ctx.caller.account.id)}${hexOf(message)}`, placeLength);
  return `${place}${signatureOf(ctx, purpose, place, target)}`;
}

/** The message of such a word, and a context of its account in which the actor acts; undefined for what we did not write. */
export async function messageAt(ctx: Context, purpose: Purpose, written: string, actor: Actor, target = '') {
  const word = written.toLowerCase();
  if (!isWord.test(word)) return undefined;
  const [place, given] = [word.slice(0, placeLength), word.slice(placeLength)];
  const isOurs = timingSafeEqual(Buffer.from(signatureOf(ctx, purpose, place, target)), Buffer.from(given));
  if (!isOurs) return undefined;
  const hex = numberIn(place).toString(16).padStart(64, '0');
  const [acting] = await actingForAccounts(ctx.app, [idOf(hex.slice(0, 32))], actor);
  return acting && { acting, id: idOf(hex.slice(32)) };
}
