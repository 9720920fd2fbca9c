import { type Client, type ClientOptions, createClient } from 'graphql-ws';
import { steady } from '../client/resume.js';

/** How many operations run in a socket: 50 may, of which a few may still be ending while others begin. */
const room = 45;

interface Socket {
  client: Client;
  running: number;
  isUp: boolean;
}

/** A client of graphql-ws that opens another socket where those that there are have no room, and tells whether all that are in use stand. */
export function spread({ on, ...options }: ClientOptions, tell: (isUp: boolean) => void): Client {
  const sockets: Socket[] = [];
  const told = () => tell(sockets.every(({ isUp, running }) => isUp || running === 0));
  function opened(): Socket {
    const stands = (isUp: boolean) => {
      socket.isUp = isUp;
      told();
    };
    const closed: NonNullable<typeof on>['closed'] = (event) => {
      stands(false);
      on?.closed?.(event);
    };
    const client = createClient(steady({ ...options, on: { ...on, connected: () => stands(true), closed } }));
    const socket: Socket = { client, running: 0, isUp: true };
    sockets.push(socket);
    return socket;
  }
  const subscribe: Client['subscribe'] = (payload, sink) => {
    const socket = sockets.find(({ running }) => running < room) ?? opened();
    socket.running++;
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      socket.running--;
      told();
    };
    const stop = socket.client.subscribe(payload, {
      ...sink,
      error(error) {
        over();
        sink.error(error);
      },
      complete() {
        over();
        sink.complete();
      },
    });
    return () => {
      stop();
      over();
    };
  };
  const terminate = () => {
    for (const { client } of sockets) client.terminate();
  };
  return { ...opened().client, subscribe, terminate };
}
