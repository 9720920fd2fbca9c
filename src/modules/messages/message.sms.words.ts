const optsOut = new Set(['stop', 'stopall', 'unsubscribe', 'cancel', 'end', 'quit', 'revoke', 'optout']);
const yes = 'yes';
const optsIn = new Set(['start', 'unstop', yes]);

/** More characters than a word of these has, with what may stand around it. */
const mostOfWord = 40;

/** Whether a text asks for no more, as people write it: `Stop.`, `STOP ALL`, `"opt-out"!`. A question is none. */
const asksToStop = (text: string): boolean =>
  text.length <= mostOfWord && optsOut.has(text.toLowerCase().replace(/[\s.,:;!'"“”‘’()*_-]/g, ''));

const wordOf = (text: string) => text.trim().toLowerCase();

/** What a text says, and what its vendor took it for, which knows words of other languages: STOP, START or HELP. */
export interface Wording {
  body: string;
  optOutType?: string;
}

/** Whether the writer of a text opts out by it, or in again (false); undefined where it says nothing of that. */
export function optOutBy({ body, optOutType }: Wording): boolean | undefined {
  if (optOutType === 'STOP' || optOutType === 'START') return optOutType === 'STOP';
  if (asksToStop(body)) return true;
  return optsIn.has(wordOf(body)) ? false : undefined;
}

/**
 * The same of the workspaces that do not have the number that a text came to, and wrote from it once. START is said to the one that has
 * the number, where one has (`isClaimed`); YES may answer a question of any one of them, unless the vendor took it for START.
 */
export function optOutElsewhereBy(text: Wording, isClaimed: boolean): boolean | undefined {
  const isOut = optOutBy(text);
  const mayAnswer = wordOf(text.body) === yes && text.optOutType !== 'START';
  return isOut === false && (isClaimed || mayAnswer) ? undefined : isOut;
}
