import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { ErrorLink } from '@apollo/client/link/error';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import type { Client } from 'graphql-ws';
import { errorOf } from '../client/errors.js';
import { resuming } from '../client/resume.js';
import { ViewerDocument } from '../generated/client/pages.js';
import { spread } from './sockets.js';
import { unkept } from './unkept.js';

// The session's cookie opens the sockets. What comes after a cut is the difference: `resuming` asks for it.
const { sockets, line } = spread({
  url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
  on: {
    closed(event) {
      const { code } = errorOf(event);
      if (code === 'unauthenticated' || code === 'permission_denied') void lookAgain(code === 'unauthenticated');
    },
  },
});

export { line };

/** Who is refused may have been logged out, or may owe a second factor by now: who they are decides which page is shown. */
const refused = new ErrorLink(({ error, operation }) => {
  const { code } = errorOf(error);
  const isRefusal = code === 'unauthenticated' || code === 'permission_denied';
  if (isRefusal && operation.operationName !== 'Viewer') void lookAgain();
});

const isSubscription = ({ operationType }: ApolloLink.Operation) => operationType === 'subscription';

// Of a client it only subscribes.
const live = new GraphQLWsLink(resuming(sockets as Client));

/** One client of the server for the whole page. Lists are live queries, kept by their components; the cache holds what queries answer. */
export const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: refused.split(isSubscription, live, new HttpLink({ uri: '/graphql', credentials: 'same-origin' })),
});

let isLooking = false;
let isSessionOver = false;

/**
 * Asks who the caller is, where somebody was; the page follows the cache. Begins anew where the session is over: once, though every
 * socket tells of it.
 */
async function lookAgain(isOver = false): Promise<void> {
  isSessionOver ||= isOver;
  if (isLooking || !client.readQuery({ query: ViewerDocument })) return;
  isLooking = true;
  const asked = client.query({ query: ViewerDocument, fetchPolicy: 'network-only', errorPolicy: 'all' });
  // Without an answer somebody else has entered meanwhile.
  const answer = await asked.catch(() => undefined);
  isLooking = false;
  if (answer && (isSessionOver || (answer.error && errorOf(answer.error).code === 'unauthenticated'))) await enter();
}

/**
 * Who the caller is has changed: the sockets of the one before end, and everything is asked for anew. What of it fails is told by the
 * components that show it.
 */
export async function enter(): Promise<void> {
  isSessionOver = false;
  unkept.clear();
  sockets.terminate();
  await client.resetStore().catch(() => {});
}
