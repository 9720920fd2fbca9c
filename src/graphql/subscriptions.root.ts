import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { badRequest, check } from '../kernel/base/errors.js';
import { isIncluded } from '../kernel/model/connection.js';
import { type Fragments, fragmentOf, fragmentsOf } from '../kernel/model/selections.js';

/** The root field of a subscription. */
interface RootField {
  node: FieldNode | undefined;
  /** Whether `@skip` and `@include` leave it in. */
  isLeftIn: boolean;
}

/** The one field of a subscription: where it stands more than once, one that is left in. */
export function rootField(document: DocumentNode, set: SelectionSetNode, variables: Record<string, unknown>): RootField {
  const fragments = fragmentsOf(document);
  const leftIn = firstField(fragments, set, (node) => isIncluded(node, variables));
  return { node: leftIn ?? firstField(fragments, set, () => true), isLeftIn: leftIn !== undefined };
}

/** The first field of a selection, looked for in fragments too, in each once: they may spread each other many times. */
function firstField(
  fragments: Fragments,
  { selections }: SelectionSetNode,
  isWanted: (node: SelectionNode) => boolean,
  seen = new Set<object>(),
): FieldNode | undefined {
  for (const selection of selections) {
    if (!isWanted(selection)) continue;
    if (selection.kind === Kind.FIELD) return selection;
    const fragment = fragmentOf(fragments, selection);
    if (!fragment || seen.has(fragment)) continue;
    seen.add(fragment);
    const found = firstField(fragments, fragment.selectionSet, isWanted, seen);
    if (found) return found;
  }
  return undefined;
}

const isByVariable = ({ name, arguments: given }: DirectiveNode): boolean =>
  ['skip', 'include'].includes(name.value) && (given ?? []).some(({ value }) => value.kind === Kind.VARIABLE);

/**
 * Throws 400 for a subscription whose field stands there or not by a variable. The rule that it has one field alone knows no variables: it
 * would say that the variable has no value.
 */
export function checkRootField(document: DocumentNode): void {
  const fragments = fragmentsOf(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION || definition.operation !== OperationTypeNode.SUBSCRIPTION) continue;
    for (const { directives = [] } of selectionsIn(fragments, definition.selectionSet)) {
      const told = directives.find(isByVariable)?.name.value;
      check(!told, () => badRequest(`@${told} at the top level of a subscription must not depend on a variable; within its field it may`));
    }
  }
}

/** The selections of a selection, those of its fragments included, each fragment once. */
function selectionsIn(fragments: Fragments, { selections }: SelectionSetNode): SelectionNode[] {
  const all: SelectionNode[] = [...selections];
  const seen = new Set<object>();
  // What is added meanwhile comes as well.
  for (const selection of all) {
    const fragment = selection.kind === Kind.FIELD ? undefined : fragmentOf(fragments, selection);
    if (!fragment || seen.has(fragment)) continue;
    seen.add(fragment);
    all.push(...fragment.selectionSet.selections);
  }
  return all;
}

/**
 * The variables without the one that is only the position to go on after: subscribers who came back at different times
 * are one group again once they have caught up.
 */
export function withoutPosition(document: DocumentNode, node: FieldNode, variables: Record<string, unknown>): Record<string, unknown> {
  const value = node.arguments?.find((argument) => argument.name.value === 'after')?.value;
  if (value?.kind !== Kind.VARIABLE) return variables;
  const name = value.name.value;
  let uses = 0;
  visit(document, { Variable: (variable) => void (variable.name.value === name && uses++) });
  // Its definition and this one place.
  if (uses > 2) return variables;
  const { [name]: _position, ...rest } = variables;
  return rest;
}
