import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { defaultPageSize, maxPageSize, mostCounted } from '../kernel/model/connection.js';
import type { Endpoint } from '../kernel/module/routes.js';
import type { BoundEndpoint } from './endpoints.js';
import { isRepeatable } from './openapi.responses.js';
import { reference, type Schema, type Schemas } from './openapi.schemas.js';
import { countable, type ParameterTarget, smallPage, snakeName } from './query.js';

const sizeText = (size: number) =>
  `The page size, ${size} where neither it nor limit is given; more than ${maxPageSize} counts as ${maxPageSize}`;

/** The parameters that operations share. Those by which others are beaten or refused have no default: clients would send it. */
export const sharedParameters: Record<string, Schema> = {
  page: {
    name: 'page',
    in: 'query',
    description: 'The page number, from 1, which is shown where neither it nor cursor is given; not together with cursor',
    schema: { type: 'integer', minimum: 1 },
  },
  per_page: {
    name: 'per_page',
    in: 'query',
    description: sizeText(defaultPageSize),
    schema: { type: 'integer', minimum: 1 },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: `Another name for the page size, which per_page beats; more than ${smallPage} counts as ${smallPage}`,
    schema: { type: 'integer', minimum: 1 },
  },
  cursor: {
    name: 'cursor',
    in: 'query',
    description:
      'meta.next_cursor of the page before, or its X-Next-Cursor where the answer has no meta: goes on exactly after its last record',
    schema: { type: 'string' },
  },
  count: {
    name: 'count',
    in: 'query',
    description: `How meta.total is found: exactly; estimated, which counts to ${mostCounted} at most where it would have to be counted; or not at all, which is the fastest with a filter that many records meet`,
    schema: { type: 'string', enum: countable.getValues().map(({ name }) => name), default: 'exact' },
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes a retry safe: the same key with the same request answers the stored outcome for 24 hours, with another one 409',
    schema: { type: 'string', minLength: 8, maxLength: 200 },
  },
};

export const pathNames = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

function pathParameter(bound: BoundEndpoint, name: string): Schema {
  const arg = bound.field?.args.find((a) => a.name === (bound.endpoint.pathArgs?.[name] ?? name));
  const isOurs = !bound.endpoint.foreignIds?.includes(name);
  const isId = isOurs && (!arg || getNamedType(arg.type).name === 'ID');
  return {
    name,
    in: 'path',
    required: true,
    description: arg?.description ?? (isOurs ? 'The id of the record' : 'The id by which the vendor knows it'),
    schema: isId ? { type: 'string', format: 'uuid' } : { type: 'string' },
  };
}

/** Everything that an operation takes in its path and query string. */
export function parametersOf(bound: BoundEndpoint, schema: GraphQLSchema, schemas: Schemas): Schema[] {
  const { endpoint, targets } = bound;
  const field = endpoint.filters ? schema.getQueryType()?.getFields()[endpoint.filters] : bound.field;
  const parameters = pathNames(endpoint.path).map((name) => pathParameter(bound, name));
  const names = new Map<ParameterTarget, string[]>();
  for (const [name, target] of targets) names.set(target, [...(names.get(target) ?? []), name]);
  if (endpoint.minimal) parameters.push(minimalParameter(endpoint.minimal));
  for (const name of Object.keys(endpoint.extras ?? {})) parameters.push(flagParameter(name, `Whether meta.${name} is answered`));
  for (const [name, description] of Object.entries(endpoint.flags ?? {})) parameters.push(flagParameter(name, description));
  if (endpoint.include) parameters.push(includeParameter(Object.keys(endpoint.include)));
  if ([...names.keys()].some(({ type }) => type === countable)) parameters.push(reference('parameters', 'count'));
  for (const [target, all] of names)
    if (target.type !== countable && !isOfTheEndpoint(endpoint, all[0]!))
      parameters.push(...queryParameters(argumentAt(field!, target.path), { target, all }, schemas));
  const takes = (name: string) => endpoint.list && field?.args.some((a) => a.name === name);
  if (takes('page')) parameters.push(reference('parameters', 'page'));
  if (takes('perPage')) parameters.push(sizeParameter(endpoint), reference('parameters', 'limit'));
  if (takes('after')) parameters.push(reference('parameters', 'cursor'));
  if (isRepeatable(bound)) parameters.push(reference('parameters', 'Idempotency-Key'));
  return parameters;
}

/** The page size, with what it is on the endpoint where none is given. */
const sizeParameter = ({ pageSize }: Endpoint): Schema =>
  pageSize ? { ...sharedParameters.per_page!, description: sizeText(pageSize) } : reference('parameters', 'per_page');

/** Parameters that the endpoint brings itself, which no argument takes. */
const isOfTheEndpoint = (endpoint: Endpoint, name: string) =>
  endpoint.extras?.[name] !== undefined ||
  endpoint.flags?.[name] !== undefined ||
  (endpoint.include !== undefined && name === 'include') ||
  (endpoint.minimal !== undefined && name === 'minimal');

const minimalParameter = (members: readonly string[]): Schema => ({
  name: 'minimal',
  in: 'query',
  description: `Whether the records have these members alone: ${members.join(', ')}`,
  schema: { type: 'boolean', default: false },
});

const flagParameter = (name: string, description: string): Schema => ({
  name,
  in: 'query',
  description,
  schema: { type: 'boolean', default: false },
});

const includeParameter = (names: string[]): Schema => ({
  name: 'include',
  in: 'query',
  description: 'The relations that each record carries along',
  schema: { type: 'array', items: { type: 'string', enum: names } },
  style: 'form',
  explode: false,
});

/** The parameter whose object has objects within it. */
const tree = 'filters';

/** One argument under its snake_case name, and under each other name that the parser takes for it. */
function queryParameters(argument: GraphQLInputField, { target, all }: { target: ParameterTarget; all: string[] }, schemas: Schemas) {
  const own = snakeName(target.path.at(-1)!);
  const main = target.path.length > 1 && all.includes(own) ? own : all[0]!;
  const others = all.filter((name) => name !== main);
  const written = [
    parameter(main, undefined, argument, schemas, others.length === 0),
    ...others.map((name) => parameter(name, `Another name for ${main}`, argument, schemas, false)),
  ];
  if (others.length > 0) return written.map((one) => ({ ...one, schema: shared(one, argument, schemas) }));
  return written.map((one) => withDefault(one, target));
}

/** A parameter with its default; in words where one that is sent would beat what a filter says. */
function withDefault(one: Schema, { byDefault, isByFilter }: ParameterTarget): Schema {
  if (!byDefault) return one;
  if (isByFilter) return { ...one, description: `${one.description}; ${byDefault} where no filter says otherwise` };
  return { ...one, schema: { ...(one.schema as Schema), default: byDefault } };
}

function argumentAt(field: GraphQLField<unknown, unknown>, path: string[]): GraphQLInputField {
  const arg = field.args.find((a) => a.name === path[0])!;
  const inner = getNamedType(arg.type);
  return (path.length > 1 && isInputObjectType(inner) ? inner.getFields()[path[1]!]! : arg) as GraphQLInputField;
}

function parameter(name: string, text: string | undefined, argument: GraphQLInputField, schemas: Schemas, isAlone: boolean): Schema {
  const type = isNonNullType(argument.type) ? argument.type.ofType : argument.type;
  const isRequired = isAlone && type !== argument.type;
  const { description: own, ...schema } = withoutNull(schemas.argument(argument));
  const description = text ?? own ?? name;
  const head = { name, in: 'query', ...(isRequired && { required: true }) };
  if (getNamedType(argument.type).name === 'JSONObject') {
    // Generators know no parameters with content: a flat object goes member by member, a tree as its JSON.
    if (name !== tree) return { ...head, description: `${description}; as JSON too`, schema, style: 'deepObject', explode: true };
    const text = { type: 'string', contentMediaType: 'application/json', contentSchema: schema };
    return { ...head, description: `${description}; as JSON`, schema: text };
  }
  return { ...head, description, schema, ...(isListType(type) && { style: 'form', explode: false }) };
}

/** The values of an enumeration under several names are a component: generators would make a type of each name, some of them the same. */
function shared({ schema }: Schema, argument: GraphQLInputField, schemas: Schemas): Schema {
  const { enum: values, items, ...rest } = schema as Schema & { items?: Schema };
  const type = getNamedType(argument.type);
  if (!isEnumType(type)) return schema as Schema;
  if (items) return { ...rest, items: shared({ schema: items }, argument, schemas) };
  schemas.components[type.name] ??= { type: 'string', enum: values, ...(type.description && { description: type.description }) };
  return reference('schemas', type.name);
}

/** A query string holds no null. */
function withoutNull(schema: Schema): Schema {
  const kept = { ...schema };
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((t) => t !== 'null');
    kept.type = types.length === 1 ? types[0] : types;
  }
  if (Array.isArray(schema.enum)) kept.enum = schema.enum.filter((v) => v !== null);
  return kept;
}
