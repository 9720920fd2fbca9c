import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
} from 'graphql';
import type { Context } from '../kernel/context/context.js';
import { mostItems } from '../kernel/model/recordMarks.js';
import { isStructure } from './guards.cost.js';

type Field = GraphQLField<unknown, Context>;

/**
 * Has every field that answers records spend them of its request's budget, where one is set: each item of a list, each
 * record that a relation leads to. What the database reads does not bound an answer, since a record that is read once can be
 * shown a thousand times. Fails the boot when a list without pages does not say how many records it holds.
 */
export function countRecords(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields()) as Field[]) {
      const answered = getNamedType(field.type);
      if (!isCompositeType(answered) || isStructure(answered)) continue;
      if (!isListType(getNullableType(field.type))) countOne(field);
      else {
        checkHolds(`${type.name}.${field.name}`, field);
        countItems(field);
      }
    }
  }
}

function checkHolds(at: string, field: Field): void {
  // Those of a connection are bounded by its page.
  if (field.name === 'nodes' || field.name === 'edges' || field.args.some(({ name }) => name === 'first') || mostItems(field)) return;
  throw new Error(`${at} is a list without pages and says not how many records it holds`);
}

function countItems(field: Field): void {
  const resolve = field.resolve ?? propertyOf(field.name);
  const counted = (items: unknown, { request: { budget } }: Context) => {
    const turn = Array.isArray(items) ? budget?.show(items.length) : undefined;
    return turn ? turn.then(() => items) : items;
  };
  field.resolve = (source, args, ctx, info) => {
    const { budget } = ctx.request;
    if (budget?.refusal) return budget.instead([]);
    const items = resolve(source, args, ctx, info);
    return items instanceof Promise ? items.then((found) => counted(found, ctx)) : counted(items, ctx);
  };
}

function countOne(field: Field): void {
  const { resolve } = field;
  if (!resolve) return;
  field.resolve = (source, args, ctx, info) => {
    const { budget } = ctx.request;
    if (budget?.refusal) return budget.instead(null);
    budget?.show(1);
    return resolve(source, args, ctx, info);
  };
}

const propertyOf =
  (name: string): GraphQLFieldResolver<unknown, Context> =>
  (source) =>
    (source as Record<string, unknown>)[name];
