import { GraphQLID, isScalarType } from 'graphql';
import { Float, ID, Int } from 'type-graphql';
import type { Prisma } from '../../generated/prisma/client.js';
import {
  bigint,
  day,
  decimal,
  flag,
  instant,
  integer,
  json,
  type Kind,
  listOf,
  nullable,
  real,
  type Shape,
  text,
  uuid,
} from '../database/kinds.js';
import { columnName, rawSql, type Sql, scalarFieldsOf } from '../database/sql.js';
import { type FieldRule, rulesOf } from '../model/fieldRules.js';
import { DateTime, Day, Decimal } from '../model/scalars.js';

type Model = Prisma.ModelName;
type Class<T = object> = abstract new (...args: never[]) => T;
/** The fields of a model that are columns. */
type Column<M extends Model> = keyof Prisma.TypeMap['model'][M]['payload']['scalars'];
/** Those of a class's fields that are columns of a model. */
type Kept<M extends Model, C> = { [F in keyof C & Column<M>]: Kind<C[F]> };

/** Those of a class's fields that bear one of these names. */
export type Shown<C, N extends PropertyKey> = { [F in N & keyof C]: Kind<C[F]> };

/** The columns of a model's rows, by the lines of the class that shows them, and some more. */
export interface ModelRow<S extends Shape = Shape, C extends object = object> {
  model: Model;
  type: Class<C>;
  shape: S;
  /** The columns as a select list over an alias, `t` by default. */
  columns(alias?: string): Sql;
}

/** The rows of a model: the columns that its class has a line for, and `more`, which no record shows. */
export function modelRow<M extends Model, C extends object, X extends Shape = Record<never, never>>(
  model: M,
  type: Class<C>,
  more?: X,
): ModelRow<Kept<M, C> & X, C> {
  const columns = scalarFieldsOf(model);
  const shown = rulesOf(type).filter(({ name }) => columns.includes(name));
  const shape = { ...Object.fromEntries(shown.map((rule) => [rule.name, columnKindOf(rule)])), ...more } as Kept<M, C> & X;
  return { model, type, shape, columns: (alias = 't') => selectList(shape, alias) };
}

/** What a statement answers that selects every field of a class, whatever it makes them of. */
export const shapeOf = <C extends object>(type: Class<C>): { [F in keyof C]: Kind<C[F]> } =>
  Object.fromEntries(rulesOf(type).map((rule) => [rule.name, columnKindOf(rule)])) as { [F in keyof C]: Kind<C[F]> };

/** The columns of a shape over an alias, each under its field's name. */
export const selectList = (shape: Shape, alias: string): Sql =>
  rawSql(
    Object.entries(shape)
      .map(([name, { asText }]) => `${alias}.${columnName(name)}${asText ? '::text' : ''} as "${name}"`)
      .join(', '),
  );

/** The kind of the values that a line of a model describes. */
export function columnKindOf(rule: FieldRule): Kind<unknown> {
  const single = singleKind(rule.type());
  // A list of objects is one JSON value, as an object is.
  const kind = rule.list && single.sql !== 'json' ? listOf(single) : single;
  return rule.required ? kind : nullable(kind);
}

const kinds = new Map<unknown, Kind<unknown>>([
  [DateTime, instant],
  [Day, day],
  [Decimal, decimal],
  [Int, integer],
  [Float, real],
  [Boolean, flag],
  [ID, uuid],
  [GraphQLID, uuid],
  [String, text],
  [BigInt, bigint],
]);

function singleKind(type: unknown): Kind<unknown> {
  const known = kinds.get(type);
  if (known) return known;
  // An enumeration is kept as its words, everything else that is no scalar of its own as JSON.
  return typeof type === 'object' && !isScalarType(type) ? text : json();
}
