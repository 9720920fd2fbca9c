import 'reflect-metadata';
import { Field, ID, InterfaceType } from 'type-graphql';
import { rulesOf } from './fieldRules.js';

const types = new WeakMap<object, string>();

/** A row as a node of its type, which the row itself does not say. */
export function asNode<R extends object>(type: string, row: R): R {
  types.set(row, type);
  return row;
}

/** The type of a row that is shown as a node. */
export const typeOfNode = (row: object): string | undefined => types.get(row);

/** What every record type is. */
@InterfaceType({ description: 'A record: anything with an id of its own', resolveType: typeOfNode })
export abstract class Node {
  @Field(() => ID, { description: "The record's id, a UUID" }) id: string;
}

/** Whether the records of a class are nodes: those with a line `@Id()`. */
export const isNode = (type: object): boolean => rulesOf(type).some(({ isIdentity }) => isIdentity);
