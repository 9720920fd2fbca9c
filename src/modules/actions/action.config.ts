import { type Detail, detailOf, type FaultCode } from '../../kernel/base/errors.js';
import type { Check, CheckScope } from '../../kernel/model/checks.js';

/** The configuration of an action, as it is kept: JSON. */
export type Config = Readonly<Record<string, unknown>>;

/** What a field of a configuration must be. */
export interface ConfigField {
  type: 'string' | 'integer' | 'any';
  check?: Check;
  required?: boolean;
  /** The kind of record whose id it is. */
  names?: string;
  /** Other names under which it comes. */
  also?: readonly string[];
}

export type ConfigFields = Readonly<Record<string, ConfigField>>;

/** Tells what is wrong with a field of a configuration. */
export type ReportFault = (member: string, code: FaultCode, message: string, options?: readonly string[]) => void;

const typeWords = { string: 'must be a string', integer: 'must be an integer' } as const;

const isOf = (type: ConfigField['type'], value: unknown): boolean =>
  type === 'any' || (type === 'string' ? typeof value === 'string' : Number.isInteger(value));

/** Under which of its names a field was given. */
const given = (config: Config, name: string, { also = [] }: ConfigField): string | undefined =>
  [name, ...also].find((each) => config[each] !== undefined && config[each] !== null);

/**
 * A configuration with its fields cleaned, each under its own name; what is no field is kept as it is, and has no effect. Reports
 * what is wrong, under the name by which it was given.
 */
export function cleanConfig(fields: ConfigFields, config: Config, reportFault: ReportFault, scope: CheckScope): Config {
  const cleaned: Record<string, unknown> = { ...config };
  for (const [name, member] of Object.entries(fields)) {
    const under = given(config, name, member);
    for (const other of member.also ?? []) delete cleaned[other];
    const value = under && cleanField(member, config[under], (code, message, options) => reportFault(under, code, message, options), scope);
    if (value === null || value === undefined) {
      delete cleaned[name];
      if (member.required && !under) reportFault(name, 'required', 'is required');
    } else cleaned[name] = value;
  }
  return cleaned;
}

function cleanField(
  { type, check, required }: ConfigField,
  value: unknown,
  reportFault: (code: FaultCode, message: string, options?: readonly string[]) => void,
  scope: CheckScope,
): unknown {
  if (type !== 'any' && !isOf(type, value)) {
    reportFault('invalid_type', typeWords[type]);
    return null;
  }
  const cleaned = check ? check(value, '', (_at, code, message, options) => reportFault(code, message, options), scope) : value;
  if (cleaned === null && required) reportFault('required', 'must not be empty');
  return cleaned;
}

/** Faults that are gathered: one of each place. */
export class Faults {
  readonly details: Detail[] = [];

  /** Reports fields of what stands at `at`. */
  at(at: string): ReportFault {
    return (member, code, message, options) => {
      const field = member ? `${at}.${member}` : at;
      if (!this.details.some((detail) => detail.field === field)) this.details.push(detailOf(field, { code, message, options }));
    };
  }
}
