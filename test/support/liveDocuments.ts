import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  getNamedType,
  isEnumType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import type { Draw } from './printable.js';

type Field = GraphQLField<unknown, unknown>;

const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));

/** What changes with the time, by being asked, or some moments after a write without an event of its own. */
const moving = [
  /\.(lastActiveAt|lastUsedAt|presence|leadScore|scoredAt)$/,
  /^(Conversation\.sla|SmartList\.count|Webhook\.(lastFiredAt|failCount|failingSince))$/,
  /\.(deliveries|deliveryHistory|replays)$/,
];

/** What says something of other records, and so changes with their events: it is drawn more often. */
const ofOthers = /count|total|^last/i;

const isPage = (type: unknown): type is GraphQLObjectType => isObjectType(type) && 'pageInfo' in type.getFields();
const recordOf = (page: GraphQLObjectType) => getNamedType(page.getFields().nodes!.type) as GraphQLObjectType;

/** The lists that a key can watch; those of a parent's records need its id. */
const lists = Object.values((schema.getType('Live') as GraphQLObjectType).getFields()).filter(
  ({ name, args }) => name !== 'apiKeys' && args.some((arg) => arg.name === 'filter') && !args.some(isRequiredArgument),
);
const pageOf = ({ name }: Field) => getNamedType(schema.getQueryType()!.getFields()[name]!.type) as GraphQLObjectType;

/** Writes live queries of one list, each with the query behind it. They select little, so that few events concern them. */
export class LiveWriter {
  constructor(
    private readonly draw: Draw,
    /** Ids that filters ask for. */
    private readonly ids: Readonly<Record<string, string>>,
  ) {}

  write(): { name: string; live: string; query: string } {
    const list = this.#one(lists);
    const asked = `${list.name}(${this.#args(list)})`;
    const total = this.draw(2) === 0 ? ' totalCount' : '';
    const node = this.#selection(recordOf(pageOf(list)), 3);
    const live = `${asked} { isWhole removed rows { recordId index change version node { ${node} } }${total} }`;
    return { name: list.name, live, query: `${asked} { nodes { ${node} }${total} }` };
  }

  #one<T>(items: readonly T[]): T {
    return items[this.draw(items.length)]!;
  }

  #args({ args }: Field): string {
    const filter = getNamedType(args.find(({ name }) => name === 'filter')!.type) as GraphQLInputObjectType;
    const size = `first: ${this.#one([1, 3, 8])}`;
    const fields = Object.values(filter.getFields()).filter(({ name, type }) => this.ids[name] || isEnumType(getNamedType(type)));
    if (fields.length === 0 || this.draw(3) > 0) return size;
    const { name, type } = this.#one(fields);
    const named = getNamedType(type);
    const value = isEnumType(named) ? this.#one(named.getValues()).name : JSON.stringify(this.ids[name]);
    return `filter: { ${name}: ${isListType(type) ? `[${value}]` : value} }, ${size}`;
  }

  #selection(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields()).filter((field) => this.#isAskable(type, field, depth));
    const told = fields.filter(({ name, type: of }) => ofOthers.test(name) || isObjectType(getNamedType(of)));
    const chosen = new Set(Array.from({ length: 1 + this.draw(2) }, () => this.#one(told.length > 0 && this.draw(3) > 0 ? told : fields)));
    return [...chosen].map((field) => this.#field(field, depth)).join(' ');
  }

  #isAskable({ name: of }: GraphQLObjectType, { name, type, args }: Field, depth: number): boolean {
    if (args.some(isRequiredArgument) || moving.some((one) => one.test(`${of}.${name}`))) return false;
    return isLeafType(getNamedType(type)) || (depth > 1 && isObjectType(getNamedType(type)));
  }

  #field({ name, type, args }: Field, depth: number): string {
    const inner = getNamedType(type);
    if (!isObjectType(inner)) return name;
    if (!isPage(inner)) return `${name} { ${this.#selection(inner, depth - 1)} }`;
    const size = args.some((arg) => arg.name === 'first') ? '(first: 2)' : '';
    const parts = ['totalCount', `nodes { ${this.#selection(recordOf(inner), depth - 1)} }`];
    return `${name}${size} { ${this.#one([parts[0], parts[1], parts.join(' ')])} }`;
  }
}
