/** What may stand apart from the letter that it belongs to, as in files made on a Mac. */
const mark = /\p{M}/u;

/**
 * A text whose marks are one sign with their letters where there is such a sign (NFC), so that what looks the same is found and compared as
 * the same. Where no mark stands apart, it is as it was given.
 */
export const normalized = (text: string): string => (mark.test(text) ? text.normalize('NFC') : text);
