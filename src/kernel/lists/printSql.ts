import { getArgumentValues } from 'graphql';
import type { Context } from '../context/context.js';
import { emptySql, joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { checkListArgs } from '../model/connection.js';
import { isLedTo, isThere, listedRows, type ToMany, type ToOne } from '../tables/relation.js';
import type { AnyTable, ComputedSql } from '../tables/table.js';
import type { Variables } from './collect.js';
import { cursorSql } from './cursor.js';
import { isByIndex, pageSql, type Window } from './pageSql.js';
import { type FieldPlan, NotPrinted, type PageMember, type PagePlan } from './printPlan.js';
import { type AnyListArgs, isLong, type Within, windowOf } from './window.js';

/** One run of a plan: for whom and with which variables. */
export interface Run {
  ctx: Context;
  /** The caller's account. */
  account: Sql;
  variables: Variables;
  /** How often what is printed now is printed: once for each record around it. */
  times: number;
  stats: PrintStats;
}

/** What a run comes to. */
export interface PrintStats {
  /** Whether nothing in it needs a plan of its own. */
  isPlanned: boolean;
  /** Whether one of its lists may take long by itself. */
  isLong: boolean;
  /** How many parameters its filtered lists come to together. */
  parameters: number;
  /** How many records there may be, lists without pages taken for short ones, and how many it is to be at most. */
  records: number;
  mostRecords: number;
  /** How many records are joined to others so far: each has a name of its own. */
  joined: number;
}

export const newPrintStats = (mostRecords: number): PrintStats => ({
  isPlanned: true,
  isLong: false,
  parameters: 0,
  records: 0,
  mostRecords,
  joined: 0,
});

/** What is selected of the rows of `t`, and what is joined to them for it. */
export interface Selected {
  columns: Sql;
  joins: Sql;
}

/** What a list without pages is taken to hold. */
const shortList = 10;

/** A run of what stands within each of some records. Throws where they become more than are to be read in one statement. */
export function within(run: Run, records: number): Run {
  const { stats } = run;
  const times = run.times * records;
  stats.records += times;
  if (stats.records > stats.mostRecords) throw new NotPrinted('too many records');
  return { ...run, times };
}

const quoted = (key: string) => `"${key}"`;

/** The alias of a row that is printed as a whole. PostgreSQL takes a name for a column first: one with a blank is no alias of a client. */
export const printedRow = rawSql('"o "');

/** The select list of a plan, over the alias `t`. */
export async function fieldsSql(run: Run, fields: readonly FieldPlan[]): Promise<Selected> {
  const parts: Sql[] = [];
  const joins: Sql[] = [];
  let raw: string[] = [];
  const flush = () => {
    if (raw.length > 0) parts.push(rawSql(raw.join(', ')));
    raw = [];
  };
  for (const field of fields) {
    if (field.kind === 'raw') {
      raw.push(`${field.sql} as ${quoted(field.key)}`);
      continue;
    }
    if (field.kind === 'one') {
      const name = run.stats.joined++;
      raw.push(`"r ${name}".v as ${quoted(field.key)}`);
      joins.push(await oneSql(run, field.relation, field.fields, name));
      continue;
    }
    flush();
    parts.push(sql`${await fieldSql(run, field)} as ${rawSql(quoted(field.key))}`);
  }
  flush();
  // Of a type without anything selected, which a fragment on another one leaves.
  return { columns: parts.length > 0 ? joinSql(parts, ', ') : emptySql, joins: joins.length > 0 ? joinSql(joins, ' ') : emptySql };
}

function fieldSql(run: Run, field: Exclude<FieldPlan, { kind: 'raw' | 'one' }>): Promise<Sql> | Sql {
  switch (field.kind) {
    case 'computed':
      return computedSql(field.table.computedOf(run.ctx, field.name) as ComputedSql as Sql, field.shown);
    case 'list':
      return listSql(run, field.relation, field.fields);
    case 'page':
      return nestedPage(run, field.relation, field.page);
  }
}

function computedSql(value: Sql, shown: (value: string) => string): Sql {
  if (shown('v') === 'v') return value;
  const text = shown('v.v');
  // Without the offset PostgreSQL would compute the value anew for each of its members.
  const once = text.split('v.v').length > 2 ? rawSql('offset 0') : emptySql;
  return sql`(select ${rawSql(text)} from (select to_json(${value}) as v ${once}) v)`;
}

/** What of the record a relation goes by, as `p.key`. */
const keyOf = (column: string) => rawSql(`(select t.${column} as key) p`);

/**
 * A join of the record that a relation leads to, printed, as `"r 1".v` (null where it is not there). As an expression of the select
 * list each one takes half as long again. The offset keeps it from being planned as one with the rows around it: it is looked up by
 * its key whatever the statistics say.
 */
async function oneSql(run: Run, relation: ToOne, fields: readonly FieldPlan[], name: number): Promise<Sql> {
  const { to, column } = relation;
  const there = isLedTo(relation, run.account, to.options.visible?.(run.ctx));
  const { columns, joins } = await fieldsSql(within(run, 1), fields);
  const [key, joined] = [rawSql(`"k ${name}"`), rawSql(`"r ${name}"`)];
  return sql`cross join lateral (select ${rawSql(`t.${column}`)} as key) ${key} left join lateral (
    select row_to_json(${printedRow}) as v from (select ${columns} from ${rawSql(to.name)} t ${joins}
      where ${there} and ${to.id} = ${key}.key) ${printedRow} offset 0) ${joined} on true`;
}

async function listSql(run: Run, relation: ToMany, fields: readonly FieldPlan[]): Promise<Sql> {
  const { to, column, condition, listed } = relation;
  const there = isThere(to, run.account, to.options.visible?.(run.ctx));
  const rows = listedRows(relation, sql`t.*`, sql`${there} and ${condition}`);
  const { columns, joins } = await fieldsSql(within(run, listed!.latest ? listed!.holds! : shortList), fields);
  return sql`(select coalesce(json_agg(${printedRow} order by t._nth), '[]') from ${keyOf(column)} cross join lateral (${rows}) t
    ${joins} cross join lateral (select ${columns}) ${printedRow})`;
}

async function nestedPage(run: Run, relation: ToMany, page: PagePlan): Promise<Sql> {
  const { tables, members, from } = await pageParts(run, relation.to, page, relation);
  const object = joinSql(
    members.map(({ key, value }) => sql`${rawSql(`'${key}'`)}, ${value}`),
    ', ',
  );
  return sql`(select x.page from ${keyOf(relation.column)} cross join lateral (
    ${tables} select json_build_object(${object}) as page ${from}) x)`;
}

/** A page as the members of its connection, from the aggregate `a` of its rows. */
export interface PageParts {
  tables: Sql;
  members: { key: string; value: Sql }[];
  from: Sql;
}

/** The SQL of a page. Throws 400 naming the argument at fault. */
export async function pageParts(run: Run, table: AnyTable, plan: PagePlan, parent?: Within): Promise<PageParts> {
  const { ctx, variables } = run;
  const args = getArgumentValues(plan.field, plan.node, variables) as AnyListArgs;
  checkListArgs(table.options.list, args, ctx);
  const window = await windowOf(ctx, table, args, { withTotal: plan.withTotal, within: parent });
  if (window.isFiltered || window.offset > 0 || !(isByIndex(window) || (window.board && parent))) run.stats.isPlanned = false;
  if (isLong(window)) run.stats.isLong = true;
  if (window.isFiltered) run.stats.parameters += window.where.values.length;
  const page = pageSql(table, window);
  const rows = new PageRows(run, window);
  const members: PageParts['members'] = [];
  for (const member of plan.members) members.push({ key: member.key, value: await rows.member(member, page.total, table) });
  return { tables: page.tables ? sql`with ${page.tables}` : emptySql, members, from: rows.from(page.rows) };
}

/** The rows of a page, alias `t`, as the columns of one aggregate, alias `a`. */
class PageRows {
  readonly #laterals: Sql[] = [];
  readonly #columns: Sql[] = [];
  #hasEnds = false;
  #hasCount = false;

  constructor(
    private readonly run: Run,
    private readonly window: Window,
  ) {}

  /** The aggregate; nothing where no member needs the rows. */
  from(rows: Sql): Sql {
    const columns = [...this.#columns, ...(this.#hasCount ? [rawSql('count(*) as n')] : []), ...(this.#hasEnds ? this.#ends() : [])];
    if (columns.length === 0) return emptySql;
    const laterals = this.#laterals.length > 0 ? joinSql(this.#laterals, ' ') : emptySql;
    return sql`from (select ${joinSql(columns, ', ')} from (${rows}) t ${laterals}) a`;
  }

  async member(member: PageMember, total: Sql, table: AnyTable): Promise<Sql> {
    switch (member.kind) {
      case 'raw':
        return rawSql(member.sql);
      case 'total':
        return sql`(${total})`;
      case 'nodes':
        return this.#aggregate(rawSql(await this.#lateral(member.fields)));
      case 'edges':
        return this.#edges(member.members);
      case 'info':
        return this.#info(member.members);
      case 'figure':
        return computedSql(sql`(${table.options.figures![member.name]!(this.window.where, this.run.ctx)})`, member.shown);
    }
  }

  /** The selected fields of each row, by an alias. */
  async #lateral(fields: readonly FieldPlan[]): Promise<string> {
    // With a blank, as that of a printed row.
    const alias = `"n ${this.#laterals.length}"`;
    const { columns, joins } = await fieldsSql(within(this.run, this.window.size), fields);
    this.#laterals.push(sql`${joins} cross join lateral (select ${columns}) ${rawSql(alias)}`);
    return alias;
  }

  /** A JSON list of something of each row, as a column of the aggregate. */
  #aggregate(value: Sql): Sql {
    const name = `c${this.#columns.length}`;
    const { isBackward, size } = this.window;
    const order = isBackward ? 'desc' : 'asc';
    this.#columns.push(
      sql`coalesce(json_agg(${value} order by t._nth ${rawSql(order)}) filter (where t._nth <= ${size}::int), '[]') as ${rawSql(name)}`,
    );
    return rawSql(`a.${name}`);
  }

  /** Each edge counts as one record: by its node, else by itself, as a row. */
  async #edges(members: Extract<PageMember, { kind: 'edges' }>['members']): Promise<Sql> {
    const parts: [key: string, value: Sql][] = [];
    for (const member of members) {
      if (member.kind === 'cursor') parts.push([member.key, cursorSql(this.window.of, 't._key', 't.id')]);
      else parts.push([member.key, rawSql(member.kind === 'raw' ? member.sql : `row_to_json(${await this.#lateral(member.fields)})`)]);
    }
    const listed = (each: (key: string, value: Sql) => Sql) =>
      joinSql(
        parts.map(([key, value]) => each(key, value)),
        ', ',
      );
    if (members.some(({ kind }) => kind === 'node'))
      return this.#aggregate(sql`json_build_object(${listed((key, value) => sql`${rawSql(`'${key}'`)}, ${value}`)})`);
    const columns = listed((key, value) => sql`${value} as ${rawSql(quoted(key))}`);
    return this.#aggregate(sql`(select row_to_json("e ") from (select ${columns}) "e ")`);
  }

  #info(members: { key: string; name: string }[]): Sql {
    const { isBackward, cursor, offset, size, of } = this.window;
    this.#hasCount = true;
    const hasMore = sql`a.n > ${size}::int`;
    const isLater = offset > 0 || cursor !== undefined;
    const endOf = (name: string) => {
      this.#hasEnds = true;
      return sql`case when a.n > 0 then ${cursorSql(of, `a.${name}_key`, `a.${name}_id`)} end`;
    };
    const values: Record<string, () => Sql> = {
      hasNextPage: () => (isBackward ? rawSql(String(cursor !== undefined)) : hasMore),
      hasPreviousPage: () => (isBackward ? hasMore : rawSql(String(isLater))),
      startCursor: () => endOf(isBackward ? 'last' : 'first'),
      endCursor: () => endOf(isBackward ? 'first' : 'last'),
      __typename: () => rawSql(`'PageInfo'::text`),
    };
    const parts = members.map(({ key, name }) => sql`${rawSql(`'${key}'`)}, ${values[name]!()}`);
    return sql`json_build_object(${joinSql(parts, ', ')})`;
  }

  /** Key and id of the rows that are read first and last of the page. */
  #ends(): Sql[] {
    const end = (name: string, order: string) =>
      ['_key', 'id'].map(
        (column) =>
          sql`(array_agg(t.${rawSql(column)} order by t._nth ${rawSql(order)}) filter (where t._nth <= ${this.window.size}::int))[1] as ${rawSql(`${name}_${column.replace('_', '')}`)}`,
      );
    return [...end('first', 'asc'), ...end('last', 'desc')];
  }
}
