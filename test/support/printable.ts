import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';

/** Draws a number below `n`. */
export type Draw = (n: number) => number;

/** What is neither a column nor a relation: where it is asked for, a document runs field by field. */
const besides = ['Pipeline.statistics', 'Stage.statistics', 'Import.preview', 'SmartList.count'];

const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
const query = schema.getQueryType()!;

/** The root fields that are lists of a table. */
const lists = Object.values(query.getFields()).filter(
  ({ name, type, args }) =>
    isConnection(getNamedType(type) as GraphQLObjectType) &&
    args.some((arg) => arg.name === 'sort') &&
    !args.some((arg) => arg.name === 'id') &&
    name !== 'apiKeys',
);

function isConnection(type: unknown): type is GraphQLObjectType {
  return isObjectType(type) && 'pageInfo' in type.getFields();
}

/** Writes documents over what the database prints: nested lists, filters, aliases, fragments, conditions. */
export class DocumentWriter {
  #aliases = 0;
  #fragments: string[] = [];

  constructor(private readonly draw: Draw) {}

  /** A document of one or two lists, and its roots without the braces. */
  write(): { text: string; fragments: string } {
    const roots = Array.from({ length: 1 + this.draw(2) }, (_, i) => `root${i}: ${this.#list(lists[this.draw(lists.length)]!, 0)}`);
    return { text: roots.join(' '), fragments: this.#fragments.join(' ') };
  }

  #list(field: GraphQLField<unknown, unknown>, depth: number): string {
    return `${field.name}${this.#args(field, depth)} { ${this.#page(getNamedType(field.type) as GraphQLObjectType, depth)} }`;
  }

  #page(connection: GraphQLObjectType, depth: number): string {
    const record = getNamedType(connection.getFields().nodes!.type) as GraphQLObjectType;
    const members = [`nodes { ${this.#selection(record, depth)} }`];
    if (this.draw(3) === 0) members.push(`edges { cursor node { ${this.#selection(record, depth + 1)} } }`);
    if (this.draw(2) === 0) members.push('totalCount');
    if (this.draw(2) === 0) members.push('pageInfo { endCursor hasNextPage startCursor hasPreviousPage __typename }');
    if (connection.getFields().summary && this.draw(3) === 0)
      members.push('summary { count totalValue byStage { stageId name count totalValue } }');
    if (this.draw(6) === 0) members.push('__typename');
    return members.join(' ');
  }

  #selection(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields()).filter(({ name }) => !besides.includes(`${type.name}.${name}`));
    const parts = ['id' in type.getFields() ? 'id' : '__typename'];
    for (const field of fields) {
      const inner = getNamedType(field.type);
      if (isLeafType(inner)) {
        if (this.draw(3) === 0) parts.push(this.#named(field.name));
      } else if (depth < 2 && this.draw(4) === 0) parts.push(this.#nested(field, inner as GraphQLObjectType, depth));
    }
    return this.#dressed(type, parts.join(' '));
  }

  #nested(field: GraphQLField<unknown, unknown>, type: GraphQLObjectType, depth: number): string {
    if (isConnection(type)) return this.#list(field, depth + 1);
    return `${this.#named(field.name)} { ${this.#selection(type, depth + 1)} }`;
  }

  /** Some of the selection as a fragment, or under a condition. */
  #dressed(type: GraphQLObjectType, selection: string): string {
    switch (this.draw(8)) {
      case 0:
        return `... on ${type.name} { ${selection} } id: __typename`.replace(/ id: __typename$/, '');
      case 1: {
        const name = `F${this.#fragments.length}`;
        this.#fragments.push(`fragment ${name} on ${type.name} { ${selection} }`);
        return `...${name}`;
      }
      case 2:
        return `... @include(if: $yes) { ${selection} } ... @skip(if: $yes) { never: __typename }`;
      default:
        return selection;
    }
  }

  #named(name: string): string {
    if (this.#aliases >= 8 || this.draw(6) > 0) return name;
    return `x${this.#aliases++}: ${name}`;
  }

  #args({ args }: GraphQLField<unknown, unknown>, depth: number): string {
    const size = 1 + this.draw(depth === 0 ? 6 : 3);
    const given = [[`first: ${size}`, `last: ${size}`, `page: ${1 + this.draw(2)}, perPage: ${size}`, `first: ${size}`][this.draw(4)]!];
    const sort = getNullableType(args.find(({ name }) => name === 'sort')!.type);
    if (isEnumType(sort) && this.draw(2) === 0) given.push(`sort: ${sort.getValues()[this.draw(sort.getValues().length)]!.name}`);
    if (this.draw(3) === 0) given.push(`order: ${['asc', 'desc'][this.draw(2)]}`);
    const filter = getNamedType(args.find(({ name }) => name === 'filter')!.type);
    if (isInputObjectType(filter) && 'search' in filter.getFields() && this.draw(4) === 0) given.push('filter: { search: $search }');
    return `(${given.join(', ')})`;
  }
}

/** Whether a field of the schema is a plain list, for the tests of what stays one. */
export const isPlainList = (type: string, field: string): boolean =>
  isListType(getNullableType((schema.getType(type) as GraphQLObjectType).getFields()[field]!.type));
