import { type GraphQLArgument, type GraphQLSchema, GraphQLString } from 'graphql';
import { check, invalidField } from '../base/errors.js';
import type { RequestInfo } from '../context/app.js';
import type { Context } from '../context/context.js';
import { readAnew } from '../context/loaders.js';

const mutationId = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

/** What a client calls its mutation comes back in the events of it: 400 unless it is a line of at most 200 characters. */
export function checkMutationId({ clientMutationId }: Pick<RequestInfo, 'clientMutationId'>): void {
  check(clientMutationId === undefined || mutationId.test(clientMutationId), () =>
    invalidField('clientMutationId', 'invalid_format', 'must be one line of 1 to 200 characters'),
  );
}

const argument: GraphQLArgument = {
  name: 'clientMutationId',
  description: 'What the client calls this change, so that it knows the events of its own; by default as the request says',
  type: GraphQLString,
  defaultValue: undefined,
  deprecationReason: undefined,
  extensions: {},
  astNode: undefined,
};

/**
 * Gives each mutation an argument that names it. Those of a document run one after the other, so each tells under its own name, and
 * what it answers is read after what those before it did.
 */
export function nameMutations(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (!resolve) continue;
    field.args = [...field.args, argument];
    field.resolve = (root, args: { clientMutationId?: string | null }, ctx: Context, info) => {
      const clientMutationId = args.clientMutationId ?? undefined;
      checkMutationId({ clientMutationId });
      ctx.request.mutationId = clientMutationId;
      readAnew(ctx);
      return resolve(root, args, ctx, info);
    };
  }
}
