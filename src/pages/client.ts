import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';
import { resuming, steady } from '../client/resume.js';

/** Whether the line to the server stands; who shows it is told. */
export const line = {
  isUp: true,
  listeners: new Set<() => void>(),
  set(isUp: boolean) {
    line.isUp = isUp;
    for (const listener of line.listeners) listener();
  },
  subscribe(listener: () => void) {
    line.listeners.add(listener);
    return () => void line.listeners.delete(listener);
  },
};

// The session's cookie opens the socket. What comes after a cut is the difference: `resuming` asks for it.
const socket = createClient(
  steady({
    url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
    on: { connected: () => line.set(true), closed: () => line.set(false) },
  }),
);

const isSubscription = ({ operationType }: ApolloLink.Operation) => operationType === 'subscription';

/** One client of the server for the whole page. Lists are live queries, kept by their components; the cache holds what queries answer. */
export const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ApolloLink.split(
    isSubscription,
    new GraphQLWsLink(resuming(socket)),
    new HttpLink({ uri: '/graphql', credentials: 'same-origin' }),
  ),
});

/** Who the caller is has changed: the socket of the one before ends, and everything is asked for anew. */
export async function enter(): Promise<void> {
  socket.terminate();
  await client.resetStore();
}
