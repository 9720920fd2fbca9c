import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isObjectType,
} from 'graphql';

/** Draws a number below `n`. */
export type Draw = (n: number) => number;

/** Numbers that look drawn, the same for the same seed. */
export function drawing(seed: number): Draw {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n;
  };
}

/** What is neither a column nor a relation: where it is asked for, a document runs field by field. */
const besides = [
  // A thousand messages each: of a few conversations with what they lead to, more than is printed at once.
  'Conversation.thread',
  'Pipeline.statistics',
  'Sequence.stats',
  'Automation.blockers',
  'AutomationRun.explanation',
  'WorkflowRun.explanation',
  'Stage.statistics',
  'Import.preview',
  'SmartList.count',
];

const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));
const query = schema.getQueryType()!;

/** The root fields that are lists of a table. */
const lists = Object.values(query.getFields()).filter(
  ({ name, type, args }) =>
    isConnection(getNamedType(type) as GraphQLObjectType) &&
    args.some((arg) => arg.name === 'sort') &&
    !args.some((arg) => arg.name === 'id') &&
    !['apiKeys', 'callFlowRoster', 'callFlowNumbers'].includes(name),
);

function isConnection(type: unknown): type is GraphQLObjectType {
  return isObjectType(type) && 'pageInfo' in type.getFields();
}

/** Whether a type is conditions on a record: they nest. */
const leadsOn = (type: unknown): boolean => isInputObjectType(type) && 'and' in type.getFields();

/** Whether a type is conditions on the records that a record leads to. */
const leadsToMany = (type: unknown): boolean => isInputObjectType(type) && 'some' in type.getFields();

/** Conditions may lead over ten relations, four within each other: fewer are drawn. */
const mostRelations = 6;

/** Names that statements may well use themselves. */
const aliases = ['n0', 'o', 'x', 'e', 't', 'a', 'v', 'n1', 'r', 'p'];

const recordOf = ({ type }: GraphQLField<unknown, unknown>) =>
  getNamedType((getNamedType(type) as GraphQLObjectType).getFields().nodes!.type) as GraphQLObjectType;

/** The root fields that are one record by its id, which their lists answer too; an e-mail is no text message. */
const singles = Object.values(query.getFields()).filter(
  ({ name, type, args }) =>
    name !== 'smsMessage' &&
    isObjectType(getNullableType(type)) &&
    args.length === 1 &&
    args[0]!.name === 'id' &&
    lists.some((list) => recordOf(list) === getNamedType(type)) &&
    'id' in (getNamedType(type) as GraphQLObjectType).getFields(),
);

/** The names of types whose records are read by their ids, each with the list that answers some. */
export const listsOfSingles = new Map(
  singles.map(({ type }) => [getNamedType(type).name, lists.find((list) => recordOf(list) === getNamedType(type))!.name]),
);

/** Where a list goes on after or before what its first page answers: in a document that is asked with cursors. */
const cursor = /(, )(after|before): "@(\w+)"/g;

/** The document from the beginning of its lists. */
export const fromTheBeginning = (text: string) => text.replace(cursor, '');

/** The document with the cursors that its lists answered, in those lists that answered one. */
export const goingOn = (text: string, answers: Record<string, { pageInfo?: Record<string, string | null> } | null>) =>
  text.replace(cursor, (_all, comma: string, name: string, root: string) => {
    const found = answers[root]?.pageInfo?.[name === 'after' ? 'endCursor' : 'startCursor'];
    return found ? `${comma}${name}: "${found}"` : '';
  });

/** Writes documents over what the database prints: nested lists, filters, aliases, fragments, conditions, single records. */
export class DocumentWriter {
  #aliases = 0;
  #relations = 0;
  #fragments: string[] = [];

  /** `ids` are those of records by their types. */
  constructor(
    private readonly draw: Draw,
    private readonly ids: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {}

  /** A document of one or two lists, and its roots without the braces; where records are known, one of them beside it. */
  write(): { text: string; fragments: string } {
    const roots = Array.from(
      { length: 1 + this.draw(2) },
      (_, i) => `root${i}: ${this.#root(`root${i}`, lists[this.draw(lists.length)]!)}`,
    );
    const known = singles.filter(({ type }) => this.ids.get(getNamedType(type).name)?.length);
    if (known.length > 0 && this.draw(2) === 0) roots.push(`single: ${this.#single(known[this.draw(known.length)]!)}`);
    return { text: roots.join(' '), fragments: this.#fragments.join(' ') };
  }

  #single({ name, type }: GraphQLField<unknown, unknown>): string {
    const ids = this.ids.get(getNamedType(type).name)!;
    return `${name}(id: "${ids[this.draw(ids.length)]}") { ${this.#selection(getNamedType(type) as GraphQLObjectType, 0)} }`;
  }

  #root(name: string, field: GraphQLField<unknown, unknown>): string {
    const place = ['', '', `, after: "@${name}"`, `, before: "@${name}"`][this.draw(4)]!;
    return this.#list(field, 0, place);
  }

  #list(field: GraphQLField<unknown, unknown>, depth: number, place = ''): string {
    return `${field.name}${this.#args(field, depth, place)} { ${place && 'pageInfo { startCursor endCursor } '}${this.#page(getNamedType(field.type) as GraphQLObjectType, depth)} }`;
  }

  #page(connection: GraphQLObjectType, depth: number): string {
    const record = getNamedType(connection.getFields().nodes!.type) as GraphQLObjectType;
    const members = [`nodes { ${this.#selection(record, depth)} }`];
    if (this.draw(3) === 0) members.push(`edges { cursor node { ${this.#selection(record, depth + 1)} } }`);
    if (this.draw(2) === 0) members.push('totalCount');
    if (this.draw(2) === 0) members.push('pageInfo { endCursor hasNextPage startCursor hasPreviousPage __typename }');
    if (connection.getFields().summary && this.draw(3) === 0)
      members.push('summary { count totalValue byStage { stageId name count totalValue currency } }');
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
    if (this.#aliases >= aliases.length || this.draw(6) > 0) return name;
    return `${aliases[this.#aliases++]}: ${name}`;
  }

  /** A few conditions on a record, some on those that it leads to. */
  #where(type: GraphQLInputObjectType, depth: number): string {
    const nests = ({ type: its }: { type: unknown }) => leadsOn(getNamedType(its as never)) || leadsToMany(getNamedType(its as never));
    const fields = Object.values(type.getFields()).filter((field) => (depth < 2 && this.#relations < mostRelations) || !nests(field));
    const conditions = new Map<string, string>();
    for (let i = this.draw(3); i >= 0; i--) {
      const { name, type: its } = fields[this.draw(fields.length)]!;
      const inner = getNamedType(its) as GraphQLInputObjectType;
      if (name === 'and' || name === 'or') conditions.set(name, `[${this.#where(inner, depth + 1)}, ${this.#where(inner, depth + 1)}]`);
      else if (leadsOn(inner)) conditions.set(name, this.#related(inner, depth));
      else if (isInputObjectType(inner) && 'is_empty' in inner.getFields()) conditions.set(name, `{ is_empty: ${this.draw(2) === 0} }`);
      else if (isInputObjectType(inner))
        conditions.set(
          name,
          `{ ${['some', 'none'][this.draw(2)]}: ${this.#related(getNamedType(inner.getFields().some!.type) as GraphQLInputObjectType, depth)} }`,
        );
    }
    return `{ ${[...conditions].map(([name, condition]) => `${name}: ${condition}`).join(', ')} }`;
  }

  #related(type: GraphQLInputObjectType, depth: number): string {
    this.#relations++;
    return this.#where(type, depth + 1);
  }

  /** A sort and a direction, one of them, several keys, or none. */
  #order(args: GraphQLField<unknown, unknown>['args']): string[] {
    const direction = () => ['asc', 'desc'][this.draw(2)]!;
    const keys = Object.keys((getNamedType(args.find(({ name }) => name === 'orderBy')!.type) as GraphQLInputObjectType).getFields());
    const drawn = [...new Set(Array.from({ length: 1 + this.draw(3) }, () => keys[this.draw(keys.length)]!))];
    if (this.draw(4) === 0) return [`orderBy: [${drawn.map((key) => `{ ${key}: ${direction()} }`).join(', ')}]`];
    const sort = getNullableType(args.find(({ name }) => name === 'sort')!.type);
    return [
      ...(isEnumType(sort) && this.draw(2) === 0 ? [`sort: ${sort.getValues()[this.draw(sort.getValues().length)]!.name}`] : []),
      ...(this.draw(3) === 0 ? [`order: ${direction()}`] : []),
    ];
  }

  /** Of a filter: a word of an enumeration, yes or no, or a text that is looked for. */
  #filter(filter: unknown): string[] {
    if (!isInputObjectType(filter) || this.draw(4) > 0) return [];
    const choices = Object.values(filter.getFields()).flatMap(({ name, type }) => {
      const its = getNullableType(type);
      if (name === 'search') return ['search: $search'];
      if (isEnumType(its)) return [`${name}: ${its.getValues()[this.draw(its.getValues().length)]!.name}`];
      return String(its) === 'Boolean' ? [`${name}: ${this.draw(2) === 0}`] : [];
    });
    return choices.length > 0 ? [`filter: { ${choices[this.draw(choices.length)]} }`] : [];
  }

  #args({ args }: GraphQLField<unknown, unknown>, depth: number, place: string): string {
    const size = 1 + this.draw(depth === 0 ? 6 : 3);
    const sizes = [`first: ${size}`, `last: ${size}`, `page: ${1 + this.draw(2)}, perPage: ${size}`, `first: ${size}`];
    const backward = place.includes('before');
    const given = [place ? `${backward ? 'last' : 'first'}: ${size}${place}` : sizes[this.draw(4)]!];
    given.push(...this.#order(args));
    given.push(...this.#filter(getNamedType(args.find(({ name }) => name === 'filter')!.type)));
    const where = getNamedType(args.find(({ name }) => name === 'where')!.type);
    this.#relations = 0;
    if (this.draw(3) === 0) given.push(`where: ${this.#where(where as GraphQLInputObjectType, 0)}`);
    return `(${given.join(', ')})`;
  }
}
