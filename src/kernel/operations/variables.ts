import {
  coerceInputValue,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type Detail, invalid } from '../base/errors.js';
import { coercionDetail } from '../model/coercionMessages.js';

type Variables = Record<string, unknown>;

/** A variable of an operation. */
interface Variable {
  name: string;
  type: GraphQLInputType;
  required: boolean;
  isNeverNull: boolean;
  fallback?: unknown;
}

/** The variables of a validated operation. */
export function variablesOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Variable[] {
  const mustHold = neverNull(schema, document, operation);
  return (operation.variableDefinitions ?? []).map((node) => {
    const name = node.variable.name.value;
    const type = typeFromAST(schema, node.type as never) as GraphQLInputType;
    const required = node.type.kind === Kind.NON_NULL_TYPE && !node.defaultValue;
    return { name, type, required, isNeverNull: mustHold.has(name), fallback: valueFromAST(node.defaultValue, type) };
  });
}

/**
 * The variables of a validated operation for which null must not be sent although their types allow it: they, or the place, have a
 * default value, and the place must not be null. The specification fails the field there; graphql-jit never answers.
 */
function neverNull(schema: GraphQLSchema, document: DocumentNode, { variableDefinitions }: OperationDefinitionNode): Set<string> {
  const found = new Set<string>();
  if (!variableDefinitions?.some(({ type }) => type.kind !== Kind.NON_NULL_TYPE)) return found;
  const types = new TypeInfo(schema);
  const note = (name: string) => isNonNullType(types.getInputType()) && found.add(name);
  visit(document, visitWithTypeInfo(types, { Variable: ({ name }) => void note(name.value), VariableDefinition: () => false }));
  return found;
}

/** Maximum errors reported per request. */
const most = 100;

/** The values of the variables as resolvers get them. Throws 400 with all type faults in one pass, each with the name of its field. */
export function coerce(schema: GraphQLSchema, types: readonly Variable[], variables: Variables): Variables {
  const details: Detail[] = [];
  const coerced: Variables = {};
  for (const { name, type, required, isNeverNull, fallback } of types) {
    const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (given === undefined) {
      coerced[name] = fallback;
      if (required) details.push({ field: name, code: 'required', message: 'is required' });
      continue;
    }
    if (given === null && isNeverNull) details.push({ field: name, code: 'required', message: 'must not be null' });
    coerced[name] = coerceInputValue(given, type, (path, value, { message }) => {
      details.push(coercionDetail(schema, type, name, { path, value, message }));
      // Enough to tell what is wrong. Looking on would cost the others more than the answer is worth: a body may hold millions.
      if (details.length === most) throw invalid(details);
    });
  }
  if (details.length > 0) throw invalid(details);
  return coerced;
}
