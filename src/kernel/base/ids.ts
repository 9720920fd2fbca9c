/** The id of nobody and nothing, which comes before every other. */
export const nilId = '00000000-0000-0000-0000-000000000000';

/** Ids as hexadecimal digits, 32 each, one after the other. */
export const hexOfIds = (...ids: readonly string[]): string => ids.join('').replaceAll('-', '');

/** The id that the digits from a place on are, counted in ids. */
export const idInHex = (hex: string, nth: number): string =>
  hex.slice(32 * nth, 32 * (nth + 1)).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
