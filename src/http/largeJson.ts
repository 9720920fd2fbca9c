import { badRequest, invalidField } from '../kernel/base/errors.js';
import { nextTurn } from '../kernel/base/eventLoop.js';
import { isPoison, poison } from '../kernel/base/objects.js';

/** A text of so many characters is parsed as a whole: some milliseconds at worst. */
export const inOneTurn = 64 * 1024;
/** A body nests no deeper than this: what reads it calls itself for every level, and what takes it apart looks at all that is inside. */
export const maxNesting = 64;
/** Smaller parts are parsed one after the other up to so many characters without a pause: names that all differ take long. */
const partsInOneTurn = 16 * 1024;
/** Characters that are only looked at without a pause. */
const scannedInOneTurn = 128 * 1024;
/** The most items of a list and members of an object that are longer than that. Nothing that is asked for anywhere has as many. */
const mostItems = 20_000;

/** `at` is where the text stands in the body, in how many lists and objects `level`. */
type Parse = (text: string, at: string, level: number) => unknown;

/** A stretch of a text. */
interface Stretch {
  from: number;
  to: number;
}

/** Where a value stands in the body. */
interface Place {
  at: string;
  level: number;
}

const codeOf = (sign: string) => sign.charCodeAt(0);
const [quote, backslash, comma, colon] = [codeOf('"'), codeOf('\\'), codeOf(','), codeOf(':')];
const [openBracket, closeBracket, openBrace, closeBrace] = [codeOf('['), codeOf(']'), codeOf('{'), codeOf('}')];
const [space, tab, newline, carriageReturn, letterU] = [codeOf(' '), codeOf('\t'), codeOf('\n'), codeOf('\r'), codeOf('u')];

// Comparisons, not sets: these are asked of each of ten million characters.
const isOpener = (sign: number) => sign === openBrace || sign === openBracket;
const isCloser = (sign: number) => sign === closeBrace || sign === closeBracket;
const isBlank = (sign: number) => sign === space || sign === newline || sign === carriageReturn || sign === tab;

const broken = () => badRequest('The body is not valid JSON');
export const poisoned = () => badRequest(`The body has ${poison}`);
export const tooDeep = () => badRequest(`The body nests deeper than ${maxNesting} levels`);

/**
 * Parses JSON as `parse` does, which throws where it is none, but a long text in parts, so that other requests are answered
 * meanwhile. Throws 400 naming a list or an object that has far too many items.
 */
export async function parseLarge(text: string, parse: Parse): Promise<unknown> {
  let parsed = 0;
  const leaf = async ({ from, to }: Stretch, { at, level }: Place): Promise<unknown> => {
    const isText = text.charCodeAt(from) === quote;
    if (isText && to - from > inOneTurn) return longText(text, { from, to });
    const part = text.slice(from, to);
    const made = isText ? plainText(part) : parse(part, at, level);
    parsed += to - from;
    if (parsed < partsInOneTurn) return made;
    parsed = 0;
    await nextTurn();
    return made;
  };
  const value = async (whole: Stretch, { at, level }: Place): Promise<unknown> => {
    const { from, to } = trimmed(text, whole);
    const first = text.charCodeAt(from);
    if (to - from <= inOneTurn || !isOpener(first)) return leaf({ from, to }, { at, level });
    if (level === maxNesting) throw tooDeep();
    const parts = await partsOf(text, { from, to }, at);
    const inside = (name: string | number): Place => ({ at: at ? `${at}.${name}` : String(name), level: level + 1 });
    if (first === openBracket) {
      const items: unknown[] = [];
      const names = new Names(at);
      for (const [nth, part] of parts.entries()) items.push(names.met(await value(part, inside(nth))));
      return items;
    }
    const members: Record<string, unknown> = {};
    for (const part of parts) {
      const { key, rest } = memberOf(text, part);
      const member = await value(rest, inside(key));
      if (isPoison(key, member)) throw poisoned();
      members[key] = member;
    }
    return members;
  };
  // The text itself is as much work as some of its parts.
  await nextTurn();
  return value({ from: text.startsWith('\ufeff') ? 1 : 0, to: text.length }, { at: '', level: 0 });
}

/** Records of one kind have the same few names; a million that all differ take the parser and the collector of garbage seconds. */
class Names {
  readonly #met = new Set<string>();

  constructor(private readonly at: string) {}

  /** Notes the names of an object's members and answers the object unchanged. Throws 400 for too many different names. */
  met(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    for (const name of Object.keys(value)) this.#met.add(name);
    if (this.#met.size > mostItems) throw invalidField(this.at || 'body', 'too_many', `must have at most ${mostItems} different names`);
    return value;
  }
}

function plainText(part: string): string {
  try {
    return JSON.parse(part) as string;
  } catch {
    throw broken();
  }
}

/** A long text, in pieces. */
async function longText(text: string, { from, to }: Stretch): Promise<string> {
  if (text.charCodeAt(to - 1) !== quote) throw broken();
  const pieces: string[] = [];
  for (let [begin, end] = [from + 1, from + 1]; begin < to - 1; begin = end) {
    end = begin + inOneTurn < to - 1 ? betweenEscapes(text, { from: begin, to: begin + inOneTurn }) : to - 1;
    pieces.push(plainText(`"${text.slice(begin, end)}"`));
    await nextTurn();
  }
  return pieces.join('');
}

/** The end of a piece, or a little before it, where that would cut an escape in two. */
function betweenEscapes(text: string, { from, to }: Stretch): number {
  const isEscaped = (at: number) => {
    let slash = at - 1;
    while (slash >= from && text.charCodeAt(slash) === backslash) slash--;
    return (at - slash) % 2 === 0;
  };
  if (isEscaped(to)) return to - 1;
  for (let at = to - 1; at > to - 5; at--) {
    if (text.charCodeAt(at) === letterU && isEscaped(at)) return at - 1;
  }
  return to;
}

function trimmed(text: string, { from, to }: Stretch): Stretch {
  let [begin, end] = [from, to];
  while (begin < end && isBlank(text.charCodeAt(begin))) begin++;
  while (end > begin && isBlank(text.charCodeAt(end - 1))) end--;
  return { from: begin, to: end };
}

/** Reads a list or an object from its first sign on. */
class SignReader {
  /** Whether what comes next stands between quotation marks. */
  isText = false;
  #isEscaped = false;
  #depth = 0;

  /** Whether the next sign separates items. Throws 400 for one that ends more than there is. */
  separates(sign: number): boolean {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (sign === quote) this.isText = !this.isText;
    else if (this.isText) this.#isEscaped = sign === backslash;
    else if (isOpener(sign)) this.#depth++;
    else if (isCloser(sign)) this.#leave();
    else return sign === comma && this.#depth === 0;
    return false;
  }

  #leave(): void {
    if (--this.#depth < 0) throw broken();
  }
}

/** What stands between the commas of a list or an object. */
async function partsOf(text: string, { from, to }: Stretch, at: string): Promise<Stretch[]> {
  if (text.charCodeAt(to - 1) !== (text.charCodeAt(from) === openBrace ? closeBrace : closeBracket)) throw broken();
  const parts: Stretch[] = [];
  const reader = new SignReader();
  let begin = from + 1;
  let pause = begin + scannedInOneTurn;
  for (let i = begin; i < to - 1; i++) {
    if (i >= pause) {
      pause += scannedInOneTurn;
      await nextTurn();
    }
    if (!reader.separates(text.charCodeAt(i))) continue;
    if (parts.length === mostItems) throw invalidField(at || 'body', 'too_many', `must have at most ${mostItems} items`);
    parts.push({ from: begin, to: i });
    begin = i + 1;
  }
  if (reader.isText) throw broken();
  const last = { from: begin, to: to - 1 };
  const isEmpty = parts.length === 0 && trimmed(text, last).from === last.to;
  return isEmpty ? [] : [...parts, last];
}

/** Where the name that begins with a quotation mark ends. */
function endOfName(text: string, from: number, to: number): number {
  for (let i = from + 1; i < Math.min(to, from + inOneTurn); i++) {
    const sign = text.charCodeAt(i);
    if (sign === backslash) i++;
    else if (sign === quote) return i + 1;
  }
  throw to > from + inOneTurn ? badRequest(`The body has a name of more than ${inOneTurn} characters`) : broken();
}

function memberOf(text: string, part: Stretch): { key: string; rest: Stretch } {
  const { from, to } = trimmed(text, part);
  if (text.charCodeAt(from) !== quote) throw broken();
  const end = endOfName(text, from, to);
  const { from: sign } = trimmed(text, { from: end, to });
  if (text.charCodeAt(sign) !== colon) throw broken();
  return { key: plainText(text.slice(from, end)), rest: { from: sign + 1, to } };
}
