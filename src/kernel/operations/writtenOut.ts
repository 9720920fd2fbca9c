import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { type Fragments, fragmentOf, fragmentsOf } from '../model/selections.js';

/**
 * One operation of a validated document with its fragments written out, every field a node of its own. graphql-jit keeps at a node
 * whether its field is included: of a fragment that is spread in two places, one would answer by the condition of the other.
 */
export function writtenOut(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  const fragments = fragmentsOf(document);
  return { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet: setOut(operation.selectionSet, fragments) }] };
}

const setOut = (set: SelectionSetNode, fragments: Fragments): SelectionSetNode => ({
  ...set,
  selections: set.selections.map((node) => nodeOut(node, fragments)),
});

function nodeOut(node: SelectionNode, fragments: Fragments): SelectionNode {
  if (node.kind !== Kind.FRAGMENT_SPREAD) {
    return { ...node, ...(node.selectionSet && { selectionSet: setOut(node.selectionSet, fragments) }) } as SelectionNode;
  }
  const { typeCondition, selectionSet } = fragmentOf(fragments, node)!;
  return { kind: Kind.INLINE_FRAGMENT, typeCondition, directives: node.directives, selectionSet: setOut(selectionSet, fragments) };
}

/**
 * Whether two places of an answer have one name where graphql-jit joins the names that lead to them by "_": `b { a }` and `a_b`. It would
 * tell the field of one that it is that of the other. The document's fragments are written out.
 */
export function hasAmbiguousPaths(schema: GraphQLSchema, { definitions: [operation] }: DocumentNode): boolean {
  const places = new Map<string, string>();
  const isOwn = (part: string) => !/^idx\d+$/.test(part) && !isObjectType(schema.getType(part));
  // Lists and types are named in between; only names of fields tell two places apart.
  const joined = (path: readonly string[]) => path.toReversed().join('_').split('_').filter(isOwn).join('_');
  const isAmbiguous = (set: SelectionSetNode, above: readonly string[]): boolean =>
    set.selections.some((node) => {
      if (node.kind !== Kind.FIELD) return isAmbiguous((node as { selectionSet: SelectionSetNode }).selectionSet, above);
      const path = [...above, keyOf(node)];
      const place = path.join('.');
      const known = places.get(joined(path)) ?? place;
      places.set(joined(path), place);
      return known !== place || (node.selectionSet !== undefined && isAmbiguous(node.selectionSet, path));
    });
  return isAmbiguous((operation as OperationDefinitionNode).selectionSet, []);
}

const keyOf = ({ alias, name }: FieldNode) => (alias ?? name).value;
