import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  type ValueNode,
  type VariableDefinitionNode,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { Json } from '../model/scalars.js';

type Variables = Record<string, unknown>;

/** A document without literals among its arguments. */
interface LiteralFree {
  document: DocumentNode;
  /** Adds the variables that stand for them, made anew; of a literal in which variables stand by these, none of which is null amiss. */
  addTo(variables: Variables): Variables;
}

interface Literal {
  name: string;
  type: GraphQLInputType;
  node: ValueNode;
}

/** The type of a variable that is passed on as it is. */
export const passedOn = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: Json.name } } as const;

/**
 * A validated document of one operation, with a variable for every argument that is written out. graphql-jit makes code of a document,
 * its literals included: what a client wrote is to stay a value. And where a variable stands within a literal, it would take one that is
 * not given for null, which would clear what is to stay, and leave variables out of JSON.
 */
export function withoutLiterals(schema: GraphQLSchema, document: DocumentNode): LiteralFree {
  const literals: Literal[] = [];
  const prefix = freePrefix(document);
  const types = new TypeInfo(schema);
  const asVariable = (argument: ArgumentNode): ArgumentNode => {
    const type = types.getFieldDef()?.args.find(({ name }) => name === argument.name.value)?.type;
    if (!type || argument.value.kind === Kind.VARIABLE) return argument;
    const name = `${prefix}${literals.length}`;
    literals.push({ name, type, node: argument.value });
    return { ...argument, value: variable(name) };
  };
  const asVariables = (field: FieldNode): FieldNode | undefined =>
    field.arguments?.length ? { ...field, arguments: field.arguments.map(asVariable) } : undefined;
  const free: DocumentNode = visit(document, visitWithTypeInfo(types, { Field: { leave: asVariables } }));
  if (literals.length === 0) return { document, addTo: (variables) => variables };
  const declared = literals.map(({ name }) => ({ kind: Kind.VARIABLE_DEFINITION, variable: variable(name), type: passedOn }) as const);
  return {
    document: visit(free, {
      OperationDefinition: (node) => ({ ...node, variableDefinitions: [...(node.variableDefinitions ?? []), ...declared] }),
    }),
    addTo: (variables) => {
      const values = literals.map(({ type, node }) => valueFromAST(node, type, variables));
      for (const [i, { name }] of literals.entries()) variables[name] = values[i];
      return variables;
    },
  };
}

const variable = (name: string) => ({ kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } }) as const;

/** What no variable of the document begins with. */
function freePrefix({ definitions }: DocumentNode): string {
  const variables = (definitions as OperationDefinitionNode[]).flatMap(
    (node): readonly VariableDefinitionNode[] => node.variableDefinitions ?? [],
  );
  let prefix = 'literal';
  while (variables.some((node) => node.variable.name.value.startsWith(prefix))) prefix += '_';
  return prefix;
}
