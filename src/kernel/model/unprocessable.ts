import { Extensions, UseMiddleware } from 'type-graphql';
import { AppError, asUnprocessable } from '../base/errors.js';

/**
 * Marks a mutation whose invalid input the contract answers with 422 and never with 400, through REST and GraphQL. What has another
 * type than the schema says is 400 through GraphQL as everywhere.
 */
export const Unprocessable = (): MethodDecorator => (target, method, descriptor) => {
  Extensions({ invalid: 422 })(target, method, descriptor);
  UseMiddleware(asUnprocessed)(target, method, descriptor);
};

async function asUnprocessed(_data: unknown, next: () => Promise<unknown>): Promise<unknown> {
  try {
    return await next();
  } catch (error) {
    throw error instanceof AppError ? asUnprocessable(error) : error;
  }
}
