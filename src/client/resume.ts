import type { Client, ClientOptions, Sink, SubscribePayload } from 'graphql-ws';
import { errorOf, type Members } from './errors.js';
import { applyLive, haveOf, type LiveChanges, type LiveRow } from './live.js';

type List = LiveChanges<unknown> & { __typename?: string; rows: readonly { __typename?: string }[] };

/** Whether the operation that is run is a subscription: the word stands outside of all braces, before its name where it has one. */
function isSubscription(heads: string, operationName: string | null | undefined): boolean {
  for (let before = ''; before !== heads; ) [before, heads] = [heads, heads.replace(/\{[^{}]*\}/g, ';')];
  return new RegExp(`(^|;)\\s*subscription\\s*${operationName ?? ''}\\b`).test(heads);
}

const told = ['isWhole', 'removed', 'rows'];
const needed = ['recordId', 'index', 'change', 'version'];

/**
 * The whole lists of a live query after a message, in the shape of its first one; in words what it lacks without which they would not
 * be whole, or a cut would lose something.
 */
function whole(live: Members, lists: Record<string, LiveRow<unknown>[]>): Members | string {
  const shown: Record<string, unknown> = { ...live };
  for (const [name, value] of Object.entries(live)) {
    const list: List = Object(value);
    if (!told.some((one) => one in list)) continue;
    const isFull = told.every((one) => one in list) && list.rows.every((row) => needed.every((one) => one in row));
    if (!isFull) return `${name} must select ${told.join(' ')} { ${needed.join(' ')} node { … } }, by these names`;
    if (!list.isWhole && !lists[name]) return `${name} ${noStart}`;
    lists[name] = applyLive(lists[name] ?? [], list);
    const type = list.rows[0]?.__typename ?? list.__typename?.replace(/LivePage$/, 'LiveEdge');
    const edge = { change: 'added', ...(type && { __typename: type }) };
    const rows = lists[name].map(({ id, ...row }, index) => ({ ...edge, recordId: id, index, ...row }));
    shown[name] = { ...list, isWhole: true, removed: [], rows };
  }
  return shown;
}

/** The arguments of the first field whose name is of the pattern; the next sign where it has none; undefined where no field is. */
const argumentsOf = (pattern: string, text: string) =>
  new RegExp(`(?<!\\b(?:subscription|query|mutation)\\s+)\\b${pattern}\\s*(\\([^)]*\\)|[{@])`).exec(text)?.[1];

const root = '(?:live|(?:e|\\w+E)vents)';
const nextDefinition = '\\}\\s*(?:query|mutation|subscription|fragment)\\b';

const takesAfter = (given: string) => /\bafter\s*:\s*\$after\b/.test(given);

/** Whether `ready` is true among arguments, by itself or by the value of a variable. */
const isReady = (args: string, known: Members) => /\bready\s*:\s*true\b/.test(args.replace(/\$(\w+)/g, (_, name) => `${known[name]}`));

/**
 * Whether a subscription with these arguments and variables can go on: after the last event, or, before the first one, after where
 * `ready` said. `latest` is no place: after a cut it would be another one.
 */
const goesOn = (given: string, known: Members) => takesAfter(given) && ((known.after ?? 'latest') !== 'latest' || isReady(given, known));

/** `textOf`: the text of a document that goes by its hash. By it the client knows what to do after a cut; it is not sent. */
export type ResumingOptions = { textOf?: (payload: SubscribePayload) => string | undefined };

const noText = 'An operation that goes by its hash needs its text for going on after a cut: resuming(client, { textOf })';
const noPlace = 'A subscription to events needs ready: true and after: $after, by this name: else events are lost in a cut';
const noStart = 'began with a difference: leave out after at the start; it is filled in when the connection comes back';
const noId = 'must select id, by that name: it says where to go on after a cut';

/**
 * A client of graphql-ws whose subscriptions go on where they were when the connection comes back, and lose nothing. Declare
 * `$after` and pass it on: `subscription ($after: ID) { dealEvents(after: $after, ready: true) { id kind … } }`, whose first event is
 * of the kind `ready`, and for live queries
 * `subscription ($after: [LiveHave!]) {
 *   live(after: $after) { deals { isWhole removed rows { recordId index change version node { … } } } } }`:
 * each result of these is the whole page, the changes put in. What was refused because too much was asked for, as after many cuts, goes
 * on when there is room. A document that would lose something is refused. Queries and mutations pass as they are. `iterate` gives the
 * same one by one. What goes by its hash needs `textOf`, or it is refused.
 */
export function resuming(client: Client, { textOf = ({ query }) => query }: ResumingOptions = {}): Client {
  const subscribe: Client['subscribe'] = (payload, sink) => {
    // Neither its strings nor its comments say what it is.
    const text = (payload.query || textOf(payload) || '').replace(/"""[\s\S]*?"""|"(?:\\.|[^"\\])*"|#.*/g, '');
    if (text && !isSubscription(text, payload.operationName)) return client.subscribe(payload, sink);
    const [run = ''] = new RegExp(`\\bsubscription\\s*${payload.operationName ?? ''}\\b.*?(?=${nextDefinition}|$)`, 's').exec(text) ?? [];
    // Its root field may stand in a fragment.
    const part = argumentsOf(root, run) ? run : text;
    const live = argumentsOf('live', part);
    const given = live ?? argumentsOf(root, part);
    // graphql-ws sends this very object again after a cut.
    const own = { ...payload, variables: { ...payload.variables } as Members };
    const lists: Record<string, LiveRow<unknown>[]> = {};
    let [stop, isOver] = [() => {}, false];
    const next: typeof sink.next = (result) => {
      const [[name, data] = ['', null]] = Object.entries((result.data ?? {}) as Record<string, Members | null>);
      if (isOver || !data || !given) return isOver || sink.next(result);
      const shown = live ? whole(data, lists) : typeof data.id === 'string' ? data : `${name} ${noId}`;
      if (typeof shown === 'string') return error(new Error(shown));
      // A live query may have a variable of that name for the page of a list. It comes whole after a cut.
      Object.assign(own.variables, takesAfter(given) && { after: live ? haveOf(lists) : data.id });
      sink.next({ ...result, data: { ...result.data, [name]: shown } as typeof result.data });
    };
    const start = () => {
      // graphql-ws completes what is stopped, and may have read more results by then: nothing of that is told after an error.
      [stop, isOver] = [client.subscribe(own, { next, error, complete: () => isOver || sink.complete() }), false];
    };
    const error = (fault: unknown, told = errorOf(fault)) => {
      isOver = true;
      stop();
      if (told.code !== 'rate_limited' || !(live || own.variables.after)) return sink.error(fault);
      // At another moment each: all of them were refused at once.
      const timer = setTimeout(start, 1000 * told.retryAfter * (1 + Math.random() / 2));
      stop = () => clearTimeout(timer);
    };
    const defaults = [...run.matchAll(/\$(\w+)\s*:\s*\w+!?\s*=\s*(\w+)/g)].map(([, name, value]) => [name, value]);
    const lack = text ? given && !live && !goesOn(given, { ...Object.fromEntries(defaults), ...own.variables }) && noPlace : noText;
    if (lack) sink.error(new Error(lack));
    else start();
    return () => stop();
  };
  return { ...client, subscribe, iterate: (payload) => iterated((sink) => subscribe(payload, sink)) };
}

/** The results of a subscription one by one: those that nobody has asked for yet wait, and what it failed by comes after them. */
function iterated<T>(subscribe: (sink: Sink<T>) => () => void): AsyncIterableIterator<T> {
  let [isOpen, stop] = [true, () => {}];
  const start = (to: ReadableStreamDefaultController<() => T | Promise<T>>) => {
    const end = (...last: (() => Promise<T>)[]) => {
      // What the reader has left has no size.
      if (!isOpen || !to.desiredSize) return;
      isOpen = false;
      for (const one of last) to.enqueue(one);
      to.close();
    };
    const next = (result: T) => void (isOpen && to.desiredSize && to.enqueue(() => result));
    stop = subscribe({ next, error: (error) => end(() => Promise.reject(error)), complete: () => end() });
  };
  const results = new ReadableStream({ start, cancel: () => stop() }, { highWaterMark: Number.POSITIVE_INFINITY }).getReader();
  const next = () => results.read().then(async ({ done, value }) => ({ done, value: await value?.() }));
  const leave = () => results.cancel().then(() => ({ done: true, value: undefined }));
  const iterator = { next, return: leave, throw: leave, [Symbol.asyncIterator]: () => iterator };
  return iterator as AsyncIterableIterator<T>;
}

/** Ends a line that is dead, at once: `onclose` would come after a closing handshake, which browsers wait for a minute. */
function abandon(socket: WebSocket): void {
  const { onclose, readyState } = socket;
  Object.assign(socket, { onclose: null, onmessage: null, onerror() {} }).close(4408, 'No answer');
  if (readyState < socket.CLOSED) onclose?.call(socket, { code: 4408, reason: 'No answer' } as never);
}

/** Calls our own listener, and then the one that was given for the same event. */
const both =
  <A extends unknown[]>(own: (...args: A) => unknown, given: ((...args: A) => void) | undefined) =>
  (...args: A) => [own(...args), given?.(...args)];

/**
 * Options of graphql-ws for a socket that comes back as long as it takes, soon at first and never later than after five seconds, at
 * another moment than other clients, and that ends a line which is dead: it sends a ping every `keepAlive` milliseconds, and waits half
 * of that for the pong, or for the next message before it. A line that is not open after `keepAlive` milliseconds is dead, too.
 */
export function steady({ on, keepAlive = 10_000, webSocketImpl: Line = globalThis.WebSocket, ...options }: ClientOptions): ClientOptions {
  let [socket, silence]: [WebSocket?, ReturnType<typeof setTimeout>?] = [];
  // Where `keepAlive` is 0 or has no end, nobody is to watch.
  const wait = (ms: number, line = socket!) => {
    clearTimeout(silence);
    [socket, silence] = [line, ms && Number.isFinite(ms) ? setTimeout(abandon, ms, line) : undefined];
    return line;
  };
  const watched = Line && new Proxy(Line as typeof WebSocket, { construct: (Impl, [url, names]) => wait(keepAlive, new Impl(url, names)) });
  return {
    ...{ retryAttempts: Number.POSITIVE_INFINITY, shouldRetry: () => true, keepAlive, webSocketImpl: watched },
    // Half of it is left to chance: a server that comes back is not met by all at once.
    retryWait: (attempt) => new Promise((resume) => setTimeout(resume, Math.min(250 * 2 ** attempt, 5000) * (0.5 + Math.random() / 2))),
    ...options,
    on: {
      ...on,
      opened: both((opened) => wait(0, opened as WebSocket), on?.opened),
      closed: both((_event) => wait(0), on?.closed),
      // What comes while a pong is waited for stands before it on the line: graphql-ws asks for none before that one has come.
      message: both((_message) => wait(silence ? keepAlive / 2 : 0), on?.message),
      ping: both((isReceived) => isReceived || wait(keepAlive / 2), on?.ping),
      pong: both((isReceived) => isReceived && wait(0), on?.pong),
    },
  };
}
