import { createHash } from 'node:crypto';
import { PrintedData } from '../kernel/base/jsonText.js';
import { idKey, type ListPlan, nodesKey } from './live.plan.js';

/** A record of a page, as JSON text. */
export interface Row {
  id: string;
  /** A short hash of `text`: equal texts have equal versions. */
  version: string;
  text: string;
}

/** A page that was read: its records, and what else of it was asked for, as JSON text by key. */
export interface ReadList {
  rows: Row[];
  rest: Record<string, string>;
}

/** What a client has of a page: its ids with their versions, in their order. */
export type ClientState = ReadonlyMap<string, string>;

const versionOf = (text: string) => createHash('sha1').update(text).digest('base64url').slice(0, 12);

// What is read begins with it, whoever printed it.
const head = new RegExp(`^\\{\\s*"${idKey}"\\s*:\\s*"([^"]*)"\\s*,?\\s*`);

// A text, or what stands between values.
const token = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;

/** The members of a JSON array or object, each as it is written. */
function membersOf(text: string): string[] {
  const members: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { 0: at, index } of text.matchAll(token)) {
    if (at === '{' || at === '[') depth++;
    else if (at === '}' || at === ']') depth--;
    if (depth === 1 && from === 0) from = index + 1;
    if (!((at === ',' && depth === 1) || depth === 0)) continue;
    members.push(text.slice(from, index).trim());
    from = index + 1;
  }
  return members.filter((member) => member !== '');
}

/** A member of an object as its key and its value. */
function keyed(member: string): [string, string] {
  const [, key, value] = /^"([^"]*)"\s*:\s*([\s\S]*)$/.exec(member)!;
  return [key!, value!];
}

/** The lists of an answer, by their keys. The text is taken apart, not parsed: an amount keeps its digits. */
export function readLists(lists: readonly ListPlan[], data: unknown): Map<string, ReadList> {
  const text = data instanceof PrintedData ? data.text : JSON.stringify(data);
  const found = new Map(membersOf(text).map(keyed));
  return new Map(lists.map(({ key }) => [key, readList(found.get(key)!)]));
}

function readList(text: string): ReadList {
  const { [nodesKey]: nodes = '[]', ...rest } = Object.fromEntries(membersOf(text).map(keyed));
  const rows = membersOf(nodes).map((node) => {
    const [whole, id] = head.exec(node)!;
    const own = `{${node.slice(whole.length)}`;
    return { id: id!, version: versionOf(own), text: own };
  });
  return { rows, rest };
}

export const clientStateOf = ({ rows }: ReadList): ClientState => new Map(rows.map(({ id, version }) => [id, version]));

/** Whether two pages are the same. */
export const isSame = (one: ReadList, other: ReadList): boolean =>
  one.rows.length === other.rows.length &&
  one.rows.every(({ id, version }, i) => id === other.rows[i]!.id && version === other.rows[i]!.version) &&
  JSON.stringify(one.rest) === JSON.stringify(other.rest);

/** What of a page is another than what somebody has, as the JSON text of the list's answer. Without `had` it is the whole page. */
export function listText({ members }: ListPlan, { rows, rest }: ReadList, had: ClientState | undefined, type: string): string {
  const kept = had && keptIn(rows, had);
  const now = new Set(rows.map(({ id }) => id));
  const removed = had ? [...had.keys()].filter((id) => !now.has(id)) : [];
  const printed = (shape: readonly { key: string; name: string }[]) =>
    rows.flatMap(({ id, version, text }, index) => {
      const isKept = kept?.has(id);
      const before = had?.get(id);
      if (isKept && before === version) return [];
      const change = before === undefined ? 'added' : before === version ? 'moved' : 'changed';
      const of: Record<string, string> = {
        recordId: `"${id}"`,
        version: `"${version}"`,
        index: String(index),
        change: `"${change}"`,
        node: change === 'moved' ? 'null' : text,
        __typename: `"${type.replace(/LivePage$/, 'LiveEdge')}"`,
      };
      return [`{${shape.map(({ key, name }) => `"${key}":${of[name]}`).join()}}`];
    });
  const value = ({ key, name, rows: shape }: ListPlan['members'][number]) => {
    if (shape) return `[${printed(shape).join()}]`;
    if (name === 'isWhole') return String(had === undefined);
    if (name === 'removed') return JSON.stringify(removed);
    return name === '__typename' ? `"${type}"` : rest[key]!;
  };
  return `{${members.map((member) => `"${member.key}":${value(member)}`).join()}}`;
}

/** The records that stay where they are: the longest run of them that stands in the same order as before. */
function keptIn(rows: readonly Row[], had: ClientState): Set<string> {
  const places = new Map([...had.keys()].map((id, i) => [id, i]));
  const known = rows.filter(({ id }) => places.has(id));
  // The last of the best run of each length, and what stands before each.
  const ends: number[] = [];
  const before: number[] = [];
  for (const [i, { id }] of known.entries()) {
    const place = places.get(id)!;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places.get(known[ends[middle]!]!.id)! < place) low = middle + 1;
      else high = middle;
    }
    before[i] = low > 0 ? ends[low - 1]! : -1;
    ends[low] = i;
  }
  const kept = new Set<string>();
  for (let i = ends.at(-1) ?? -1; i >= 0; i = before[i]!) kept.add(known[i]!.id);
  return kept;
}
