import {
  type ASTNode,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Detail } from '../kernel/base/errors.js';
import { argumentDetail, literalDetail, placeOf } from '../kernel/model/coercionMessages.js';

/** For each fault of a document the detail of the argument or the value at fault, as one of a variable is told. Undefined for others. */
export function detailsOf(schema: GraphQLSchema, document: DocumentNode, errors: readonly GraphQLError[]): (Detail | undefined)[] {
  const found = new Map<ASTNode, Place>();
  const wanted = new Set(errors.flatMap(({ nodes }) => nodes?.[0] ?? []));
  const types = new TypeInfo(schema);
  const look = {
    enter(node: ASTNode, _key: unknown, parent: ASTNode | readonly ASTNode[] | undefined, _path: unknown, before: readonly Around[]) {
      if (!wanted.has(node)) return;
      const argument = types.getArgument();
      if (argument) found.set(node, placeIn(argument, [...before, ...(parent ? [parent] : []), node]));
    },
  };
  visit(document, visitWithTypeInfo(types, look));
  return errors.map(({ nodes, message }) => {
    const place = nodes?.[0] && found.get(nodes[0]);
    return place ? literalDetail(schema, message, place) : argumentDetail(message);
  });
}

/** The name of a value, or of a member of it. */
type Place = (...member: string[]) => string;

type Around = ASTNode | readonly ASTNode[];

/** The way from an argument to a value within it. */
function placeIn({ name, type }: GraphQLArgument, around: readonly Around[]): Place {
  const steps = around.flatMap((at, i): (string | number)[] => {
    if ('kind' in at) return at.kind === Kind.OBJECT_FIELD ? [at.name.value] : [];
    const list = around[i - 1];
    return list && 'kind' in list && list.kind === Kind.LIST ? [at.indexOf(around[i + 1] as ASTNode)] : [];
  });
  return (...member) => placeOf(type, name, [...steps, ...member]);
}
