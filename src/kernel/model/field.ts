import 'reflect-metadata';
import { Extensions, Field } from 'type-graphql';
import { addRule, type FieldRule } from './fieldRules.js';

export type Class<T = object> = abstract new (...args: never[]) => T;
/** What every line may say of itself. */
export type Options = { required?: boolean; optional?: boolean } & Pick<FieldRule, 'graphName' | 'given'>;

/** Notes a line of a class, and makes the GraphQL field of it. */
export function declare(prototype: object, rule: FieldRule, side: 'output' | 'input', nullable: boolean) {
  addRule(prototype.constructor, rule);
  const type = side === 'input' ? (rule.input ?? rule.type) : rule.type;
  const thunk = () => (rule.list ? [type()] : type()) as never;
  const name = side === 'output' ? rule.graphName : undefined;
  Field(thunk, { nullable, description: rule.description, name })(prototype, rule.name);
  Extensions({ rule })(prototype, rule.name);
}

type Partially = Partial<FieldRule> & Pick<FieldRule, 'type' | 'check'>;

/** The base of every field decorator: `make` says what it is, options whether null is one of its values. */
export function field(description: string, options: Options, make: Partially): PropertyDecorator {
  return (prototype, name) => {
    const { required = false, optional = false, graphName, given } = options;
    const asked = { required: required || optional, optional, graphName, given };
    const rule: FieldRule = { name: String(name), description, list: false, schema: {}, ...asked, ...make };
    declare(prototype, rule, 'output', !rule.required);
  };
}
