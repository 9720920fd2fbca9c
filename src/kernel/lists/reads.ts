import { Extensions } from 'type-graphql';
import type { AnyTable } from '../tables/table.js';

/**
 * Marks a root field as a read of a table: its list, with the arguments of lists and no others, or one of its records by its id, the
 * only argument.
 * Where nothing but columns and declared fields is selected, the database prints the answer, and the resolver is not asked.
 */
export const Reads = (table: AnyTable) => Extensions({ reads: table });
