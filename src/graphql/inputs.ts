import { getMetadataStorage, type ResolverData } from 'type-graphql';

type Class = new () => object;
type Value = Record<string, unknown>;

/** An input type as its instances are made: what they begin with, and the fields that a client may give. */
interface Plan {
  target: Class;
  defaults: Value;
  fields: { name: string; inner?: Plan }[];
}

type Param = ReturnType<typeof getMetadataStorage>['params'][number];
type ArgumentParam = Extract<Param, { kind: 'arg' }>;

/** The arguments that are made here, as TypeGraphQL knew them. */
const replaced = new Map<Param, ArgumentParam>();

/**
 * Runs a build of the schema, after which the resolvers' input arguments are made by plans. TypeGraphQL would look for the type of
 * every field among all input types, in each request: an eighth of the processor time of creating a contact.
 */
export function withPlannedInputs<T>(build: () => T): T {
  for (const [param, own] of replaced) Object.assign(param, own);
  replaced.clear();
  const built = build();
  const plans = new Plans();
  for (const param of getMetadataStorage().params) {
    const plan = param.kind === 'arg' ? plans.of(param.getType() as Class) : undefined;
    if (param.kind !== 'arg' || !plan) continue;
    const own = { ...param };
    replaced.set(param, own);
    Object.assign(param, { kind: 'custom', options: {}, resolver: (data: ResolverData) => argument(own, plan, data) });
  }
  return built;
}

async function argument({ name, validateFn, getType }: ArgumentParam, plan: Plan, data: ResolverData): Promise<unknown> {
  const value = made(plan, data.args[name]);
  await validateFn?.(value as object, getType() as never, data);
  return value;
}

function made(plan: Plan, given: unknown): unknown {
  if (given === null || given === undefined) return given;
  if (Array.isArray(given)) return given.map((item) => made(plan, item));
  const { target, defaults, fields } = plan;
  const value: Value = Object.assign(Object.create(target.prototype), defaults);
  for (const { name, inner } of fields) {
    const own = (given as Value)[name];
    if (own !== undefined) value[name] = inner ? made(inner, own) : own;
  }
  return value;
}

/** The plans of the input types that a schema was built with. */
class Plans {
  readonly #types = new Map(getMetadataStorage().inputTypes.map((type) => [type.target, type]));
  readonly #plans = new Map<unknown, Plan>();

  /** The plan of a class; undefined for what is no input type. */
  of(target: Class): Plan | undefined {
    const known = this.#plans.get(target);
    if (known || !this.#types.has(target)) return known;
    const plan: Plan = { target, defaults: defaultsOf(target), fields: [] };
    // Known before its fields: a type may lead back to itself.
    this.#plans.set(target, plan);
    for (const [name, type] of this.#fieldsOf(target)) plan.fields.push({ name, inner: this.of(type) });
    return plan;
  }

  /** The types of the fields by their names, inherited ones included. */
  #fieldsOf(target: Class): Map<string, Class> {
    const fields = new Map<string, Class>();
    for (let type: unknown = target; typeof type === 'function'; type = Object.getPrototypeOf(type))
      for (const { name, getType } of this.#types.get(type)?.fields ?? []) if (!fields.has(name)) fields.set(name, getType() as Class);
    return fields;
  }
}

const defaultsOf = (target: Class): Value => Object.fromEntries(Object.entries(new target()).filter(([, value]) => value !== undefined));
