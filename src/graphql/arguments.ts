import {
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  getArgumentValues,
  isObjectType,
  Kind,
  type ObjectFieldNode,
  type ValueNode,
} from 'graphql';

type Field = GraphQLField<unknown, unknown>;

/**
 * Has every field read its arguments as the specification says where a variable stands within a literal. The compiler of documents takes
 * one that is not given for null there, which would clear what is to stay, and leaves variables out of JSON.
 */
export function readArguments(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields()) as Field[]) if (field.args.length > 0) readOf(field);
  }
}

function readOf(field: Field): void {
  const { resolve } = field;
  if (!resolve) return;
  field.resolve = (source, args, ctx, info) => {
    const node = info.fieldNodes[0]!;
    return resolve(source, holdsVariables(node) ? getArgumentValues(field, node, info.variableValues) : args, ctx, info);
  };
}

const known = new WeakMap<FieldNode, boolean>();

/** Whether a variable stands within a list or an object among the arguments of a field. */
function holdsVariables(node: FieldNode): boolean {
  const before = known.get(node);
  if (before !== undefined) return before;
  const found = (node.arguments ?? []).some(({ value }) => value.kind !== Kind.VARIABLE && holdsVariable(value));
  known.set(node, found);
  return found;
}

function holdsVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(holdsVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((member: ObjectFieldNode) => holdsVariable(member.value));
  return value.kind === Kind.VARIABLE;
}
