import type { ApolloServer } from '@apollo/server';
import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Metrics } from '../http/metrics.js';
import { unavailable } from '../kernel/base/errors.js';
import type { Identify, Recheck } from '../kernel/context/callers.js';
import type { App } from '../kernel/context/context.js';
import type { PersistedDocuments } from './persisted.js';
import type { GraphQLContext } from './server.js';
import { Sockets } from './sockets.js';
import { mountStream } from './sse.js';
import { Callers } from './subscriptions.callers.js';
import { Subscriptions } from './subscriptions.js';

export interface LiveParts {
  app: App;
  schema: GraphQLSchema;
  apollo: ApolloServer<GraphQLContext>;
  persisted: PersistedDocuments;
  identify: Identify;
  recheck: Recheck;
  metrics: Metrics;
}

/** Subscriptions over WebSocket at `/graphql` and over SSE at `/graphql/stream`. They end when the server closes. */
export function mountSubscriptions(http: FastifyInstance, { app, schema, apollo, persisted, identify, recheck, metrics }: LiveParts): void {
  const subscriptions = new Subscriptions(app, schema);
  const callers = new Callers(app, recheck, (account) => subscriptions.see(account));
  const sockets = new Sockets({ app, apollo, persisted, identify, subscriptions, callers }, http.server);
  mountStream(http, { apollo, persisted, subscriptions, callers });
  metrics.gauge('subscribers', 'Live subscriptions', () => subscriptions.count);
  metrics.gauge('subscription_connections', 'WebSockets and event streams whose caller is known', () => callers.size);
  http.addHook('preClose', async () => {
    await sockets.close();
    callers.close(unavailable('The server is stopping'));
    subscriptions.close();
  });
}
