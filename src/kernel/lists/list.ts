import { invalidField } from '../base/errors.js';
import { Printed } from '../base/jsonText.js';
import type { Context } from '../context/context.js';
import { readerOf } from '../database/kinds.js';
import { allOf, rawSql, type Sql, sql } from '../database/sql.js';
import { type ListArgs, Page, pageSize } from '../model/connection.js';
import { decodeCursor, encodeCursor } from './cursor.js';
import type { ListSpec } from './listDefinition.js';
import { idOf, keyText, orderOf, pageAndTotal, type Window } from './pageSql.js';
import { PrintedPage } from './recordSql.js';

export * from './listDefinition.js';

interface Listed {
  id: string;
  _key: string | null;
}

/**
 * One page of a table in one statement: the ids over the sort's index, the rows joined onto them, and the exact total
 * where it is asked for. The rows are what their definition says. Every sort ends in the
 * id; nulls are last both ways; a cursor goes on exactly after its row.
 */
export async function listRows<Row extends { id: string }, S extends string>(
  ctx: Context,
  spec: ListSpec<S>,
  args: ListArgs<object, S>,
  conditions: readonly Sql[],
): Promise<Page<Row>> {
  const { window, tables, total, ask } = plan(ctx, spec, args, conditions);
  const rows = sql`select ${spec.columns}, p._key, p._nth from p
    join ${rawSql(spec.table)} t on t.account_id = ${window.account}::uuid and ${idOf(spec)} = p.id`;
  const json = sql`json_build_object('total', (${total}), 'rows', coalesce((select json_agg(r order by r._nth) from (${rows}) r), '[]'))`;
  const found = JSON.parse(await ask(sql`with ${tables} select ${json}::text`)) as { rows: (Row & Listed)[]; total: number | null };
  found.rows.forEach(readerOf(spec.row ?? {}));
  const cursorOf = (row: Row) => encodeCursor(window.sort, window.order, { key: (row as Row & Listed)._key, id: row.id });
  return new Page<Row>(
    found.rows.slice(0, window.size),
    cursorOf,
    { next: found.rows.length > window.size, previous: isLater(window) },
    found.total,
  );
}

/** The same for a page that goes out as it is: where the door takes print, PostgreSQL writes the records. */
export async function showRows<Row extends { id: string }, S extends string>(
  ctx: Context,
  spec: ListSpec<S> & { record: Sql },
  args: ListArgs<object, S>,
  conditions: readonly Sql[],
): Promise<Page<Row> | PrintedPage> {
  if (!ctx.takesPrint) return listRows<Row, S>(ctx, spec, args, conditions);
  const { window, tables, total, ask } = plan(ctx, spec, args, conditions);
  const { sort, order, size, account } = window;
  const last = sql`select json_build_array(_key, id) from p where _nth = ${size}::int and exists (select 1 from p where _nth > ${size}::int)`;
  const rows = sql`select json_agg(r order by p._nth) from p
    join ${rawSql(spec.table)} t on t.account_id = ${account}::uuid and ${idOf(spec)} = p.id
    cross join lateral (select ${spec.record}) r where p._nth <= ${size}::int`;
  const head = sql`json_build_object('total', (${total}), 'last', (${last}))`;
  const text = await ask(sql`with ${tables} select ${head}::text || E'\n' || coalesce((${rows})::text, '[]')`);
  const end = text.indexOf('\n');
  const { total: sum, last: place } = JSON.parse(text.slice(0, end)) as { total: number; last: [string | null, string] | null };
  const endCursor = place && encodeCursor(sort, order, { key: place[0], id: place[1] });
  return new PrintedPage(new Printed(text.slice(end + 1)), sum, endCursor);
}

/** One live row by its id, as it is shown: printed where the door takes print, else read; null when there is none. */
export async function showRow<Row extends { id: string }>(
  ctx: Context,
  spec: Pick<ListSpec<string>, 'table' | 'key' | 'live' | 'columns' | 'row'> & { record: Sql },
  id: string,
): Promise<Row | Printed | null> {
  const columns = ctx.takesPrint ? spec.record : spec.columns;
  const row = sql`select ${columns} from ${rawSql(spec.table)} t
    where t.account_id = ${ctx.caller.account.id}::uuid and ${idOf(spec)} = ${id}::uuid and ${spec.live ?? sql`t.deleted_at is null`}`;
  const text = await ctx.lookup(sql`select coalesce((select row_to_json(r)::text from (${row}) r), '')`);
  if (text === '') return null;
  return ctx.takesPrint ? new Printed(text) : readerOf<Row>(spec.row ?? {})(JSON.parse(text) as object);
}

const isLater = ({ offset, after }: Window) => offset > 0 || after !== undefined;

/** What is asked for, `p`: the page's ids in order with their places and the text of their keys, and how to ask for it. */
function plan<S extends string>(ctx: Context, spec: ListSpec<S>, args: ListArgs<object, S>, conditions: readonly Sql[]) {
  const [sort, order] = [args.sort ?? spec.byDefault[0], args.order ?? spec.byDefault[1]];
  const key = spec.sorts[sort];
  const size = pageSize(args);
  const after = args.after ? decodeCursor(args.after, sort, order, key) : undefined;
  const offset = ((args.page ?? 1) - 1) * size;
  if (offset > 1e9) throw invalidField('page', 'out_of_range', 'is too far');
  const account = ctx.caller.account.id;
  const where = allOf([sql`t.account_id = ${account}::uuid`, spec.live ?? sql`t.deleted_at is null`, ...conditions]);
  const window: Window = { sort, order, size, offset, after, where, account };
  const isCounted = conditions.length > 0 || spec.counted === false;
  const { tables, total } = pageAndTotal(spec, window, args.selection.has('totalCount') ? (isCounted ? 'counted' : 'kept') : 'none');
  const placed = sql`select id, ${keyText(key)} as _key, row_number() over (order by ${orderOf(key, order)}) as _nth from ids`;
  const isPlanned = conditions.length === 0 && offset === 0 && !after && !key.board;
  const ask = (query: Sql) => (isPlanned ? ctx.planned(query) : ctx.text(query));
  return { window, tables: sql`${tables}, p as materialized (${placed})`, total, ask };
}
