import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { ErrorLink } from '@apollo/client/link/error';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import type { Client } from 'graphql-ws';
import { errorOf } from '../client/errors.js';
import { ViewerDocument, type ViewerQuery } from '../generated/client/pages.js';
import { spread } from './sockets.js';
import { unkept } from './unkept.js';

// The session's cookie opens the sockets. What comes after a cut is the difference.
const { sockets, line } = spread({
  url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
  on: {
    closed(event) {
      if (isRefusal(event)) void lookAgain(errorOf(event).code === 'unauthenticated');
    },
  },
});

export { line };

/** Whether the caller is nobody, or may not. */
function isRefusal(fault: unknown): boolean {
  const { code } = errorOf(fault);
  return code === 'unauthenticated' || code === 'permission_denied';
}

/** Who is refused may have been logged out, or may owe a second factor by now: who they are decides which page is shown. */
const refused = new ErrorLink(({ error, operation }) => {
  if (isRefusal(error) && operation.operationName !== 'Viewer') void lookAgain();
});

const isSubscription = ({ operationType }: ApolloLink.Operation) => operationType === 'subscription';

// Of a client it only subscribes.
const live = new GraphQLWsLink(sockets as Client);

/** One client of the server for the whole page. Lists are live queries, kept by their components; the cache holds what queries answer. */
export const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: refused.split(isSubscription, live, new HttpLink({ uri: '/graphql', credentials: 'same-origin' })),
});

let isLooking = false;
let isSessionOver = false;

const isSame = (one: ViewerQuery, other: ViewerQuery) =>
  one.me.user.id === other.me.user.id && one.me.workspace.id === other.me.workspace.id;

/**
 * Asks who the caller is, where somebody was; the page follows the cache. Begins anew where the session is over, its account is suspended,
 * or the browser's is somebody else's by now: once, though every socket tells of it.
 */
async function lookAgain(isOver = false): Promise<void> {
  isSessionOver ||= isOver;
  const before = client.readQuery({ query: ViewerDocument });
  if (isLooking || !before) return;
  isLooking = true;
  const asked = client.query({ query: ViewerDocument, fetchPolicy: 'network-only', errorPolicy: 'all' });
  // Without an answer somebody else has entered meanwhile.
  const answer = await asked.catch(() => undefined);
  isLooking = false;
  if (!answer) return;
  const isElse = answer.data && !isSame(before, answer.data);
  if (isSessionOver || isElse || (answer.error && isRefusal(answer.error))) await beginAnew();
}

/**
 * Begins anew where the browser's session is somebody else's by now: a login ends that of nobody, and the sockets go on. What else
 * has changed the page need not follow: it may be showing what is shown once, as recovery codes are.
 */
async function lookWhose(): Promise<void> {
  const before = client.readQuery({ query: ViewerDocument });
  if (!before) return;
  const answer = await client.query({ query: ViewerDocument, fetchPolicy: 'no-cache', errorPolicy: 'all' }).catch(() => undefined);
  if (answer?.data && !isSame(before, answer.data)) await beginAnew();
}

const tabs = new BroadcastChannel('session');
tabs.onmessage = () => void lookWhose();
// For a login that no tab of these pages told of: that of the start page.
document.addEventListener('visibilitychange', () => void (document.visibilityState === 'visible' && lookWhose()));
// What comes over the sockets renews no cookie: that of a page which is only looked at would end after a week.
setInterval(() => void lookWhose(), 24 * 60 * 60 * 1000);

/** Who the caller is has changed, in this tab and thereby in all others. */
export async function enter(): Promise<void> {
  tabs.postMessage('changed');
  await beginAnew();
}

/** The sockets of the one before end, and everything is asked for anew. What of it fails is told by the components that show it. */
async function beginAnew(): Promise<void> {
  isSessionOver = false;
  unkept.clear();
  sockets.terminate();
  await client.resetStore().catch(() => {});
}
