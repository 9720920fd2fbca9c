import type { Prisma } from '../../generated/prisma/client.js';

/** The models of the Prisma schema. */
export type ModelName = Prisma.ModelName;

type Scalars<M extends ModelName> = Prisma.TypeMap['model'][M]['payload']['scalars'];

// A day is written as its text, a decimal as its exact text, a JSON column as whatever can be printed.
type Written<T> = [Prisma.JsonValue] extends [T] ? object | null : Scalar<T>;
type Scalar<T> = T extends Date ? Date | string : T extends Prisma.Decimal ? string | number | Prisma.Decimal : T;

/** What may be written of a model's row. `undefined` leaves a column as it is, or to its default. */
export type Values<M extends ModelName> = { readonly [F in keyof Scalars<M>]?: Written<Scalars<M>[F]> };

/** Refuses what is no column of the model. */
export type Only<M extends ModelName, Row> = { [F in Exclude<keyof Row, keyof Scalars<M>>]: never };

/** What the server adds to a new row. */
export interface Stamps {
  id: string;
  createdAt: Date;
  updatedAt: Date;
}
