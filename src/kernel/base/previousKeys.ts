/** Characters that a secret key of the server has at least, the present one and former ones. */
export const shortestKey = 32;

const partsOf = (list: string, comma: RegExp) =>
  list
    .split(comma)
    .map((key) => key.trim())
    .filter(Boolean);

/**
 * The keys of SECRET_KEY_PREVIOUS, separated by commas, the latest first; a comma that belongs to a key is written `\,`. SECRET_KEY may
 * be any text, and is put here as it was when it is replaced. So other readings are keys too, behind the first one: the value as a whole,
 * which may be one key with a comma or with blanks around it, and what a comma behind a backslash would separate. One that never was a key
 * opens nothing. Throws where a key has fewer than `shortestKey` characters.
 */
export function previousKeysOf(list: string): string[] {
  const keys = partsOf(list, /(?<!\\),/).map((key) => key.replaceAll('\\,', ','));
  if (keys.some((key) => key.length < shortestKey))
    throw new Error(
      `Configuration: SECRET_KEY_PREVIOUS: each key has at least ${shortestKey} characters; a comma that belongs to a key is written \\,`,
    );
  const separated = partsOf(list, /,/).filter((key) => key.length >= shortestKey);
  const isList = keys.length === 0 || /,\s*$/.test(list);
  return [...new Set([...keys, ...separated, ...(isList ? [] : [list])])];
}
