import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { defaultPageSize, maxPageSize } from '../kernel/model/connection.js';

type Variables = Readonly<Record<string, unknown>>;

/** What a list that does not page is taken to hold: a contact's tags, a deal's products. */
const assumedItems = 10;

/** The argument that tells a page's size: perPage wins over first, as in the lists themselves. */
const sizeArguments = ['perPage', 'first', 'limit'];

/**
 * The cost of an operation of a validated document: how many records it reads at most. A record costs 1, a page as much
 * as its size says (its argument, a variable, its default; never more than 200, which the lists cut to) times what is
 * read with each of its records. Conditions count as met. Without variables every page counts as the largest there is.
 */
export function costOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables?: Variables): number {
  const root = schema.getRootType(operation.operation);
  return root ? new Cost(schema, document, operation, variables).of(root, operation.selectionSet, 1) : 0;
}

class Cost {
  readonly #fragments = new Map<string, { type: string; set: SelectionSetNode }>();

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
    private readonly variables?: Variables,
  ) {
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
      this.#fragments.set(definition.name.value, { type: definition.typeCondition.name.value, set: definition.selectionSet });
    }
  }

  /** `items` is how many records each list of this selection holds. */
  of(type: GraphQLNamedType, set: SelectionSetNode, items: number): number {
    return set.selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + this.#field(type, selection, items);
      const spread = selection.kind === Kind.FRAGMENT_SPREAD ? this.#fragments.get(selection.name.value) : undefined;
      const inner = spread?.set ?? (selection as { selectionSet?: SelectionSetNode }).selectionSet;
      const named = spread?.type ?? (selection as { typeCondition?: { name: { value: string } } }).typeCondition?.name.value;
      return inner ? sum + this.of((named && this.schema.getType(named)) || type, inner, items) : sum;
    }, 0);
  }

  #field(parent: GraphQLNamedType, node: FieldNode, items: number): number {
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    if (!field) return 0;
    const type = getNamedType(field.type);
    if (isLeafType(type) || !node.selectionSet) return 0;
    const page = this.#pageSize(field, node);
    const each = 1 + this.of(type, node.selectionSet, page ?? assumedItems);
    return isListType(getNullableType(field.type)) ? items * each : each;
  }

  /** The size of the page that a field asks for; undefined where it does not page. */
  #pageSize(field: GraphQLField<unknown, unknown>, node: FieldNode): number | undefined {
    if (!field.args.some((arg) => sizeArguments.includes(arg.name))) return undefined;
    if (!this.variables) return maxPageSize;
    const sizes = sizeArguments.map((name) => this.#argument(node, name));
    const size = sizes.find((value) => typeof value === 'number') ?? defaultPageSize;
    return Math.min(Math.max(size, 1), maxPageSize);
  }

  #argument(node: FieldNode, name: string): number | undefined {
    const value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind !== Kind.VARIABLE) return undefined;
    const variable = value.name.value;
    const given = this.variables?.[variable];
    if (given !== undefined) return typeof given === 'number' ? given : undefined;
    const fallback = this.operation.variableDefinitions?.find((d) => d.variable.name.value === variable)?.defaultValue;
    return fallback?.kind === Kind.INT ? Number(fallback.value) : undefined;
  }
}
