import { type DocumentNode, type GraphQLObjectType, type GraphQLSchema, getNamedType, getOperationAST, OperationTypeNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { AppError } from '../base/errors.js';
import { PrintedData, type PrintedField } from '../base/jsonText.js';
import { defined } from '../base/objects.js';
import type { Context } from '../context/context.js';
import { momentOf, type OfTheMoment } from '../context/moment.js';
import type { Printer } from '../context/printer.js';
import { orItsBytes, separator, separatorSql, tooMuch, whole, withinBytes } from '../database/bytes.js';
import { accountSql, emptySql, joinSql, type Sql, sql } from '../database/sql.js';
import type { Bound } from '../database/statement.js';
import { isInWords } from '../model/enums.js';
import { fragmentsOf } from '../model/selections.js';
import type { AnyTable } from '../tables/table.js';
import { collect, directiveVariables, type SelectionContext, type Variables } from './collect.js';
import { isOfNodes, type NodesPlan, nodesSql, planNodes } from './printNodes.js';
import { NotPrinted, type PagePlan, planFields, planPage } from './printPlan.js';
import { fixedStatement, isFixed, isLookup, type RecordPlan, recordSql } from './printRecord.js';
import { newPrintStats, type PrintStats, pageParts, type Run } from './printSql.js';
import { manyParameters } from './window.js';

/** A root field that is a declared read, or leads to records of any type. */
type RootPlan = { key: string } & (
  | { kind: 'list'; table: AnyTable; page: PagePlan }
  | ({ kind: 'one'; isFixed: boolean; isLookup: boolean } & RecordPlan)
  | ({ kind: 'nodes' } & NodesPlan)
  | { kind: 'moment'; read: OfTheMoment }
  | { kind: 'typename'; name: string }
);

/** What one statement prints at most: nothing else is answered meanwhile where the database is in this process. */
const mostPrinted = 10_000;

/** What one statement takes at most: PostgreSQL counts its parameters up to 65,535. Each list of a larger one is a statement of its own. */
const mostParameters = 20_000;

/** The plans of a document by the values of the variables that its directives name. */
const mostPlans = 16;

/** The printer of one operation of a validated document; undefined where none of it is printed. */
export function printerOf(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): Printer | undefined {
  const definition = getOperationAST(document, operationName);
  if (definition?.operation !== OperationTypeNode.QUERY) return undefined;
  const names = directiveVariables(document);
  const fragments = fragmentsOf(document);
  const inWords = isInWords(document);
  const plans = new LRUCache<string, { roots?: RootPlan[] }>({ max: mostPlans });
  const planFor = (variables: Variables) => {
    const key = names.map((name) => String(variables[name])).join(' ');
    const known = plans.get(key);
    if (known) return known.roots;
    const conditions = Object.fromEntries(names.map((name) => [name, variables[name]]));
    const made = { roots: planRoots({ schema, fragments, conditions, inWords }, schema.getQueryType()!, definition.selectionSet) };
    plans.set(key, made);
    return made.roots;
  };
  return async (ctx, variables) => {
    const roots = planFor(variables);
    return roots && print(roots, ctx, defined(variables));
  };
}

function planRoots(
  context: SelectionContext,
  query: GraphQLObjectType,
  set: Parameters<typeof collect>[2][number],
): RootPlan[] | undefined {
  try {
    return [...collect(context, query, [set])].map(([key, group]): RootPlan => {
      const node = group[0]!;
      if (node.name.value === '__typename') return { kind: 'typename', key, name: query.name };
      const field = query.getFields()[node.name.value];
      const moment = momentOf(field);
      if (moment) return { kind: 'moment', key, read: moment };
      if (field && isOfNodes(field)) return { kind: 'nodes', key, ...planNodes(context, field, group) };
      const table = field?.extensions.reads as AnyTable | undefined;
      if (!field || !table) throw new NotPrinted(node.name.value);
      const type = getNamedType(field.type) as GraphQLObjectType;
      if (!type.extensions.table) return { kind: 'list', key, table, page: planPage(context, table, field, group) };
      const fields = planFields(context, type, group);
      return { kind: 'one', key, table, field, node, fields, isFixed: isFixed({ table, fields }), isLookup: isLookup({ fields }) };
    });
  } catch (error) {
    if (error instanceof NotPrinted) return undefined;
    throw error;
  }
}

/** A root field as SQL: the texts of its parts. A connection has one a member, so that REST can take it apart. */
interface Root {
  key: string;
  tables?: Sql;
  parts: { key?: string; value: Sql }[];
  from: Sql;
}

/** A part of what is printed, and under which name. */
type Printing = Pick<Root, 'key'> & { parts: { key?: string }[] };

async function print(plans: readonly RootPlan[], ctx: Context, variables: Variables): Promise<PrintedData | undefined> {
  const { budget } = ctx.request;
  const stats = newPrintStats(Math.min(budget?.mostRecords ?? mostPrinted, mostPrinted));
  let asked: Asked | undefined;
  try {
    asked = (await fixed(plans, ctx, variables, stats)) ?? (await composed(plans, ctx, variables, stats));
  } catch (error) {
    // What is wrong is told by the resolvers, field by field.
    if (error instanceof AppError || error instanceof NotPrinted) return undefined;
    throw error;
  }
  if (!asked || asked.query.values.length > mostParameters) return undefined;
  const { query, printing } = asked;
  const [plan] = plans;
  const isLookedUp = plans.length === 1 && plan?.kind === 'one' && plan.isLookup;
  const read = () => (isLookedUp ? ctx.lookup(query) : stats.isPlanned ? ctx.planned(query) : ctx.text(query));
  const text = whole(await (stats.isLong || stats.parameters > manyParameters ? ctx.longRead(read) : read()));
  // The resolvers find out how much of it is refused.
  if (text === tooMuch) return undefined;
  budget?.show(recordsIn(text));
  return assembled(plans, printing, text.split(separator));
}

/** A statement that prints root fields, and what its parts are. */
interface Asked {
  query: Bound;
  printing: readonly Printing[];
}

/** A single record whose statement is composed already. */
async function fixed(plans: readonly RootPlan[], ctx: Context, variables: Variables, stats: PrintStats): Promise<Asked | undefined> {
  const [plan] = plans;
  if (plans.length > 1 || plan?.kind !== 'one' || !plan.isFixed) return undefined;
  const query = await fixedStatement(ctx, plan, variables, stats);
  return query && { query, printing: [{ key: plan.key, parts: [{}] }] };
}

async function composed(plans: readonly RootPlan[], ctx: Context, variables: Variables, stats: PrintStats): Promise<Asked | undefined> {
  // Nobody needs to be calling to ask what type the root has.
  if (plans.every(({ kind }) => kind === 'typename')) return undefined;
  const { budget, mostBytes } = ctx.request;
  const run: Run = { ctx, account: accountSql(ctx.caller.account.id), variables, times: 1, stats };
  const roots: Root[] = [];
  for (const plan of plans) {
    if (plan.kind !== 'typename') roots.push(await rootSql(run, plan));
    // Each that may take long is read by itself, so that others come in between.
    if (stats.isLong && plans.length > 1) return undefined;
  }
  const selects = roots.map(({ tables = emptySql, parts, from }) => {
    const texts = parts.map(({ value }) => sql`coalesce((${value})::text, 'null')`);
    return sql`${tables} select concat_ws(${separatorSql}, ${joinSql(texts, ', ')}) as part ${from}`;
  });
  const query = selects.length === 1 ? selects[0]! : together(selects);
  if (budget) return { query: withinBytes(query, sql`${budget.mostBytes}::int`), printing: roots };
  return { query: orItsBytes(query, mostBytes), printing: roots };
}

/** The parts of several selects as one text. */
const together = (selects: Sql[]): Sql => {
  const parts = selects.map((select) => sql`(${select})`);
  return sql`select concat_ws(${separatorSql}, ${joinSql(parts, ', ')}) as part`;
};

/**
 * How many records a printed text shows. They are rows, which PostgreSQL writes without the spaces that it puts into the objects
 * of columns and pages; within a text no quote follows a brace unescaped.
 */
function recordsIn(text: string): number {
  let records = 0;
  for (let at = text.indexOf('{"'); at >= 0; at = text.indexOf('{"', at + 2)) {
    const end = text.indexOf('"', at + 2);
    if (text[end + 1] === ':' && text[end + 2] !== ' ') records++;
  }
  return records;
}

function assembled(plans: readonly RootPlan[], roots: readonly Printing[], texts: readonly string[]): PrintedData | undefined {
  let next = 0;
  const fields: PrintedField[] = [];
  for (const plan of plans) {
    if (plan.kind === 'typename') {
      fields.push({ key: plan.key, text: JSON.stringify(plan.name) });
      continue;
    }
    const { parts } = roots.find(({ key }) => key === plan.key)!;
    const own = texts.slice(next, next + parts.length);
    next += parts.length;
    if (plan.kind === 'moment' || plan.kind === 'nodes') fields.push({ key: plan.key, text: own[0]! });
    else if (plan.kind === 'one') {
      // Why it is not there is for the resolver to say.
      if (own[0] === 'null') return undefined;
      fields.push({ key: plan.key, text: own[0]! });
    } else {
      const members = parts.map(({ key }, i) => ({ key: key!, text: own[i]! }));
      fields.push({ key: plan.key, text: `{${members.map(({ key, text }) => `"${key}":${text}`).join(',')}}`, members });
    }
  }
  return new PrintedData(fields);
}

async function rootSql(run: Run, plan: Exclude<RootPlan, { kind: 'typename' }>): Promise<Root> {
  if (plan.kind === 'moment') return { key: plan.key, parts: [{ value: sql`to_json((${plan.read(run.ctx)})::text)` }], from: emptySql };
  if (plan.kind === 'nodes') return { key: plan.key, parts: [{ value: await nodesSql(run, plan) }], from: emptySql };
  if (plan.kind === 'list') {
    const { tables, members, from } = await pageParts(run, plan.table, plan.page);
    return { key: plan.key, tables, parts: members, from };
  }
  return { key: plan.key, parts: [{ value: await recordSql(run, plan) }], from: emptySql };
}
