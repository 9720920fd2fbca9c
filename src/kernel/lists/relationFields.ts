import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { plainAmount } from '../base/money.js';
import type { Context } from '../context/context.js';
import { type ListArgs, validateListArgs } from '../model/connection.js';
import { type FieldRule, rulesOf } from '../model/fieldRules.js';
import { asNode, Node } from '../model/node.js';
import type { Derived } from '../model/restRecord.js';
import { Decimal } from '../model/scalars.js';
import type { AnswerField } from '../tables/answerField.js';
import type { Relation, ToMany } from '../tables/relation.js';
import type { AnyTable, Computed } from '../tables/table.js';
import { computedLoader, loadMany, loadPage, loadRecord, recordLoader } from './relationRows.js';

type Class = abstract new (...args: never[]) => object;
type Row = Record<string, unknown> & { id: string };
type Resolve = (row: Row, ctx: Context, args?: ListArgs<object, string>) => unknown;

/** Whose fields are declared: a table's, or those of a type that has none. */
interface OfType {
  type: Class;
}

/** A field that is made of a declaration: its resolver class, and what the schema is to know of it. */
export interface DeclaredField {
  of: OfType;
  name: string;
  resolver: NonNullable<unknown>;
  extensions: {
    relation?: Relation;
    record?: readonly string[];
    rule?: FieldRule;
    holds?: number;
    derived?: Derived;
    exactOf?: string;
  };
}

interface Field {
  of: OfType;
  name: string;
  resolve: Resolve;
  /** Its type, where the record's class has no line for it. */
  type?: () => unknown;
  isNullable?: boolean;
  description?: string;
  list?: Class;
}

/** A resolver class of one field, as it would be written by hand. */
function resolverOf({ of, name, resolve, type, isNullable, description, list }: Field): NonNullable<unknown> {
  class Declared {}
  const prototype = Declared.prototype as Record<string, unknown>;
  prototype[name] = resolve;
  Resolver(() => of.type as never)(Declared);
  const rule = ruleOf(of, name);
  const options = rule ? { nullable: !rule.required, description: rule.description } : { nullable: isNullable, description };
  const typeOf = rule ? () => (rule.list ? [rule.type()] : rule.type()) : type;
  FieldResolver(typeOf as never, options)(prototype, name, {});
  Root()(prototype, name, 0);
  Ctx()(prototype, name, 1);
  if (list) ListedBy(list)(prototype, name, 2);
  return Declared;
}

const ruleOf = (of: OfType, name: string) => rulesOf(of.type).find((rule) => rule.name === name);

/** The arguments of a list, validated. */
const ListedBy = (list: Class): ParameterDecorator =>
  Args(() => list as never, { validateFn: validateListArgs as never }) as ParameterDecorator;

/** A record whose type only its row says. */
async function nodeOf(ctx: Context, type: unknown, id: unknown): Promise<object | null> {
  const table = ctx.app.registry.tables.get(String(type)) as AnyTable | undefined;
  const record = table ? await loadRecord(ctx, table, id) : null;
  return record && asNode(String(type), record);
}

const made = new WeakMap<object, DeclaredField[]>();

/** Made once, however many schemas there are: TypeGraphQL keeps what it is told. */
function once(declaration: object, make: () => DeclaredField[]): DeclaredField[] {
  const known = made.get(declaration) ?? make();
  made.set(declaration, known);
  return known;
}

/** A relation's field: what it leads to for rows that were read, by loaders. */
export const relationFields = (relation: Relation): DeclaredField[] =>
  once(relation, () => {
    const { of, to, name, description, record } = relation;
    const holds = relation.kind === 'many' ? relation.listed?.holds : undefined;
    const resolve = relationResolver(relation);
    const field: Field =
      relation.kind === 'one'
        ? { of, name, description, resolve, type: () => to.type, isNullable: !relation.required }
        : relation.listed
          ? { of, name, description, resolve, type: () => [to.type] }
          : { of, name, description, resolve, type: () => to.options.page, list: to.options.list };
    return [{ of, name, resolver: resolverOf(field), extensions: { relation, record, rule: ruleOf(of, name), holds } }];
  });

function relationResolver(relation: Relation): Resolve {
  const { name } = relation;
  // A statement may have brought it along.
  if (relation.kind === 'one')
    return (row, ctx) => (row[name] === undefined ? recordLoader(ctx, relation).maybe(row[relation.key] as string | null) : row[name]);
  const many: ToMany = relation;
  if (many.listed) return (row, ctx) => row[name] ?? loadMany(ctx, many, row.id);
  return (row, ctx, args) => loadPage(ctx, many, row.id, args!);
}

/** A field of an answer: the record that its id leads to, as it is when it is asked for. */
export const answerFields = (field: AnswerField): DeclaredField[] =>
  once(field, () => {
    const { to, key, name, description } = field;
    const of = { type: field.of };
    const resolve: Resolve = to ? (row, ctx) => loadRecord(ctx, to, row[key]) : (row, ctx) => nodeOf(ctx, row.recordType, row[key]);
    const type = () => to?.type ?? Node;
    return [{ of, name, resolver: resolverOf({ of, name, description, resolve, type, isNullable: true }), extensions: {} }];
  });

/** A table's computed fields: for rows that do not carry them. */
export const computedFields = (table: AnyTable): DeclaredField[] =>
  once(table, () =>
    Object.entries(table.computed as Record<string, Computed>)
      .filter(([name]) => !table.options.carried?.includes(name))
      .flatMap(([name, { of: derived, type, isNullable, description, record }]) => {
        const resolve: Resolve = (row, ctx) =>
          row[name] !== undefined ? row[name] : derived ? derived(row, ctx) : computedLoader(ctx, table, name).load(row.id);
        const resolver = resolverOf({ of: table, name, resolve, type, isNullable, description });
        const field = { of: table, name, resolver, extensions: { record, rule: ruleOf(table, name), derived } };
        return type?.() === Decimal ? [field, exactField(table, name, resolve, { isNullable, description })] : [field];
      }),
  );

/** The exact form of a computed amount: text, for what a number of JavaScript cannot hold. */
function exactField(of: AnyTable, name: string, amount: Resolve, { isNullable, description }: Partial<Field>): DeclaredField {
  const exactly = `${name}Exact`;
  const resolve: Resolve = async (row, ctx) => plainAmount((await amount(row, ctx)) as string | null);
  const told = `The same exactly, as text. ${description}`;
  const resolver = resolverOf({ of, name: exactly, resolve, type: () => String, isNullable, description: told });
  return { of, name: exactly, resolver, extensions: { exactOf: name } };
}
