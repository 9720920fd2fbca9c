import { type Detail, detailOf, type FaultCode } from '../../kernel/base/errors.js';
import type { Check, CheckScope } from '../../kernel/model/checks.js';

/** The configuration of an action, as it is kept: JSON. */
export type Config = Readonly<Record<string, unknown>>;

/** What a member of a configuration must be. */
export interface Member {
  type: 'string' | 'integer' | 'any';
  check?: Check;
  required?: boolean;
  /** The kind of record whose id it is. */
  names?: string;
  /** Other names under which it comes. */
  also?: readonly string[];
}

export type Members = Readonly<Record<string, Member>>;

/** Tells what is wrong with a member of a configuration. */
export type Blame = (member: string, code: FaultCode, message: string, options?: readonly string[]) => void;

const typeWords = { string: 'must be a string', integer: 'must be an integer' } as const;

const isOf = (type: Member['type'], value: unknown): boolean =>
  type === 'any' || (type === 'string' ? typeof value === 'string' : Number.isInteger(value));

/** Under which of its names a member was given. */
const given = (config: Config, name: string, { also = [] }: Member): string | undefined =>
  [name, ...also].find((each) => config[each] !== undefined && config[each] !== null);

/**
 * A configuration with its members cleaned, each under its own name; what is no member is kept as it is, and has no effect. Blames
 * what is wrong, under the name by which it was given.
 */
export function cleanConfig(members: Members, config: Config, blame: Blame, scope: CheckScope): Config {
  const cleaned: Record<string, unknown> = { ...config };
  for (const [name, member] of Object.entries(members)) {
    const under = given(config, name, member);
    for (const other of member.also ?? []) delete cleaned[other];
    const value = under && cleanMember(member, config[under], (code, message, options) => blame(under, code, message, options), scope);
    if (value === null || value === undefined) {
      delete cleaned[name];
      if (member.required && !under) blame(name, 'required', 'is required');
    } else cleaned[name] = value;
  }
  return cleaned;
}

function cleanMember(
  { type, check, required }: Member,
  value: unknown,
  blame: (code: FaultCode, message: string, options?: readonly string[]) => void,
  scope: CheckScope,
): unknown {
  if (type !== 'any' && !isOf(type, value)) {
    blame('invalid_type', typeWords[type]);
    return null;
  }
  const cleaned = check ? check(value, '', (_at, code, message, options) => blame(code, message, options), scope) : value;
  if (cleaned === null && required) blame('required', 'must not be empty');
  return cleaned;
}

/** Faults that are gathered: one of each place. */
export class Faults {
  readonly details: Detail[] = [];

  /** Blames members of what stands at `at`. */
  at(at: string): Blame {
    return (member, code, message, options) => {
      const field = member ? `${at}.${member}` : at;
      if (!this.details.some((detail) => detail.field === field)) this.details.push(detailOf(field, { code, message, options }));
    };
  }
}
