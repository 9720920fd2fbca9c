import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { AppError } from '../base/errors.js';
import { type Fragments, fragmentOf, fragmentsOf } from '../model/selections.js';
import { type Asker, allow, type Needs, needsOf } from './access.js';

/** An operation and the document that it stands in. */
interface Asked {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/** Throws 401 or 403 unless the caller may run an operation, which has these needs; a 403 with the path of the field that is not theirs. */
export function allowDocument(asker: Asker, needs: Needs, asked: Asked): void {
  try {
    allow(asker, needs);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'permission_denied') throw error;
    const path = refusedPlace(asked, asker);
    throw path ? new AppError(error.code, error.message, { more: { path } }) : error;
  }
}

/** A selection with its fragments in the places where they are named. */
function inlined(fragments: Fragments, { selections }: SelectionSetNode): SelectionSetNode {
  const all = selections.flatMap((selection): SelectionNode[] => {
    if (selection.kind !== Kind.FRAGMENT_SPREAD)
      return [selection.selectionSet ? { ...selection, selectionSet: inlined(fragments, selection.selectionSet) } : selection];
    const fragment = fragmentOf(fragments, selection);
    if (!fragment) return [];
    const { typeCondition, selectionSet } = fragment;
    return [{ kind: Kind.INLINE_FRAGMENT, typeCondition, selectionSet: inlined(fragments, selectionSet) }];
  });
  return { kind: Kind.SELECTION_SET, selections: all };
}

const typename: SelectionNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

/**
 * The path of the first field of an operation that its caller may not have: `contacts.nodes.deals`. Looked for once it is refused, field by
 * field, each as if nothing else were selected. Undefined where it is the whole that is refused.
 */
function refusedPlace({ schema, document, operation }: Asked, asker: Asker): string | undefined {
  const isRefused = (selectionSet: SelectionSetNode): boolean => {
    try {
      allow(asker, needsOf(schema, { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet }] }));
      return false;
    } catch {
      return true;
    }
  };
  const alone = (selection: SelectionNode): SelectionSetNode => ({ kind: Kind.SELECTION_SET, selections: [selection] });
  const find = ({ selections }: SelectionSetNode, within: (set: SelectionSetNode) => SelectionSetNode): string[] | undefined => {
    const at = selections.find((selection) => isRefused(within(alone(selection))));
    if (!at || at.kind === Kind.FRAGMENT_SPREAD) return undefined;
    const own = at.kind === Kind.FIELD ? [(at.alias ?? at.name).value] : [];
    const inAt = (set: SelectionSetNode) => within(alone({ ...at, selectionSet: set }));
    // Where the field itself is refused, so is all that is within it.
    const further = at.selectionSet && !isRefused(inAt(alone(typename))) ? find(at.selectionSet, inAt) : undefined;
    return [...own, ...(further ?? [])];
  };
  return find(inlined(fragmentsOf(document), operation.selectionSet), (set) => set)?.join('.');
}
