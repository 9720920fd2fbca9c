import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  parseType,
  print,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql';
import { isConnection } from '../kernel/model/connection.js';
import { wordsOf } from '../kernel/model/enums.js';
import type { FieldRule } from '../kernel/model/fieldRules.js';
import { type JsonSchema, nullableSchema, scalarSchemas } from '../kernel/model/recordSchema.js';
import { recordFields, recordSelection } from '../kernel/model/restRecord.js';
import type { Told } from '../kernel/module/routes.js';
import { ofRest } from './body.js';

export type Schema = JsonSchema;

export const reference = (kind: 'schemas' | 'responses' | 'headers' | 'parameters', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

/** An object that has all these members. None more is forbidden: a later release may add some, and generated clients would refuse them. */
export const holding = (properties: Record<string, Schema>, rest: Schema = {}): Schema => ({
  type: 'object',
  ...rest,
  properties,
  required: Object.keys(properties),
});

const inputScalars: Record<string, Schema> = {
  ...scalarSchemas,
  Decimal: { type: ['number', 'string'], pattern: '^-?\\d{1,30}(\\.\\d{1,30})?$' },
};

function scalar(name: string, table: Record<string, Schema>): Schema {
  const known = table[name];
  if (!known) throw new Error(`The OpenAPI document does not know the scalar ${name}`);
  return known;
}

const ruleOf = (field: { extensions: object }) => (field.extensions as { rule?: FieldRule }).rule;

/** What a rule says, without the members that it leaves open. */
const said = (schema: Schema): Schema => Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));

// Limits bind what is written; what was kept before a limit changed, or came from a vendor, is still answered.
const outputMembers = new Set(['format', 'pattern', 'enum', 'type', 'examples']);
function onOutput(schema: Schema): Schema {
  const kept = Object.fromEntries(Object.entries(said(schema)).filter(([name]) => outputMembers.has(name)));
  return schema.items ? { ...kept, items: onOutput(schema.items as Schema) } : kept;
}

/** A list in its other form. */
const asText: Schema = { type: 'string', description: 'The same as one text, with commas between the items' };

// Where the contract names null beside the forms of a list, it stands for the default.
const isNeverNull = (rule: FieldRule | undefined) => rule?.given === 'value' || (rule?.required && !(rule.orOne && rule.nullIsAbsent));

/** Whether a member must be there. */
const mustBeGiven = (field: GraphQLInputField) =>
  (isNonNullType(field.type) && field.defaultValue === undefined) || ruleOf(field)?.given !== undefined;

export function described(schema: Schema, text: string | null | undefined, more: unknown = undefined): Schema {
  const description = [text, more].filter(Boolean).join('; ');
  return description ? { ...schema, description } : schema;
}

/** A list's own members beside those of its items. */
function merged(schema: Schema, rule: Schema): Schema {
  const { description: _text, ...members } = rule;
  const items = members.items && schema.items ? { items: { ...(schema.items as Schema), ...(members.items as Schema) } } : {};
  return { ...schema, ...members, ...items };
}

/** The root field's own selection in an endpoint's document. */
export function rootSelection(document: DocumentNode): SelectionSetNode | undefined {
  const [root] = (document.definitions[0] as OperationDefinitionNode).selectionSet.selections;
  return root?.kind === Kind.FIELD ? root.selectionSet : undefined;
}

const selectionOf = (text: string) => (parse(text).definitions[0] as OperationDefinitionNode).selectionSet;

/** The members that an answer always has: those without a condition. */
const present = (selection: SelectionSetNode) =>
  selection.selections.flatMap((s) => (s.kind === Kind.FIELD && !s.directives?.length ? [(s.alias ?? s.name).value] : []));

/** What is selected below a member of a selection. */
export function below(selection: SelectionSetNode | undefined, name: string): SelectionSetNode | undefined {
  const found = selection?.selections.find((s) => s.kind === Kind.FIELD && (s.alias ?? s.name).value === name);
  return found?.kind === Kind.FIELD ? found.selectionSet : undefined;
}

/** The component schemas of the document, gathered while its operations are written. */
export class Schemas {
  readonly components: Record<string, Schema> = {};
  readonly #records = new Map<string, string>();

  constructor(private readonly schema: GraphQLSchema) {}

  /** What stands in no operation's answer, by the types that it is written in: records whole. */
  told(members: Told): { properties: Record<string, Schema>; required: string[] } {
    const named = Object.entries(members).map(([written, value]) => {
      const name = written.replace(/\?$/, '');
      return { name, isOptional: name !== written, schema: this.#toldOne(value) };
    });
    return {
      properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema])),
      required: named.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
    };
  }

  #toldOne(value: Told[string]): Schema {
    if (typeof value !== 'string')
      return Array.isArray(value) ? { type: 'array', items: this.#toldOne(value[0]) } : { type: 'object', ...this.told(value as Told) };
    const type = typeFromAST(this.schema, parseType(value)) as GraphQLOutputType | undefined;
    if (!type) throw new Error(`There is no type ${value}`);
    const record = getNamedType(type);
    return this.output(type, isObjectType(record) ? selectionOf(recordSelection(record)) : undefined);
  }

  /** What a field answers for a selection. A record that is selected as REST shows it is a component of its own. */
  output(type: GraphQLOutputType, selection: SelectionSetNode | undefined, title?: string): Schema {
    return isNonNullType(type) ? this.#present(type.ofType, selection, title) : nullableSchema(this.#present(type, selection, title));
  }

  /** What a field answers for a selection, as a schema without null: null would have been an error. */
  result(type: GraphQLOutputType, selection: SelectionSetNode | undefined): Schema {
    const inner = isNonNullType(type) ? type.ofType : type;
    return this.#present(inner, selection, `${getNamedType(type).name}Detail`);
  }

  /** The members of a result one by one, the one called `data` under that name. */
  beside(type: GraphQLOutputType, selection: SelectionSetNode, data: string): Record<string, Schema> {
    const members = this.#members(getNamedType(type) as GraphQLObjectType, selection);
    return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name === data ? 'data' : name, schema]));
  }

  /** A result as one object, with the members of one of its members in its place; a component of its own. */
  spread(type: GraphQLOutputType, selection: SelectionSetNode, name: string): Schema {
    const outer = getNamedType(type) as GraphQLObjectType;
    const inner = getNamedType(outer.getFields()[name]!.type) as GraphQLObjectType;
    const { [name]: _, ...besides } = this.#members(outer, selection);
    const members = { ...this.#members(inner, below(selection, name)!), ...besides };
    this.components[outer.name] = described(holding(members), outer.description);
    return reference('schemas', outer.name);
  }

  #present(type: GraphQLOutputType, selection: SelectionSetNode | undefined, title?: string): Schema {
    if (isListType(type)) return { type: 'array', items: this.output(type.ofType, selection, title) };
    if (isEnumType(type)) return { type: 'string', enum: wordsOf(type) };
    // The page of others that a record carries along is a list here.
    if (isConnection(type)) return this.#present(getNullableType(type.getFields().nodes!.type), below(selection, 'nodes'), title);
    if (isObjectType(type)) return this.#record(type, selection!, title);
    return scalar(getNamedType(type).name, scalarSchemas);
  }

  #record(type: GraphQLObjectType, selection: SelectionSetNode, title?: string): Schema {
    const isWhole = print(selection) === this.#recordText(type);
    const isWider = recordFields(type).every((field) =>
      selection.selections.some((s) => s.kind === Kind.FIELD && s.name.value === field.name),
    );
    const name = isWhole ? type.name : isWider ? title : undefined;
    const build = () => described({ ...holding(this.#members(type, selection)), required: present(selection) }, type.description);
    if (!name) return build();
    if (isWhole && this.components[name]) return reference('schemas', name);
    const schema = build();
    const known = this.components[name];
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) return schema;
    this.components[name] = schema;
    return reference('schemas', name);
  }

  #recordText(type: GraphQLObjectType): string {
    const known = this.#records.get(type.name);
    if (known) return known;
    const text = recordSelection(type);
    const printed = text === '{  }' ? text : print(selectionOf(text));
    this.#records.set(type.name, printed);
    return printed;
  }

  #members(type: GraphQLObjectType, selection: SelectionSetNode): Record<string, Schema> {
    const fields = type.getFields();
    return Object.fromEntries(
      selection.selections.map((node) => {
        if (node.kind !== Kind.FIELD)
          throw new Error(`An endpoint selects ${type.name} by a fragment, which the OpenAPI document does not read`);
        const field = fields[node.name.value]!;
        return [(node.alias ?? node.name).value, this.#field(field, node.selectionSet)];
      }),
    );
  }

  #field(field: GraphQLField<unknown, unknown>, selection: SelectionSetNode | undefined): Schema {
    const isRequired = isNonNullType(field.type);
    const inner = isRequired ? (field.type as { ofType: GraphQLOutputType }).ofType : field.type;
    const schema = merged(this.#present(inner, selection), onOutput(ruleOf(field)?.schema ?? {}));
    return described(isRequired ? schema : nullableSchema(schema), field.description);
  }

  /** A request body, with the limits of its fields. Members that it does not name are left out by the server, so none is forbidden. */
  input(type: GraphQLInputObjectType): Schema {
    if (!this.components[type.name]) {
      const fields = Object.values(type.getFields()).filter(ofRest);
      const required = fields.filter(mustBeGiven).map((f) => f.name);
      this.components[type.name] = {}; // the place is taken before the fields are read: an input may contain itself
      this.components[type.name] = {
        ...described({ type: 'object' }, type.description),
        properties: Object.fromEntries(fields.map((field) => [field.name, this.argument(field)])),
        ...(required.length > 0 && { required }),
      };
    }
    return reference('schemas', type.name);
  }

  /** One field of an input or one argument, with its limits and its text. */
  argument(field: Pick<GraphQLInputField, 'type' | 'description' | 'extensions' | 'defaultValue'>): Schema {
    const rule = ruleOf(field);
    const isRequired = isNonNullType(field.type);
    const inner = isRequired ? (field.type as { ofType: GraphQLInputType }).ofType : field.type;
    const schema = merged(this.#given(inner), said(rule?.schema ?? {}));
    // What is never null may be left out where it has a default, and in changes; "" is null there too, but for an id that only its record
    // looks at.
    const isFree = schema.type === 'string' && !schema.enum && !schema.format && !schema.pattern && getNamedType(inner).name !== 'ID';
    if (rule?.required && isFree) schema.minLength ??= 1;
    const forms = rule?.orOne ? { anyOf: [schema, asText] } : schema;
    return described(isRequired || isNeverNull(rule) ? forms : nullableSchema(forms), field.description, rule?.schema.description);
  }

  #given(type: GraphQLInputType): Schema {
    if (isNonNullType(type)) return this.#given(type.ofType);
    if (isListType(type)) return { type: 'array', items: this.#given(type.ofType) };
    if (isInputObjectType(type)) return this.input(type);
    if (isEnumType(type)) return { type: 'string', enum: wordsOf(type) };
    return scalar(getNamedType(type).name, inputScalars);
  }
}
