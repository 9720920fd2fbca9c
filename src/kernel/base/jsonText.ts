import { nextTurn } from './eventLoop.js';
import { shortened } from './unicode.js';

/** JSON as text: it goes to the client, or into the database, as it stands. */
export class Printed {
  constructor(readonly text: string) {}

  /** Its value, for whoever puts it into other JSON. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** A root field of an answer as text; of a connection its members too. */
export interface PrintedField {
  key: string;
  text: string;
  members?: { key: string; text: string }[];
}

/** The data of an answer, field by field, as text. */
export class PrintedData extends Printed {
  /** So that it may stand where data by name does. */
  readonly [name: string]: unknown;

  constructor(readonly fields: PrintedField[]) {
    super(`{${fields.map(({ key, text }) => `"${key}":${text}`).join(',')}}`);
  }
}

/** About how many characters a value takes as JSON. Stops counting once it is past `most`. */
export function jsonSize(value: unknown, most = Number.POSITIVE_INFINITY): number {
  let size = 0;
  const add = (part: unknown): void => {
    if (typeof part === 'string') size += part.length + 2;
    else if (typeof part !== 'object' || part === null) size += 5;
    else if (Array.isArray(part)) {
      size += part.length + 1;
      for (let i = 0; i < part.length && size <= most; i++) add(part[i]);
    } else {
      for (const name in part) {
        if (size > most) return;
        size += name.length + 4;
        add((part as Record<string, unknown>)[name]);
      }
    }
  };
  add(value);
  return size;
}

/**
 * A value of which about the first `most` characters are left: a text is cut, a list or an object ends early, and "…" stands for what
 * is missing. Lists and objects stay what they are, so that what is hidden by the names of members is still found.
 */
export function excerpt(value: unknown, most: number): unknown {
  let left = most;
  const cut = (part: unknown): unknown => {
    const size = jsonSize(part, left);
    if (typeof part === 'string') {
      const text = shortened(part, left);
      left = Math.max(left - size, 0);
      return text.length < part.length ? `${text}…` : part;
    }
    left -= Math.min(size, left);
    return part;
  };
  const within = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null || jsonSize(part, left) <= left) return cut(part);
    return Array.isArray(part) ? itemsOf(part) : Object.fromEntries(membersOf(part as Record<string, unknown>));
  };
  const itemsOf = (list: readonly unknown[]): unknown[] => {
    const items: unknown[] = [];
    for (const item of list) {
      if (left <= 0) return [...items, '…'];
      left -= 1;
      items.push(within(item));
    }
    return items;
  };
  const membersOf = (object: Record<string, unknown>): [string, unknown][] => {
    const members: [string, unknown][] = [];
    for (const name in object) {
      left -= name.length + 4;
      if (left <= 0) return [...members, ['…', '…']];
      members.push([name, within(object[name])]);
    }
    return members;
  };
  return within(value);
}

/** About how many bytes the data of an answer take; those that are printed already, exactly. */
export const answerSize = (data: unknown, most?: number): number =>
  data instanceof Printed ? Buffer.byteLength(data.text) : jsonSize(data, most);

/** What is printed in one turn, in characters: some milliseconds. */
const inOneTurn = 1_000_000;

/** A value as JSON. A large one is printed in parts, so that other requests are answered meanwhile. */
export async function printJson(value: unknown): Promise<string> {
  let printed = 0;
  const print = async (part: unknown): Promise<string> => {
    const size = jsonSize(part, inOneTurn);
    if (size <= inOneTurn || typeof part !== 'object' || part === null) {
      printed += size;
      if (printed > inOneTurn) {
        printed = 0;
        await nextTurn();
      }
      return JSON.stringify(part) ?? 'null';
    }
    const texts: string[] = [];
    if (Array.isArray(part)) {
      for (const item of part) texts.push(await print(item));
      return `[${texts.join()}]`;
    }
    for (const [name, member] of Object.entries(part)) {
      if (member !== undefined) texts.push(`${JSON.stringify(name)}:${await print(member)}`);
    }
    return `{${texts.join()}}`;
  };
  return print(value);
}
