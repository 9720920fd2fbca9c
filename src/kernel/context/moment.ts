import type { GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';
import { type Sql, sql } from '../database/sql.js';
import type { Context } from './context.js';

/** What a root field stands for: a text of the moment at which its document is read. */
export type OfTheMoment = (ctx: Context) => Sql;

/**
 * Marks a root field of queries that tells of the moment at which its document is read. Where the database prints the answer it
 * is part of the one statement. Else it is read before everything else, and its resolver answers `ctx.request.moment`: so it is
 * never of later than what stands beside it.
 */
export const ReadsMoment = (read: OfTheMoment) => Extensions({ moment: read });

export const momentOf = (field: { extensions: Readonly<Record<string, unknown>> } | undefined) =>
  field?.extensions.moment as OfTheMoment | undefined;

/** Reads what the root fields of a query tell of the moment, by their names; undefined where none does. */
export function momentReader(schema: GraphQLSchema, names: readonly string[]): ((ctx: Context) => Promise<void>) | undefined {
  const fields = schema.getQueryType()?.getFields() ?? {};
  const reads = [...new Set(names)].flatMap((name) => {
    const read = momentOf(fields[name]);
    return read ? [{ name, read }] : [];
  });
  if (reads.length === 0) return undefined;
  return async (ctx) => {
    const moment: Record<string, string> = {};
    for (const { name, read } of reads) moment[name] = await ctx.planned(sql`select (${read(ctx)})::text`);
    ctx.request.moment = moment;
  };
}
