import type { Context } from '../context/context.js';
import type { Sql } from '../database/sql.js';

/** For each field of a filter, what it asks of a row over the alias `t`; null where `asked` of the table says it. */
export type ParameterConditions<F> = { [K in keyof F]-?: ((value: NonNullable<F[K]>, ctx: Context) => Sql) | null };

/** The conditions of the fields that a filter gives. */
export const conditionsOf = <F extends object>(all: ParameterConditions<F>, ctx: Context, filter: F | null | undefined): Sql[] =>
  Object.entries(filter ?? {}).flatMap(([name, value]) => {
    const build = all[name as keyof F] as ((value: unknown, ctx: Context) => Sql) | null | undefined;
    return build && value !== null && value !== undefined ? [build(value, ctx)] : [];
  });
