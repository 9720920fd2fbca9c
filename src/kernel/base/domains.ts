/** A mark that stands behind no letter. Behind one it is part of it, as a vowel of Hindi is. */
const strayMark = /(?<![\p{L}\p{M}])\p{M}/u;

const labels = /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}\p{N}-]{2,63}$/u;

/** Whether a text is the name of a domain, in letters of any script or in Punycode, without the dot of the root. */
export const isDomain = (name: string): boolean => name.length <= 253 && labels.test(name) && !strayMark.test(name);
