import { Readable } from 'node:stream';
import { unavailable } from '../kernel/base/errors.js';
import { Printed } from '../kernel/base/jsonText.js';
import type { Context } from '../kernel/context/context.js';
import { TooLarge } from '../kernel/database/bytes.js';
import { pageSize } from '../kernel/model/connection.js';
import type { Endpoint } from '../kernel/module/routes.js';
import { type Connection, type Envelope, envelope, jsonOf, nextCursor } from './envelope.js';
import { totalVariable } from './query.js';

/** What one statement prints of a page at most, in bytes; a record alone may have more. */
const mostBytes = 4 * 1024 * 1024;

/** The arguments of a list. */
interface Asked {
  page?: number;
  perPage?: number;
  after?: string;
}

/** Runs the document of a list with these variables. */
export type Read = (variables: Asked) => Promise<Connection>;

/** How a page is read. */
export interface Reading {
  ctx: Context;
  asked: Asked;
  read: Read;
  /** Called before each portion after the first: throws where nothing more is to be read for the caller. */
  checkRights: () => Promise<void>;
}

/**
 * A page in the envelope of its endpoint. One whose records are large is read by several statements, each of which goes on after the last
 * record of the one before, and is sent as the client takes it: what it takes of memory does not grow with the page. A fault after the
 * first statement cuts the connection before the end of the body, and so do the end of the caller's rights and an end that is not the one
 * which the headers told.
 */
export async function answerPage(endpoint: Endpoint, reading: Reading): Promise<Envelope> {
  const { asked } = reading;
  const portions = new Portions(reading, Object.keys(endpoint.extras ?? {}));
  const { nodes, ...page } = await portions.first();
  const first = { ...page, nodes };
  if (portions.isWhole) return envelope(endpoint, first, asked);
  const shell = (end: Pick<Connection, 'pageInfo'>) =>
    envelope(endpoint, { ...page, ...endOf(endpoint, end), nodes: new Printed(empty) }, asked);
  const told = endpoint.pagingHeaders && (await portions.last(first));
  // A record that came or went meanwhile: the page after the cursor that is told would leave one out, or have one twice.
  const check = (end: Connection) => {
    if (told && nextCursor(end) !== nextCursor(told)) throw unavailable('The list changed while it was read');
  };
  return { ...shell(told || page), body: Readable.from(textOf(portions, first, (end) => jsonOf(shell(end).body), check)) };
}

const empty = '[]';

/** What tells where the page ends: of its last portion. The first one alone has the totals and the extras. */
const endOf = ({ beside = [] }: Endpoint, { pageInfo, ...last }: Pick<Connection, 'pageInfo'>) => ({
  ...Object.fromEntries(beside.map((name) => [name, (last as Record<string, unknown>)[name]])),
  pageInfo,
});

/** The text of a page: that of one without records, and its records in between. `check` throws where it must not end with a portion. */
async function* textOf(
  portions: Portions,
  first: Connection,
  shell: (end: Connection) => string,
  check: (end: Connection) => void,
): AsyncGenerator<string> {
  const begin = shell(first);
  yield begin.slice(0, begin.indexOf(empty) + 1);
  yield recordsOf(first).slice(1, -1);
  let last = first;
  for await (const next of portions.rest(first)) {
    const records = recordsOf(next).slice(1, -1);
    // Those that were still to come may be gone by now.
    if (records !== '') yield `,${records}`;
    last = next;
  }
  check(last);
  const end = shell(last);
  yield end.slice(end.indexOf(empty) + 1);
}

const recordsOf = ({ nodes }: Connection) => (nodes instanceof Printed ? nodes.text : JSON.stringify(nodes));

class Portions {
  /** How many records are asked for at a time, and how many are still to come. */
  #size: number;
  #left: number;

  constructor(
    private readonly reading: Reading,
    /** What is asked for beside the records: once, with the first of them. */
    private readonly extras: readonly string[],
  ) {
    this.#size = this.#left = pageSize(reading.asked);
  }

  /** Whether the first portion was all of it. */
  get isWhole(): boolean {
    return this.#left === 0;
  }

  first(): Promise<Connection> {
    const { asked } = this.reading;
    const { page = 1 } = asked;
    const whole = this.#left;
    return this.#fitting((size) => {
      if (size === whole) return asked;
      if (page === 1) return { ...asked, perPage: size };
      // A page of another size that begins with the same record.
      while (whole % this.#size !== 0) this.#size--;
      return { ...asked, page: ((page - 1) * whole) / this.#size + 1, perPage: this.#size };
    });
  }

  /** The portions after the first one. */
  async *rest(first: Connection): AsyncGenerator<Connection> {
    for (let next = await this.#after(first); next; next = await this.#after(next)) yield next;
  }

  /**
   * The last portion, where the first one is in hand: headers that tell where the page ends leave before its records, so the page is read
   * twice.
   */
  async last(first: Connection): Promise<Connection> {
    let end = first;
    for await (const next of this.#copy().rest(first)) end = next;
    return end;
  }

  /** The same portions from here on. */
  #copy(): Portions {
    const copy = new Portions(this.reading, this.extras);
    [copy.#size, copy.#left] = [this.#size, this.#left];
    return copy;
  }

  /** What comes after a portion; undefined after the last one. */
  async #after({ pageInfo }: Connection): Promise<Connection | undefined> {
    if (this.#left === 0 || !pageInfo.hasNextPage || pageInfo.endCursor === null) return undefined;
    await this.reading.checkRights();
    const left = [totalVariable, ...this.extras].map((name) => [name, false]);
    const rest = { ...this.reading.asked, page: undefined, after: pageInfo.endCursor, ...Object.fromEntries(left) };
    return this.#fitting((size) => ({ ...rest, perPage: size }));
  }

  /** As many records as one statement may print, at least one. */
  async #fitting(variablesFor: (size: number) => Asked): Promise<Connection> {
    const { ctx, read } = this.reading;
    for (;;) {
      const variables = variablesFor(this.#size);
      ctx.request.mostBytes = this.#size > 1 ? mostBytes : undefined;
      try {
        const page = await read(variables);
        this.#left -= this.#size;
        if (this.#left > 0) this.#size = Math.min(this.#left, fitting(this.#size, recordsOf(page).length));
        return page;
      } catch (error) {
        if (!(error instanceof TooLarge)) throw error;
        this.#size = Math.min(this.#size - 1, fitting(this.#size, error.bytes));
      }
    }
  }
}

/** How many records fit into a portion where so many of them have so many bytes. */
const fitting = (records: number, bytes: number): number => Math.max(1, Math.floor((records * mostBytes) / bytes));
