import { type GraphQLField, getArgumentValues } from 'graphql';
import type { Context } from '../context/context.js';
import { validId } from '../context/rows.js';
import { withinBytes } from '../database/bytes.js';
import { rawSql, type Sql, sql } from '../database/sql.js';
import { type Bound, slot, Template } from '../database/statement.js';
import type { AnyTable } from '../tables/table.js';
import type { Variables } from './collect.js';
import type { FieldPlan, PagePlan } from './printPlan.js';
import { fieldsSql, newPrintStats, type PrintStats, printedRow, type Run } from './printSql.js';

/** A record by its id, or the one that stands for none, such as the default pipeline. */
export interface RecordPlan {
  table: AnyTable;
  field: GraphQLField<unknown, unknown>;
  node: PagePlan['node'];
  fields: FieldPlan[];
  /** Its statement, where that is the same for every caller and all variables: composed by the first who asks. */
  composed?: Promise<Composed>;
}

interface Composed {
  whole: Template;
  /** `whole`, or `tooMuch` in its place where it has more than so many bytes. */
  bounded: Template;
  records: number;
}

/** The text of a record; `null` where it is not there. */
const textOfRecord = (row: Sql): Sql => sql`select coalesce((${row})::text, 'null') as part`;

function idOf({ field, node }: RecordPlan, variables: Variables): string | undefined {
  const [id] = Object.values(getArgumentValues(field, node, variables)) as (string | null | undefined)[];
  return id ?? undefined;
}

/** The SQL of a record. Throws 404 where the id is malformed. */
export async function recordSql(run: Run, plan: RecordPlan): Promise<Sql> {
  const { table } = plan;
  const id = idOf(plan, run.variables);
  const isAsked = id === undefined ? table.options.unnamed! : sql`${table.id} = ${validId(id, table.what)}::uuid`;
  return rowSql(run, plan, isAsked);
}

async function rowSql(run: Run, { table, fields }: RecordPlan, isAsked: Sql): Promise<Sql> {
  const where = table.readable(run.ctx, run.account, isAsked);
  const { columns, joins } = await fieldsSql(run, fields);
  return sql`select row_to_json(${printedRow}) from (select ${columns} from ${rawSql(table.name)} t ${joins} where ${where}) ${printedRow}`;
}

/** Whether the SQL of a record says the same for all callers and variables, its account and its id aside. */
export const isFixed = ({ table, fields }: Pick<RecordPlan, 'table' | 'fields'>): boolean =>
  !table.options.visible &&
  fields.every((field) => {
    if (field.kind === 'raw') return true;
    return (field.kind === 'one' || field.kind === 'list') && isFixed({ table: field.relation.to, fields: field.fields });
  });

/** How many rows a look-up reads besides its record at most, as fifty records with fifty each: those beside it wait for it. */
const mostLookedUp = 2500;

/** Whether a record is a look-up: what is selected of it reads few rows by their keys, whatever its account has. */
export const isLookup = ({ fields }: Pick<RecordPlan, 'fields'>): boolean => mostRows(fields) <= mostLookedUp;

/** How many rows may be read for what is selected of a record, where there is a limit: neither a page nor a count has one. */
function mostRows(fields: readonly FieldPlan[]): number {
  return fields.reduce((rows, field) => rows + mostRowsOf(field), 0);
}

function mostRowsOf(field: FieldPlan): number {
  switch (field.kind) {
    case 'raw':
      return 0;
    case 'computed':
      return field.table.computed[field.name]!.counts ? Number.POSITIVE_INFINITY : 1;
    case 'one':
      return 1 + mostRows(field.fields);
    case 'list':
      return field.holds * (1 + mostRows(field.fields));
    case 'page':
      return Number.POSITIVE_INFINITY;
  }
}

/** The statement of a record with these values, where it is fixed and the caller's budget allows its records. */
export async function fixedStatement(ctx: Context, plan: RecordPlan, variables: Variables, stats: PrintStats): Promise<Bound | undefined> {
  const id = idOf(plan, variables);
  if (id === undefined) return undefined;
  plan.composed ??= compose(ctx, plan);
  const { whole, bounded, records } = await plan.composed;
  if (records > stats.mostRecords) return undefined;
  const values = { account: ctx.caller.account.id, id: validId(id, plan.table.what) };
  const { budget } = ctx.request;
  return budget ? bounded.with({ ...values, bytes: budget.mostBytes }) : whole.with(values);
}

async function compose(ctx: Context, plan: RecordPlan): Promise<Composed> {
  const stats = newPrintStats(Number.POSITIVE_INFINITY);
  const run: Run = { ctx, account: slot('account', 'uuid'), variables: {}, times: 1, stats };
  const whole = textOfRecord(await rowSql(run, plan, sql`${plan.table.id} = ${slot('id', 'uuid')}`));
  const bounded = withinBytes(whole, slot('bytes', 'int'));
  return { whole: new Template(whole), bounded: new Template(bounded), records: stats.records };
}
