import type { ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import type { HeldClaim } from '../context/app.js';
import { Context } from '../context/context.js';
import { withRetries } from './ownTransaction.js';

/** The root of a document whose only field has its value already. */
export class Answer {
  constructor(readonly value: unknown) {}
}

/** Ends the execution of a document whose outcome is known: it was kept with its effect. */
class Concluded extends Error {}

/**
 * Takes the final transaction back, since something that its document selects is refused. These errors name their places, and are the
 * answer as they are: none of them is about the input, whatever the operation says of that.
 */
class Refused extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super('Something that is selected is refused');
  }
}

const faultsOf = (error: unknown) => (error instanceof Refused ? error.errors.map(({ originalError }) => originalError) : [error]);

/**
 * The transaction that a detached operation ends with: what `work` answers is the value of its field. The whole document is answered in
 * it, so that nothing is done where something that it selects is refused. Under an `Idempotency-Key` that outcome is kept in it, so that a
 * retry finds it wherever the connection is lost, or the process dies. Within the unit of work of others it is part of that. Tried again
 * as a whole operation is.
 */
export const inFinalTransaction = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> =>
  ctx.unit ? work(ctx) : withRetries((isOptimistic) => ctx.transaction((inside) => answered(inside, work), { isOptimistic }), faultsOf);

async function answered<T>(inside: Context, work: (inside: Context) => Promise<T>): Promise<T> {
  const { claim } = inside.request;
  if (claim) claim.outcome = undefined;
  const value = await work(inside);
  if (claim?.answer) await claim.keep(inside.unit!, await claim.answer(inside.unit!, value));
  return value;
}

/** What was noted under the key of this request by one that was done in part (`saveProgress`); undefined where nothing was. */
export const readProgress = <Notes>({ request }: Context): Notes | undefined => request.claim?.notes as Notes | undefined;

/**
 * Notes in the unit of work of a part of a detached operation that the part is done: under an `Idempotency-Key` a retry finds the last
 * of these notes, whatever became of the rest, and goes on behind it. Nothing where there is no key.
 */
export const saveProgress = async ({ request, unit }: Context, notes: object): Promise<void> => request.claim?.note?.(unit!, notes);

type Execute = (inside: Context, root: Answer) => Promise<ExecutionResult> | ExecutionResult;

/** Holds the outcome of a request that came without a key: it is answered with its effect as under one, and nothing is kept. */
function withoutKey(): HeldClaim {
  const held: HeldClaim = {
    async keep(_unit, result) {
      held.outcome = result;
    },
  };
  return held;
}

/** Runs a detached operation: `execute` its document, in a unit of work where that concludes it. */
export async function executeDetached(
  ctx: Context,
  execute: (ctx: Context, root?: Answer) => ReturnType<Execute>,
): Promise<ExecutionResult> {
  ctx.request.claim ??= withoutKey();
  const { claim } = ctx.request;
  claim.answer = async (unit, value) => {
    // The transaction may be tried again.
    ctx.request.budget?.restart();
    const result = await execute(new Context(ctx.app, ctx.request, ctx.principal, unit), new Answer(value));
    if (result.errors?.length) throw new Refused(result.errors);
    return result;
  };
  const result = await execute(ctx);
  const causes = result.errors?.map(({ originalError }) => originalError) ?? [];
  const refused = causes.find((cause) => cause instanceof Refused);
  // Nothing of it is done, so nothing is shown of what was there before it was taken back.
  if (refused) return { data: null, errors: refused.errors };
  return claim.outcome && causes.some((cause) => cause instanceof Concluded) ? claim.outcome : result;
}

/** Has the detached fields answer what is known, and not be shown again where the outcome of their document was kept with their effect. */
export function markDetached(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (!field.extensions.detached || !resolve) continue;
    field.resolve = async (root, args, ctx: Context, info) => {
      if (root instanceof Answer) return root.value;
      const value: unknown = await resolve(root, args, ctx, info);
      if (ctx.request.claim?.outcome) throw new Concluded();
      return value;
    };
  }
}
