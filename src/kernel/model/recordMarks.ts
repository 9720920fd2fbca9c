import type { GraphQLField } from 'graphql';
import { Extensions } from 'type-graphql';

/**
 * Marks a relation as part of its parent's REST record, with these of its fields, or all of its own; who may read the record may read it.
 */
export const OfRecord = (...fields: string[]) => Extensions({ record: fields });

/**
 * Marks a relation to a record of the caller's own as part of its parent's REST record: REST shows these fields of it, and whoever reads
 * the parent reads all of its fields that are not records themselves.
 */
export const OfCaller = (...fields: string[]) => Extensions({ record: fields, whole: true });

/**
 * As `OfCaller`, of the person or account that a login answers: that is not the caller, or is the caller in another account, so that
 * nothing may be selected beyond it.
 */
export const OfLogin = (...fields: string[]) => Extensions({ record: fields, whole: true, isEnd: true });

/** The names under which the REST record shows a field: an `id` there that is not the id of its GraphQL object. */
export const RestName = (...names: string[]) => Extensions({ restNames: names });

/** A list without pages holds at most this many records: what its service and its inputs make sure of, and the cost guard counts. */
export const MaxItems = (most: number) => Extensions({ holds: most });

/** A field takes as long to answer as reading this many records, besides those that it answers. */
export const Weighs = (records: number) => Extensions({ weighs: records });

/** The most records that a list without pages can answer, by `MaxItems` or by its rule; undefined where nothing says it. */
export function mostItems({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): number | undefined {
  const { holds, rule } = extensions as { holds?: number; rule?: { schema: { maxItems?: number } } };
  return holds ?? rule?.schema.maxItems;
}

export const weightOf = ({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): number => Number(extensions.weighs ?? 0);
