import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

type Field = GraphQLField<unknown, unknown>;

const isId = ({ type }: GraphQLArgument) => getNamedType(type).name === 'ID';

/** What is in it is no list of the schema's. */
const isJson = ({ type }: Field) => /^JSON/.test(getNamedType(type).name);

/** Writes a document of the schema, each of whose choices is the next of some numbers: what fast-check makes and shrinks. */
export class Documents {
  #choices: readonly number[] = [];
  #next = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    /** The ids that the root fields with an `id` are asked for. */
    private readonly ids: Readonly<Record<string, string>>,
    private readonly sizes: readonly number[] = [1, 3, 50, 200],
  ) {}

  query(choices: readonly number[]): string {
    this.#choices = choices;
    this.#next = 0;
    const roots = Object.values(this.schema.getQueryType()!.getFields()).filter((field) => this.#isWritable(field));
    return `{ ${this.#field(this.#one(roots), 8)} }`;
  }

  #one<T>(items: readonly T[]): T {
    const choice = this.#choices[this.#next++ % this.#choices.length] ?? 0;
    return items[choice % items.length]!;
  }

  /** Whether nothing is asked for that is not known here. */
  #isWritable({ name, args }: Field): boolean {
    return args.every((arg) => !isRequiredArgument(arg) || (isId(arg) && this.ids[name] !== undefined));
  }

  #field(field: Field, depth: number): string {
    const record = field.args.find((arg) => isRequiredArgument(arg) && isId(arg));
    const id = record && `${record.name}: "${this.ids[field.name]}"`;
    const first = field.args.some(({ name }) => name === 'first') ? `first: ${this.#one(this.sizes)}` : undefined;
    const args = [id, first].filter(Boolean).join(', ');
    const type = getNamedType(field.type);
    return `${field.name}${args && `(${args})`}${isObjectType(type) ? this.#selection(type, depth - 1) : ''}`;
  }

  #selection(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields()).filter((field) => this.#isWritable(field));
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)) && !isJson(field));
    const records = depth > 1 ? fields.filter((field) => isObjectType(getNamedType(field.type))) : [];
    const chosen = new Set<Field>();
    if (leaves.length > 0) chosen.add(this.#one(leaves));
    if (records.length > 0) for (let i = this.#one([1, 1, 2, 3]); i > 0; i--) chosen.add(this.#one(records));
    if (chosen.size === 0) return '{ __typename }';
    return ` { ${[...chosen].map((field) => this.#field(field, depth)).join(' ')} }`;
  }
}
