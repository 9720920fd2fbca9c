import { ID } from 'type-graphql';
import { unprocessable } from '../base/errors.js';
import { any, type Check, list } from './checks.js';
import { field } from './fields.js';
import { JsonObject } from './scalars.js';

type Class = abstract new (...args: never[]) => object;

/** Some, and at most `max`: more of them is 422. What is wrong with one of them is its own matter. */
const some =
  (max: number): Check =>
  (value, at, report) => {
    const items = value as unknown[];
    if (items.length > max) throw unprocessable(at, 'too_many', `must have at most ${max} items`);
    if (items.length === 0) report(at, 'too_few', 'must have at least one item');
    return items;
  };

const upTo = (max: number, description: string) => `${description}; 1 to ${max}, more are 422`;

/** The records that something is done to, each by itself: an id that names none fails alone. */
export const Targets = (max: number, description: string, options: { required?: boolean } = { required: true }) =>
  field(upTo(max, description), options, {
    type: () => ID,
    list: true,
    check: some(max),
    schema: { minItems: 1, items: { type: 'string', maxLength: 200 } },
  });

/** The record that a row is about: an id that names none is that row's own fault. */
export const Target = (description: string) => field(description, { required: true }, { type: () => ID, check: (value) => value });

/**
 * Some JSON objects, at most `max`. What is wrong with one of them, how large it may be, and that there are none is for whoever reads them
 * to say.
 */
export const JsonObjects = (max: number, description: string) =>
  field(
    description,
    {},
    {
      type: () => JsonObject,
      list: true,
      check: list(max, any),
      schema: { maxItems: max, minItems: 1, items: { type: 'object' } },
    },
  );

/** Rows that each stand for themselves: their types are looked at together, their values when their turn comes. */
export const Rows = (type: () => Class, max: number, description: string) =>
  field(upTo(max, description), { required: true }, { type, list: true, check: some(max), schema: { minItems: 1 } });
