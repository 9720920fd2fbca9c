import { type DocumentNode, type FieldNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';
import { isIncluded } from '../kernel/model/connection.js';

/** The root field of a subscription. */
interface RootField {
  node: FieldNode | undefined;
  /** Whether `@skip` and `@include` leave it in. */
  isLeftIn: boolean;
}

/** The one field of a subscription: where it stands more than once, one that is left in. */
export function rootField(document: DocumentNode, set: SelectionSetNode, variables: Record<string, unknown>): RootField {
  const leftIn = firstField(document, set, (node) => isIncluded(node, variables));
  return { node: leftIn ?? firstField(document, set, () => true), isLeftIn: leftIn !== undefined };
}

/** The first field of a selection, looked for in fragments too, in each once: they may spread each other many times. */
function firstField(
  document: DocumentNode,
  { selections }: SelectionSetNode,
  isWanted: (node: SelectionNode) => boolean,
  seen = new Set<string>(),
): FieldNode | undefined {
  for (const selection of selections) {
    if (!isWanted(selection)) continue;
    if (selection.kind === Kind.FIELD) return selection;
    const set = selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : unseen(document, selection.name.value, seen);
    const found = set && firstField(document, set, isWanted, seen);
    if (found) return found;
  }
  return undefined;
}

function unseen(document: DocumentNode, name: string, seen: Set<string>): SelectionSetNode | undefined {
  if (seen.has(name)) return undefined;
  seen.add(name);
  const fragment = document.definitions.find((d) => d.kind === Kind.FRAGMENT_DEFINITION && d.name.value === name);
  return fragment?.kind === Kind.FRAGMENT_DEFINITION ? fragment.selectionSet : undefined;
}
