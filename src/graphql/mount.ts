import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance } from 'fastify';
import type { GraphQLContext } from './server.js';

/** GraphQL over HTTP at `/graphql`. */
export function mountGraphQL(server: FastifyInstance, apollo: ApolloServer<GraphQLContext>): void {
  server.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    exposeHeadRoute: false,
    config: { row: '/graphql', graphql: true },
    handler: fastifyApolloHandler(apollo, { context: async (request) => ({ ctx: request.ctx, gate: request.gate }) }),
  });
}
