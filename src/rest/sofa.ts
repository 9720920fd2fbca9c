import { GraphQLObjectType, GraphQLScalarType, GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { useSofa } from 'sofa-api';
import type { Context } from '../kernel/context/context.js';
import type { BoundEndpoint } from './endpoints.js';
import type { Envelope } from './envelope.js';
import { answer, type Prepared } from './serve.js';

/** What a request hands to SOFA, and gets back: the outcome of its endpoint. */
export interface Passage {
  ctx: Context;
  prepared: Prepared;
  outcome?: Promise<Envelope>;
}

/** The endpoint's own compiled document runs, not one that SOFA would write: the reply is opaque to it. */
const Reply = new GraphQLScalarType({ name: 'Reply' });

/**
 * The regular endpoints behind SOFA, as a schema of its own with one field an endpoint, so that SOFA's boot does not depend on the graph.
 * `id` and `input` are all the arguments that reach it.
 */
export function sofaOf(endpoints: readonly BoundEndpoint[], basePath: string) {
  const fields: Record<'Query' | 'Mutation', Record<string, object>> = { Query: {}, Mutation: {} };
  const routes: Record<string, object> = {};
  endpoints.forEach(({ endpoint, field, operation }, i) => {
    const kind = operation().kind === 'query' ? 'Query' : 'Mutation';
    fields[kind][`r${i}`] = { type: Reply, args: Object.fromEntries(field!.args.map((a) => [a.name, { type: a.type }])) };
    routes[`${kind}.r${i}`] = {
      method: endpoint.method,
      path: endpoint.path.replace(/\{(\w+)\}/g, ':$1'),
      responseStatus: endpoint.status,
    };
  });
  const typeOf = (name: 'Query' | 'Mutation') =>
    Object.keys(fields[name]).length > 0 ? new GraphQLObjectType({ name, fields: fields[name] as never }) : undefined;
  const query = typeOf('Query') ?? new GraphQLObjectType({ name: 'Query', fields: { none: { type: Reply } } });
  return useSofa({
    schema: new GraphQLSchema({ query, mutation: typeOf('Mutation') }),
    basePath,
    routes: routes as never,
    context: (server: unknown) => server as { passage: Passage },
    execute: async ({ document, variableValues, contextValue }) => {
      const [root] = (document.definitions[0] as OperationDefinitionNode).selectionSet.selections;
      const name = (root as { name: { value: string } }).name.value;
      const { passage } = contextValue as unknown as { passage: Passage };
      const variables = variableValues as Record<string, unknown>;
      passage.outcome = answer(endpoints[Number(name.slice(1))]!, passage.ctx, { ...passage.prepared, variables });
      return {
        data: {
          [name]: await passage.outcome.then(
            () => null,
            () => null,
          ),
        },
      };
    },
  });
}
