import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

/** The fragments of a document by their names. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  new Map(definitions.flatMap((d) => (d.kind === Kind.FRAGMENT_DEFINITION ? [[d.name.value, d] as const] : [])));

/** The fragment that is named in a selection, or that stands in it; undefined where the document has none of the name. */
export const fragmentOf = (
  fragments: Fragments,
  node: FragmentSpreadNode | InlineFragmentNode,
): FragmentDefinitionNode | InlineFragmentNode | undefined => (node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node);

/** The fields of a selection in order, those in fragments included; only of a document whose fragments do not spread themselves. */
export function* fieldsIn(fragments: Fragments, { selections }: SelectionSetNode): Generator<FieldNode, undefined> {
  // The next one last. A generator within each fragment would hand on each field as often as fragments nest.
  const left = selections.toReversed();
  for (let node = left.pop(); node; node = left.pop()) {
    if (node.kind === Kind.FIELD) yield node;
    else left.push(...(fragmentOf(fragments, node)?.selectionSet.selections.toReversed() ?? []));
  }
}

/** How many fields the operations of a document have, its fragments written out; only of one whose fragments do not spread themselves. */
export function countFields(document: DocumentNode): number {
  const fragments = fragmentsOf(document);
  const known = new Map<SelectionSetNode, number>();
  const countIn = (set: SelectionSetNode | undefined): number => {
    if (!set) return 0;
    const counted =
      known.get(set) ??
      set.selections.reduce((sum, node) => {
        const inner = node.kind === Kind.FIELD ? node : fragmentOf(fragments, node);
        return sum + Number(node.kind === Kind.FIELD) + countIn(inner?.selectionSet);
      }, 0);
    known.set(set, counted);
    return counted;
  };
  return document.definitions.reduce((sum, node) => sum + (node.kind === Kind.OPERATION_DEFINITION ? countIn(node.selectionSet) : 0), 0);
}

/**
 * The root fields that an operation runs. Fields of one response name are one call, which validation has made sure of (CollectFields of
 * the GraphQL specification), and `__typename` calls nothing.
 */
export function fieldsToRun(document: DocumentNode, { selectionSet }: OperationDefinitionNode): FieldNode[] {
  const called = new Map<string, FieldNode>();
  for (const node of fieldsIn(fragmentsOf(document), selectionSet)) {
    const key = (node.alias ?? node.name).value;
    if (!node.name.value.startsWith('__') && !called.has(key)) called.set(key, node);
  }
  return [...called.values()];
}
