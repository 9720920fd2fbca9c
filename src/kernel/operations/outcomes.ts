import { type ExecutionResult, GraphQLError } from 'graphql';
import { AppError, internalError } from '../base/errors.js';
import { fromDatabase } from '../database/errors.js';

/** The most errors that are told of one result: one fault in each of a thousand records is told by fewer. */
export const mostErrors = 100;

/** The errors of an outcome are kept beside its data under this: no field has a name with a blank. */
const errorsKey = ' errors';

type KeptError = Pick<AppError, 'code' | 'message' | 'details' | 'retryAfter' | 'more'> & Pick<GraphQLError, 'path'>;

const refusalIn = (error: GraphQLError): AppError => fromDatabase(error.originalError ?? error) ?? internalError();

/** Whether a detached operation did what it is for: its field, which is never null, has its value. What is wrong is wrong below it. */
export const isDone = ({ data }: ExecutionResult): boolean => Boolean(data) && !Object.values(data!).includes(null);

/**
 * Whether what came of a detached operation is what comes of it: it was done, and what could not be shown of it is refused whenever it is
 * asked for. What is unavailable now, or at fault, may be shown later.
 */
export const isConcluded = (result: ExecutionResult): boolean =>
  !result.errors?.length || (isDone(result) && result.errors.every((error) => refusalIn(error).status < 500));

/** An outcome as text, to be kept. */
export function outcomeText({ data, errors }: ExecutionResult): string {
  if (!errors?.length) return JSON.stringify(data);
  const kept = errors.slice(0, mostErrors).map((error): KeptError => {
    const { code, message, details, retryAfter, more } = refusalIn(error);
    return { code, message, details, retryAfter, more, path: error.path };
  });
  return JSON.stringify({ ...data, [errorsKey]: kept });
}

/** The outcome that was kept as a text. */
export function outcomeOfText(text: string): ExecutionResult {
  const { [errorsKey]: kept, ...data } = JSON.parse(text) as Record<string, unknown>;
  if (!kept) return { data };
  const errors = (kept as KeptError[]).map(
    ({ code, message, path, ...more }) => new GraphQLError(message, { path, originalError: new AppError(code, message, more) }),
  );
  return { data, errors };
}
