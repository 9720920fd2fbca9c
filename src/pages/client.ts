import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { ErrorLink } from '@apollo/client/link/error';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { errorOf } from '../client/errors.js';
import { resuming } from '../client/resume.js';
import { ViewerDocument } from '../generated/client/pages.js';
import { spread } from './sockets.js';

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

/** Close codes of the server: the session has ended; its rights have changed. */
const ended = 4401;
const changed = 4403;

// The session's cookie opens the sockets. What comes after a cut is the difference: `resuming` asks for it.
const sockets = spread(
  {
    url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
    on: {
      closed(event) {
        const { code } = event as CloseEvent;
        if (code === ended || code === changed) void lookAgain(code === ended);
      },
    },
  },
  (isUp) => line.set(isUp),
);

/** Who is refused may have been logged out, or may owe a second factor by now: who they are decides which page is shown. */
const refused = new ErrorLink(({ error, operation }) => {
  const { code } = errorOf(error);
  const isRefusal = code === 'unauthenticated' || code === 'permission_denied';
  if (isRefusal && operation.operationName !== 'Viewer') void lookAgain();
});

const isSubscription = ({ operationType }: ApolloLink.Operation) => operationType === 'subscription';

/** One client of the server for the whole page. Lists are live queries, kept by their components; the cache holds what queries answer. */
export const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: refused.split(isSubscription, new GraphQLWsLink(resuming(sockets)), new HttpLink({ uri: '/graphql', credentials: 'same-origin' })),
});

/** Asks who the caller is, where somebody was; the page follows the cache. Begins anew where the session is over. */
async function lookAgain(isOver = false): Promise<void> {
  if (!client.readQuery({ query: ViewerDocument })) return;
  const asked = client.query({ query: ViewerDocument, fetchPolicy: 'network-only', errorPolicy: 'all' });
  // Without an answer somebody else has entered meanwhile.
  const answer = await asked.catch(() => undefined);
  if (answer && (isOver || (answer.error && errorOf(answer.error).code === 'unauthenticated'))) await enter().catch(() => {});
}

/** Who the caller is has changed: the sockets of the one before end, and everything is asked for anew. */
export async function enter(): Promise<void> {
  sockets.terminate();
  await client.resetStore();
}
