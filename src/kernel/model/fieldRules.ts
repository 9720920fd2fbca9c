import type { GraphQLField, GraphQLScalarType } from 'graphql';
import { ID } from 'type-graphql';
import type { Check } from './checks.js';

// biome-ignore lint/complexity/noBannedTypes: TypeGraphQL names types by their constructor
type Type = Function | GraphQLScalarType | object;

/** What one line of a model says of its field: type, limits, text. Read by validation, GraphQL and the OpenAPI writer. */
export interface FieldRule {
  name: string;
  /** The name that GraphQL shows it under, where that is another: the `id` of a part, which is no record's own. */
  graphName?: string;
  description: string;
  /** The GraphQL type on output and, where it differs, on input. */
  type: () => Type;
  input?: () => Type;
  list: boolean;
  /** Never null: given on create, or filled by the server. */
  required: boolean;
  /** Has a default, so that create may leave it out. */
  optional: boolean;
  /**
   * Must be given, which the operation looks for by itself: GraphQL knows nothing that must be there and may be null. Null is a value of
   * it, or none.
   */
  given?: 'orNull' | 'value';
  /** Null is the same as to leave it out, so that a default holds: in a create input. */
  nullIsAbsent?: boolean;
  /** The id of the record itself, by which its type is a node. */
  isIdentity?: boolean;
  /** The id that a client chooses for a new record; GraphQL's alone, REST knows no such member. */
  isOwnId?: boolean;
  /** An amount, which GraphQL shows exactly as well: `valueExact` beside `value`. */
  exact?: boolean;
  /** Other words that REST takes for a member of an enumeration. */
  spellings?: Record<string, string>;
  /** A text that is the same whatever its case: an e-mail address. */
  isCaseless?: boolean;
  /** A text of tens of kilobytes or more: looking for something in many of them takes long. */
  isLong?: boolean;
  /** A list that REST takes as one text too, its items with commas between them. */
  orOne?: boolean;
  check: Check;
  /** JSON Schema members for the OpenAPI document. */
  schema: Record<string, unknown>;
}

const rulesByClass = new Map<object, FieldRule[]>();

/** Notes a line of a class. */
export function addRule(target: object, rule: FieldRule): void {
  rulesByClass.set(target, [...(rulesByClass.get(target) ?? []), rule]);
}

/** The rules of a class, its ancestors' first. */
export function rulesOf(target: object): FieldRule[] {
  const parent = Object.getPrototypeOf(target);
  const inherited = parent && parent !== Function.prototype ? rulesOf(parent) : [];
  const own = rulesByClass.get(target) ?? [];
  return [...inherited.filter((r) => !own.some((o) => o.name === r.name)), ...own];
}

/** The names of the fields that a class has a line for. */
export const namesOf = (target: object): string[] => rulesOf(target).map(({ name }) => name);

/** The member of a row that a field of a GraphQL object shows. */
export function memberOf({ name, extensions }: Pick<GraphQLField<unknown, unknown>, 'name' | 'extensions'>): string {
  const { exactOf, rule } = extensions as { exactOf?: string; rule?: FieldRule };
  return exactOf ?? rule?.name ?? name;
}

/** Whether a line is of one text, or of one id. */
export const isText = ({ list, type }: FieldRule): boolean => !list && (type() === String || type() === ID);

/** Whether a line is of one yes or no. */
export const isFlag = ({ list, type }: FieldRule): boolean => !list && type() === Boolean;
