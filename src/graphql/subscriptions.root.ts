import { type DocumentNode, type FieldNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';
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
