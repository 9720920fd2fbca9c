import { type Client, type ClientOptions, createClient, type SubscribePayload } from 'graphql-ws';
import { errorOf } from '../client/errors.js';
import { resuming, steady } from '../client/resume.js';

/** How many operations run in a socket: 50 may, of which a few may still be ending while others begin. */
const room = 45;
/** The close code of a socket in which nothing runs any more: graphql-ws closes it. */
const emptied = 1000;

interface Socket {
  client: Client;
  running: number;
  isUp: boolean;
}

/** Whether changes arrive now: a store for `useSyncExternalStore`. */
export interface Line {
  isUp(): boolean;
  /** Calls the listener after each change of the answer, never within a call of `Sockets`. Returns the way out. */
  subscribe(listener: () => void): () => void;
}

/** What of a client of graphql-ws is spread over several of them. */
export type Sockets = Pick<Client, 'subscribe' | 'terminate'>;

/** Who subscribes, in what is subscribed to: `resuming` passes it on, and it is not sent, as no symbol is. */
const who = Symbol('who');
type Marked = SubscribePayload & { [who]: object };

/**
 * Opens another socket where those that there are have no room; one in which nothing runs any more is closed and forgotten. What runs in
 * them goes on after a cut. The line stands while all of them do, and nothing waits because too much was asked for.
 */
export function spread({ on, ...options }: ClientOptions): { sockets: Sockets; line: Line } {
  const all = new Set<Socket>();
  const waiting = new Set<object>();
  const { look, ...line } = lineOf(() => waiting.size === 0 && [...all].every(({ isUp }) => isUp));
  function opened(): Socket {
    const stands = (isUp: boolean) => {
      socket.isUp = isUp;
      look();
    };
    const closed: NonNullable<typeof on>['closed'] = (event) => {
      stands((event as CloseEvent).code === emptied);
      on?.closed?.(event);
    };
    const client = createClient(steady({ ...options, on: { ...on, connected: () => stands(true), closed } }));
    const socket: Socket = { client, running: 0, isUp: true };
    all.add(socket);
    return socket;
  }
  const begin: Client['subscribe'] = (payload, sink) => {
    const its = (payload as Marked)[who];
    if (waiting.delete(its)) look();
    const socket = [...all].find(({ running }) => running < room) ?? opened();
    socket.running++;
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      socket.running--;
      if (socket.running === 0) all.delete(socket);
      look();
    };
    const error: typeof sink.error = (reason) => {
      if (!isOver && errorOf(reason).code === 'rate_limited') waiting.add(its);
      over();
      sink.error(reason);
    };
    const complete = () => {
      over();
      sink.complete();
    };
    const stop = socket.client.subscribe(payload, { ...sink, error, complete });
    return () => {
      stop();
      over();
    };
  };
  const { subscribe: resume } = resuming({ subscribe: begin } as Client);
  const subscribe: Client['subscribe'] = (payload, sink) => {
    const marked: Marked = { ...payload, [who]: {} };
    const stop = resume(marked, sink);
    return () => {
      stop();
      if (waiting.delete(marked[who])) look();
    };
  };
  const terminate = () => {
    for (const { client } of all) client.terminate();
  };
  return { sockets: { subscribe, terminate }, line };
}

/** A line that stands while this is so. Components subscribe and end while React is at work: listeners hear of it behind that. */
function lineOf(stands: () => boolean): Line & { look(): void } {
  const listeners = new Set<() => void>();
  let isUp = true;
  const settle = () => {
    if (isUp === stands()) return;
    isUp = !isUp;
    for (const listener of [...listeners]) listener();
  };
  return {
    isUp: () => isUp,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    look: () => queueMicrotask(settle),
  };
}
