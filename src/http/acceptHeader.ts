/** Something that a client takes, and how much it wants it: from 0 (not at all) to 1. */
export interface Accepted {
  name: string;
  q: number;
}

/** The entries of a header like Accept or Accept-Encoding in their order, in lower case; at most so many are looked at. */
export const acceptedIn = (header: string, most?: number): Accepted[] =>
  header
    .toLowerCase()
    .split(',', most)
    .map((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return { name, q: q === undefined ? 1 : Number(q) || 0 };
    });
