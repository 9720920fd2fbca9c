import { isObjectType, isScalarType } from 'graphql';
import type { Printed } from '../base/jsonText.js';
import { columnName, joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { type FieldRule, rulesOf } from '../model/fieldRules.js';
import { DateTime, Decimal } from '../model/scalars.js';

/** A page of records that PostgreSQL wrote. */
export class PrintedPage {
  constructor(
    readonly nodes: Printed,
    readonly totalCount: number,
    private readonly endCursor: string | null,
  ) {}

  get pageInfo() {
    return { hasNextPage: this.endCursor !== null, endCursor: this.endCursor };
  }
}

type Class = abstract new (...args: never[]) => object;

/**
 * The select list of a class's REST record over the alias `t`, written as the API writes it. A field that is no column of
 * its own comes with `joined`, whatever its name; every field of the record that has no column must.
 */
export function printed(type: Class, joined: Record<string, Sql> = {}): Sql {
  const own = rulesOf(type).filter(({ name }) => !joined[name]);
  const given = Object.entries(joined).map(([name, value]) => sql`${value} as ${rawSql(`"${name}"`)}`);
  const columns = [...own.filter(isId), ...own.filter((rule) => !isId(rule))].map((rule) =>
    rawSql(`${shownAs(rule, 't')} as "${rule.name}"`),
  );
  return joinSql([...columns, ...given]);
}

const isId = ({ name }: FieldRule) => name === 'id';

/** An object of some fields of a class's record over an alias, written in the same way. */
export function printedObject(type: Class, alias: string, names: readonly string[]): Sql {
  const rules = rulesOf(type).filter(({ name }) => names.includes(name));
  return rawSql(`json_build_object(${rules.map((rule) => `'${rule.name}', ${shownAs(rule, alias)}`).join(', ')})`);
}

const instant = (column: string) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

function shownAs(rule: FieldRule, alias: string): string {
  const column = `${alias}.${columnName(rule.name)}`;
  const type = rule.type();
  if (type === DateTime) return instant(column);
  if (type === Decimal) return `trim_scale(${column})`;
  if (isScalarType(type) || isObjectType(type) || typeof type !== 'function' || plain.has(type)) return column;
  const members = rulesOf(type).map(({ name }) => `'${name}', ${column}->'${name}'`);
  return `case when ${column} is not null then json_build_object(${members.join(', ')}) end`;
}

const plain = new Set<unknown>([String, Number, Boolean]);
