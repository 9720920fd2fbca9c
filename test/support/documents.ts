import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';

type Field = GraphQLField<unknown, unknown>;

const isId = ({ type }: GraphQLArgument) => getNamedType(type).name === 'ID';

/** What is in it is no list of the schema's. */
const isJson = ({ type }: Field) => /^JSON/.test(getNamedType(type).name);

const texts = [
  '""',
  '"a"',
  '"\\u0000"',
  '"\\uD800"',
  '"%"',
  '"\'"',
  '"2026-02-30"',
  '"2026-01-01"',
  '"eyJhIjoxfQ"',
  `"${'x'.repeat(3000)}"`,
];
const numbers = ['0', '1', '3', '-1', '200', '201', '2147483647'];

/** Values of the scalars; of others than these, those of texts. */
const wild = {
  String: texts,
  Int: numbers,
  Float: [...numbers, '1e300', '0.1'],
  Decimal: [...numbers, '1e300', '"x"'],
  Boolean: ['true', 'false'],
  JSON: ['null', '{}', '[]', '{field: "email", op: "eq", value: {}}', ...texts, ...numbers],
  JSONObject: ['{}', '{field: "email", op: "eq", value: "a"}', '{and: []}', '{a: {a: {a: 1}}}', '{__proto__: 1}'],
};

/** Writes a document of the schema, each of whose choices is the next of some numbers: what fast-check makes and shrinks. */
export class Documents {
  #choices: readonly number[] = [];
  #next = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    /** The ids that the root fields with an `id` are asked for. */
    private readonly ids: Readonly<Record<string, string>>,
    private readonly sizes: readonly number[] = [1, 3, 50, 200],
    /** Whether the other arguments are given too, with values that fit and values that do not. */
    private readonly isWild = false,
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
    const others = this.isWild ? this.#others(field) : [first];
    const args = [id, ...others].filter(Boolean).join(', ');
    const type = getNamedType(field.type);
    return `${field.name}${args && `(${args})`}${isObjectType(type) ? this.#selection(type, depth - 1) : ''}`;
  }

  /** Some of the arguments that need not be given. */
  #others({ args }: Field): string[] {
    const optional = args.filter((arg) => !isRequiredArgument(arg));
    const chosen = optional.filter(() => this.#one([true, false, false, false]));
    return chosen.map((arg) => `${arg.name}: ${this.#value(arg.type, 3)}`);
  }

  #value(of: GraphQLInputType, depth: number): string {
    const type = getNullableType(of);
    if (isListType(type)) return `[${Array.from({ length: this.#one([0, 1, 1, 2]) }, () => this.#value(type.ofType, depth))}]`;
    if (isEnumType(type)) return this.#one(type.getValues()).name;
    if (!isInputObjectType(type)) return this.#one(wild[type.name as keyof typeof wild] ?? wild.String);
    const fields = Object.values(type.getFields());
    const optional = depth > 0 ? Array.from({ length: this.#one([0, 1, 1, 2]) }, () => this.#one(fields)) : [];
    const given = new Set([...fields.filter(isRequiredInputField), ...optional]);
    return `{${[...given].map((field) => `${field.name}: ${this.#value(field.type, depth - 1)}`)}}`;
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
