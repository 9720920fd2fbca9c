/**
 * What may stand apart from what it belongs to, as in files made on a Mac: marks, and of a Korean syllable its vowel and its last
 * consonant, which are letters.
 */
const apart = /[\p{M}\u1160-\u11FF\uD7B0-\uD7FF]/u;

/**
 * More marks in a row than any language has (Stream-Safe Text Format, UAX #15). To put them in their order takes time by the square of
 * their number: 400,000 of them took 85 s.
 */
const pile = /(?<!\p{M})\p{M}{31}/u;
/** The same of what NFKD makes marks of: the narrow signs of voiced sounds, which are letters until then, become marks, too. */
const pileOfNfkd = /(?<![\p{M}\uFF9E\uFF9F])[\p{M}\uFF9E\uFF9F]{31}/u;

/** A text in a form of Unicode; one that has marks in piles is left as it is. */
export const inForm = (text: string, form: 'NFC' | 'NFKD'): string =>
  (form === 'NFKD' ? pileOfNfkd : pile).test(text) ? text : text.normalize(form);

/**
 * A text whose marks are one sign with their letters, and whose Korean letters are one with their syllable, where there is such a sign
 * (NFC), so that what looks the same is found and compared as the same. Where nothing stands apart, it is as it was given.
 */
export const normalized = (text: string): string => (apart.test(text) ? inForm(text, 'NFC') : text);

/** The forms in which a text may be kept: as all are now, and as it was given, since older ones and those of vendors are in any form. */
export const formsOf = (text: string): string[] => [...new Set([normalized(text), text])];

/** The last sigma of a text, where no letter follows. */
const lastSigma = /[Σσς](?=\P{L}*$)/u;

/**
 * The texts that a part of a text may be in lower case: a Greek sigma has another form at the end of a word, and whether the word goes on
 * behind the part nobody knows.
 */
export const spellingsOf = (part: string): string[] =>
  lastSigma.test(part) ? ['σ', 'ς'].map((sigma) => part.replace(lastSigma, sigma)) : [part];

/** Whether a text has more than `max` code points, each of which is one or two characters. */
export const isLonger = (text: string, max: number) => text.length > 2 * max || (text.length > max && [...text].length > max);

/** A text from outside as PostgreSQL keeps it: without NUL and lone surrogates, cut to `max` code points. */
export const storable = (text: string, max: number): string => shortened(text.replace(/\0|\p{Cs}/gu, ''), max);

/** Words from outside, kept as those are that somebody writes here (NFC). Not for ids and addresses, which are their bytes. */
export const storableWords = (text: string, max: number): string => shortened(normalized(storable(text, max)), max);

/** The first characters of a text, as code points: half of one could not be kept. */
export const shortened = (text: string, max: number): string =>
  isLonger(text, max) ? [...text.slice(0, 2 * max)].slice(0, max).join('') : text;
