import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLField,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  getNamedType,
  isEnumType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  print,
} from 'graphql';
import { PrintedData } from '../base/jsonText.js';
import type { Context } from '../context/context.js';
import { answerInWords, isInWords, isRenamed } from '../model/enums.js';
import { recordSelection } from '../model/restRecord.js';
import { Json } from '../model/scalars.js';
import type { Executor } from './executor.js';

type Variables = Record<string, unknown>;
type Given = { coerced: Variables; root?: unknown };
type Run = (ctx: Context, variables: Variables, given: Given) => Promise<ExecutionResult> | ExecutionResult;
type Compile = (schema: GraphQLSchema, document: DocumentNode) => Executor;

/** A row as its resolver answers it: it is shown afterwards. */
const Row = new GraphQLScalarType({ name: 'Row' });
const Nothing = new GraphQLObjectType({ name: 'Query', fields: { nothing: { type: Row } } });

/**
 * A mutation that answers one record and selects the whole of it, as REST shows it: first it is done, then the record is shown,
 * as the text that was told of it where something was. Undefined for any other.
 */
export function recordMutation(schema: GraphQLSchema, document: DocumentNode, compile: Compile): Run | undefined {
  const [definition, ...others] = document.definitions;
  if (others.length > 0 || definition?.kind !== Kind.OPERATION_DEFINITION || definition.operation !== OperationTypeNode.MUTATION)
    return undefined;
  const [node, ...more] = definition.selectionSet.selections;
  if (more.length > 0 || node?.kind !== Kind.FIELD || node.directives?.length) return undefined;
  const field = schema.getMutationType()?.getFields()[node.name.value];
  const type = field && recordOf(field);
  if (!field || !type || !node.selectionSet || !isWhole(type, node.selectionSet)) return undefined;
  const key = (node.alias ?? node.name).value;
  const inWords = isInWords(document);
  const isToldSo = inWords || !hasWords(type);
  const doing = once(() => compile(doingSchema(field), withoutSelection(definition, node)));
  const showing = once(() => {
    const shown = showingDocument(key, node);
    return compile(showingSchema(key, field), inWords ? answerInWords(shown) : shown);
  });
  return async (ctx, variables, { coerced, root }) => {
    const done = (await doing().query(root, ctx, variables, coerced)) as ExecutionResult<Record<string, { id: string } | null>>;
    const row = done.data?.[key];
    if (done.errors?.length || !row) return done;
    const told = isToldSo ? ctx.emittedRecord(type.name, row.id) : undefined;
    if (told) return { data: new PrintedData([{ key, text: told.text }]) };
    return showing().query({ [key]: row }, ctx, {}, {}) as ExecutionResult;
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function recordOf({ type }: GraphQLField<unknown, unknown>): GraphQLObjectType | undefined {
  const inner = isNonNullType(type) ? type.ofType : type;
  return isObjectType(inner) ? inner : undefined;
}

function isWhole(type: GraphQLObjectType, selected: NonNullable<FieldNode['selectionSet']>): boolean {
  const whole = recordSelection(type);
  if (whole === '{  }') return false;
  return print(selected) === print((parse(whole).definitions[0] as OperationDefinitionNode).selectionSet);
}

/** Whether what is told of it in REST's words reads otherwise in GraphQL. */
const hasWords = (type: GraphQLObjectType): boolean =>
  Object.values(type.getFields()).some((field) => {
    const inner = getNamedType(field.type);
    return isEnumType(inner) && isRenamed(inner);
  });

/** The mutation alone, whose answer is its row. */
function doingSchema({ name, args, type, resolve, extensions }: GraphQLField<unknown, unknown>): GraphQLSchema {
  const given = Object.fromEntries(args.map((arg) => [arg.name, { type: arg.type, defaultValue: arg.defaultValue }]));
  const field = { type: isNonNullType(type) ? new GraphQLNonNull(Row) : Row, args: given, resolve, extensions };
  const mutation = new GraphQLObjectType({ name: 'Mutation', fields: { [name]: field } });
  // As JSON an executor passes inputs on that are coerced already.
  return new GraphQLSchema({ query: Nothing, mutation, types: [Json] });
}

function withoutSelection(definition: OperationDefinitionNode, node: FieldNode): DocumentNode {
  const selectionSet = { ...definition.selectionSet, selections: [{ ...node, selectionSet: undefined }] };
  return { kind: Kind.DOCUMENT, definitions: [{ ...definition, selectionSet }] };
}

/** The record alone, of a row that is there. */
const showingSchema = (key: string, { type }: GraphQLField<unknown, unknown>) =>
  new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { [key]: { type } } }) });

const showingDocument = (key: string, { selectionSet }: FieldNode) => parse(`{ ${key} ${print(selectionSet!)} }`, { noLocation: true });
