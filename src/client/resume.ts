import type { Client, ClientOptions } from 'graphql-ws';
import { applyLive, haveOf, type LiveChanges, type LiveEdge, type LiveRow } from './live.js';

type Lists = Record<string, LiveRow<unknown>[]>;
type Data = Record<string, unknown>;

const isLive = (value: unknown): value is LiveChanges<unknown> =>
  typeof value === 'object' && value !== null && 'isWhole' in value && 'rows' in value && 'removed' in value;

/** The whole lists of a live query after a message, in the shape of its first one. */
function whole(live: Data, lists: Lists): Data {
  const entries = Object.entries(live).map(([name, list]) => {
    if (!isLive(list)) return [name, list];
    lists[name] = applyLive(lists[name] ?? [], list);
    const type =
      (list.rows[0] as { __typename?: string } | undefined)?.__typename ??
      (list as { __typename?: string }).__typename?.replace(/LivePage$/, 'LiveEdge');
    const rows = lists[name].map(({ id, version, node }, index): LiveEdge<unknown> => {
      const edge: LiveEdge<unknown> = { recordId: id, index, change: 'added', version, node };
      return type ? Object.assign(edge, { __typename: type }) : edge;
    });
    return [name, { ...list, isWhole: true, removed: [], rows }];
  });
  return Object.fromEntries(entries);
}

const isLiveDocument = (query: string) => /\blive\s*[({]/.test(query);

/** What a document lacks without which a cut would lose something, before anything came. */
function lackOf({ query, variables }: { query: string; variables?: Data | null }): string | undefined {
  const goesOn = /\bafter\s*:\s*\$after\b/.test(query);
  if (!goesOn || isLiveDocument(query) || variables?.after || /\bready\s*:/.test(query)) return undefined;
  return 'A subscription that goes on with $after needs ready: true: without it, what happens before the first event is lost with a cut';
}

const needed = ['recordId', 'index', 'change', 'version'];

/** The same of a live query, by its result. */
function lackOfLive(live: Data): string | undefined {
  const lists = Object.entries(live).filter(([, list]) => Array.isArray((list as Data | null)?.rows)) as [
    string,
    { rows: Data[] } & Data,
  ][];
  const short = lists.find(([, list]) => !isLive(list) || list.rows.some((row) => needed.some((name) => !(name in row))));
  return short && `${short[0]} must select isWhole removed rows { ${needed.join(' ')} node { … } }`;
}

/**
 * A client of graphql-ws whose subscriptions go on where they were when the connection comes back, and lose nothing. Declare
 * `$after` and pass it on: `subscription ($after: ID) { dealEvents(after: $after, ready: true) { id kind … } }`, whose first event is
 * of the kind `ready`, and for live queries
 * `subscription ($after: [LiveHave!]) { live(after: $after) { deals { isWhole removed rows { recordId index change version node { … } } } } }`:
 * each result of these is the whole page, the changes put in. A document that would lose something is refused.
 */
export function resuming(client: Client): Client {
  const subscribe: Client['subscribe'] = (payload, sink) => {
    // graphql-ws sends this very object again after a cut.
    const own = { ...payload, variables: { ...payload.variables } as Data };
    const lists: Lists = {};
    let stop = () => {};
    const refuse = (lack: string) => {
      stop();
      sink.error(new Error(lack));
    };
    const next: typeof sink.next = (result) => {
      const [[name, value] = ['', undefined]] = Object.entries((result.data ?? {}) as Data);
      const data = value as Data | null | undefined;
      if (typeof data?.id === 'string') own.variables.after = data.id;
      const lack = data && isLiveDocument(payload.query) && lackOfLive(data);
      if (lack) return refuse(lack);
      if (!data || !Object.values(data).some(isLive)) return sink.next(result);
      const shown = whole(data, lists);
      own.variables.after = haveOf(lists);
      sink.next({ ...result, data: { [name]: shown } as typeof result.data });
    };
    const lack = lackOf(payload);
    if (lack) refuse(lack);
    else stop = client.subscribe(own, { next, error: (error) => sink.error(error), complete: () => sink.complete() });
    return () => stop();
  };
  return { ...client, subscribe };
}

/**
 * Options of graphql-ws for a socket that comes back as long as it takes, soon at first and never later than after five seconds, and
 * that ends a line on which no answer comes any more: it is asked for one every `keepAlive` milliseconds, and has half of that.
 */
export function steady({ on = {}, keepAlive = 10_000, ...options }: ClientOptions): ClientOptions {
  let socket: { close(code: number, reason: string): void } | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  return {
    ...{ retryAttempts: Number.POSITIVE_INFINITY, shouldRetry: () => true, keepAlive },
    retryWait: (attempt) => new Promise((resume) => setTimeout(resume, Math.min(250 * 2 ** attempt, 5000))),
    ...options,
    on: {
      ...on,
      opened(opened) {
        socket = opened as typeof socket;
        on.opened?.(opened);
      },
      ping(isReceived, payload) {
        if (!isReceived) silence = setTimeout(() => socket?.close(4408, 'No answer'), keepAlive / 2);
        on.ping?.(isReceived, payload);
      },
      pong(isReceived, payload) {
        if (isReceived) clearTimeout(silence);
        on.pong?.(isReceived, payload);
      },
      closed(event) {
        clearTimeout(silence);
        on.closed?.(event);
      },
    },
  };
}
