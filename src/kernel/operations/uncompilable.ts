import { type DocumentNode, type GraphQLSchema, isObjectType, type OperationDefinitionNode, type SelectionSetNode, visit } from 'graphql';
import { type Fragments, fieldsIn, fragmentsOf } from '../model/selections.js';

/** Whether graphql-jit would answer a validated document otherwise than the specification says. */
export const isUncompilable = (schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): boolean =>
  mixesConditions(document) || hasAmbiguousPaths(schema, document, operation);

/**
 * Whether conditions (`@skip`, `@include`) and fragments stand together. It keeps at the node of a field whether it is included, joined
 * over all places in which its fragment is spread, and hands a field's condition down to its selection, but not through a fragment.
 */
function mixesConditions(document: DocumentNode): boolean {
  let [conditions, fragments] = [0, 0];
  visit(document, { Directive: () => void conditions++, FragmentSpread: () => void fragments++, InlineFragment: () => void fragments++ });
  return conditions > 0 && fragments > 0;
}

/** A place of an answer: what the compiler calls it, but for what stands there of lists and types, and its number. */
interface Place {
  name: string;
  nth: number;
}

/**
 * Whether two places of an answer have one name where the compiler joins the names that lead to them by "_": `b { a }` and `a_b`. It would
 * tell the field of one that it is that of the other.
 */
function hasAmbiguousPaths(schema: GraphQLSchema, document: DocumentNode, { selectionSet }: OperationDefinitionNode): boolean {
  const fragments: Fragments = fragmentsOf(document);
  // By the place above and the key there; by the name.
  const known = new Map<string, Place>();
  const names = new Map<string, Place>();
  const isOwn = (part: string) => !/^idx\d+$/.test(part) && !isObjectType(schema.getType(part));
  // Lists and types are named in between; only names of fields tell two places apart.
  const placeOf = (key: string, above: Place): Place => {
    const step = `${above.nth} ${key}`;
    const place = known.get(step) ?? { name: [...key.split('_').filter(isOwn), above.name].join('_'), nth: known.size + 1 };
    known.set(step, place);
    return place;
  };
  const isAmbiguous = (set: SelectionSetNode, above: Place): boolean => {
    for (const { alias, name, selectionSet } of fieldsIn(fragments, set)) {
      const place = placeOf((alias ?? name).value, above);
      const other = names.get(place.name) ?? place;
      names.set(place.name, place);
      if (other !== place || (selectionSet && isAmbiguous(selectionSet, place))) return true;
    }
    return false;
  };
  return isAmbiguous(selectionSet, { name: '', nth: 0 });
}
