import { type GraphQLEnumType, type GraphQLSchema, getNamedType, isEnumType, isObjectType } from 'graphql';
import { codeMeanings } from '../kernel/base/errorMeanings.js';
import { type ErrorCode, statusOf } from '../kernel/base/errors.js';
import { ready } from '../kernel/feed/eventFields.js';
import type { RecordFeed } from '../kernel/feed/recordFeed.js';
import { isConnection } from '../kernel/model/connection.js';
import type { AnyTable } from '../kernel/tables/table.js';

type MeaningOf = (value: string) => string | null | undefined;

/** Says what the values of enumerations mean, where that follows from what they stand for; fails the boot where one says nothing. */
export function explainEnums(schema: GraphQLSchema, feeds: readonly RecordFeed[]): void {
  const events = new Map(feeds.flatMap(({ of }) => of.names.map((name) => [name, of.type] as const)));
  explain(schema, 'EventKind', (name) =>
    name === ready
      ? 'What a subscription begins with, where that is asked for'
      : `The event ${name}, of records of the type ${events.get(name)}`,
  );
  explain(schema, 'ErrorCode', (code) => `${codeMeanings[code as ErrorCode]} (status ${statusOf[code as ErrorCode]})`);
  explain(schema, 'ApiKeyScope', (scope) => `The domain ${scope}: what its operations answer and change`);
  explainSorts(schema);
  const silent = Object.values(schema.getTypeMap()).filter(isOurs).flatMap(silentOf);
  if (silent.length > 0) throw new Error(`These values do not say what they mean: ${silent.join(', ')}`);
}

const isOurs = (type: unknown): type is GraphQLEnumType => isEnumType(type) && !type.name.startsWith('__');

const silentOf = (type: GraphQLEnumType): string[] =>
  type.getValues().flatMap(({ name, description }) => (description ? [] : [`${type.name}.${name}`]));

function explain(schema: GraphQLSchema, name: string, meaningOf: MeaningOf): void {
  const type = schema.getType(name);
  if (isEnumType(type)) explainValues(type, meaningOf);
}

function explainValues(type: GraphQLEnumType, meaningOf: MeaningOf): void {
  for (const one of type.getValues()) one.description ??= meaningOf(String(one.value));
}

/** A sort key is a field of the records of its list, or says what it is. */
function explainSorts(schema: GraphQLSchema): void {
  for (const list of Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()))) {
    const sort = list.args.find(({ name }) => name === 'sort');
    const page = getNamedType(list.type);
    if (!sort || !isConnection(page)) continue;
    const record = getNamedType(page.getFields().nodes!.type);
    const type = getNamedType(sort.type);
    if (!isObjectType(record) || !isEnumType(type)) continue;
    const sorts = (record.extensions.table as AnyTable | undefined)?.sorts as Record<string, { description?: string }> | undefined;
    explainValues(type, (key) => sorts?.[key]?.description ?? record.getFields()[key]?.description);
  }
}
