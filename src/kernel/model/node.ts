import { Field, ID, InterfaceType } from 'type-graphql';
import { rulesOf } from './fieldRules.js';

const types = new WeakMap<object, string>();

/** A record as a node of its type, which a row does not say of itself. */
export function asNode<R extends object>(type: string, record: R): R {
  types.set(record, type);
  return record;
}

/** What every record type is. */
@InterfaceType({ description: 'A record: anything with an id of its own', resolveType: (record: object) => types.get(record) })
export abstract class Node {
  @Field(() => ID, { description: "The record's id, a UUID" }) id: string;
}

/** Whether the records of a class are nodes: those that have a line `@Id()`. */
export const isNode = (type: object): boolean => rulesOf(type).some(({ isIdentity }) => isIdentity);
