import { Extensions } from 'type-graphql';

/** Marks a relation as part of its parent's REST record, with these of its fields, or all of its own; who may read the record may read it. */
export const OfRecord = (...fields: string[]) => Extensions({ record: fields });

/** The name under which the REST record shows a field: an `id` there that is not the id of its GraphQL object. */
export const RestName = (name: string) => Extensions({ restName: name });
