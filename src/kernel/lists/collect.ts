import {
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { isIncluded } from '../model/connection.js';
import { type Fragments, fragmentOf } from '../model/selections.js';

export type Variables = Readonly<Record<string, unknown>>;

/** A document as fields are collected from it. */
export interface SelectionContext {
  schema: GraphQLSchema;
  fragments: Fragments;
  /** The values of the variables that decide which selections there are. */
  conditions: Variables;
  /** Whether enumerations answer the words that REST sends. */
  inWords?: boolean;
}

/** The variables by which a document leaves selections out or in. */
export function directiveVariables(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive(node) {
      for (const { value } of node.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names].sort();
}

/** The fields of a selection by the names under which they answer, as GraphQL collects them: merged, in order. */
export function collect(
  context: SelectionContext,
  type: GraphQLObjectType,
  sets: readonly (SelectionSetNode | undefined)[],
): Map<string, FieldNode[]> {
  const found = new Map<string, FieldNode[]>();
  const walk = ({ selections }: SelectionSetNode) => {
    for (const node of selections) {
      if (!isIncluded(node, context.conditions)) continue;
      if (node.kind === Kind.FIELD) {
        const key = (node.alias ?? node.name).value;
        found.set(key, [...(found.get(key) ?? []), node]);
        continue;
      }
      const fragment = fragmentOf(context.fragments, node);
      if (fragment && applies(context, fragment.typeCondition?.name.value, type)) walk(fragment.selectionSet);
    }
  };
  for (const set of sets) if (set) walk(set);
  return found;
}

function applies({ schema }: SelectionContext, condition: string | undefined, type: GraphQLObjectType): boolean {
  if (!condition || condition === type.name) return true;
  const named = schema.getType(condition);
  return isAbstractType(named) && schema.isSubType(named, type);
}
