import { type RowOf, records, type Shape } from '../../kernel/database/kinds.js';
import { fieldsOf, joinSql, rawSql, type Sql, selectList, sql } from '../../kernel/database/sql.js';
import { modelRow } from '../../kernel/lists/modelRow.js';
import { printed, printedObject } from '../../kernel/lists/recordSql.js';
import { Company } from '../companies/company.model.js';
import { Contact } from '../contacts/contact.model.js';
import { Pipeline, Stage } from '../pipelines/pipeline.model.js';
import { Deal, DealProduct } from './deal.model.js';
import { dealRow, dealTable } from './deal.table.js';

export { type DealRow, dealRow } from './deal.table.js';

const lineRow = modelRow('DealProduct', DealProduct);

/** A deal with its lines. */
export const wholeDealRow = { ...dealRow.shape, products: records(lineRow.shape) };
export type WholeDeal = RowOf<typeof wholeDealRow>;

/** A line as the deal shows it, over the alias `i`. */
const productJson = sql`json_build_object('id', i.id, 'name', i.name, 'description', i.description, 'quantity', i.quantity::text,
  'unitPrice', i.unit_price::text, 'discount', i.discount::text, 'tax', i.tax::text, 'sortOrder', i.sort_order::text)`;

const products = sql`coalesce((select json_agg(${productJson} order by i.sort_order, i.id) from deal_products i
  where i.account_id = t.account_id and i.deal_id = t.id), '[]') as products`;

/** The columns of a deal's row with its lines, over the alias `t`. */
export const wholeDeal = sql`${dealTable.columns}, ${products}`;

/** One record that a deal leads to, over the alias `r`. */
interface Target {
  type: abstract new () => object;
  model: Parameters<typeof fieldsOf>[0];
  from: string;
  without: string[];
}

const targets: Record<string, Target> = {
  stage: { type: Stage, model: 'Stage', from: 'stages r where r.account_id = t.account_id and r.id = t.stage_id', without: [] },
  pipeline: {
    type: Pipeline,
    model: 'Pipeline',
    from: 'pipelines r where r.account_id = t.account_id and r.id = t.pipeline_id',
    without: [],
  },
  contact: {
    type: Contact,
    model: 'Contact',
    from: 'contacts r where r.account_id = t.account_id and r.id = t.contact_id',
    without: ['emailLower', 'searchText', 'tagIds', 'scoreFactors'],
  },
  company: { type: Company, model: 'Company', from: 'companies r where r.account_id = t.account_id and r.id = t.company_id', without: [] },
};

const isKey = (field: string) => field === 'id' || field === 'assignedTo' || field.endsWith('Id');

/** The target's columns: where only plain ones of it are selected no others but its keys. */
function columnsOf({ model, without }: Target, selected: string[]): Sql {
  const fields = fieldsOf(model);
  const isPlain = selected.every((name) => fields.includes(name));
  const left = fields.filter((field) => isPlain && !selected.includes(field) && !isKey(field));
  return selectList(model, 'r', [...new Set([...left, ...without, 'deletedAt'])]);
}

const user = sql`(select to_json(u) from (
  select r.user_id as id, r.name, r.role, r.status, r.last_active_at as "lastActiveAt", r.created_at as "createdAt",
    (select p.email from users p where p.id = r.user_id) as email
  from memberships r where r.account_id = t.account_id and r.user_id = t.assigned_to) u) as "assignedUser"`;

/** The fields selected of what stands below the prefixes, by its name. */
function selectedBelow(selection: ReadonlySet<string>, prefixes: string[]) {
  const paths = prefixes.flatMap((prefix) =>
    [...selection].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length)),
  );
  return (name: string) =>
    paths.flatMap((path) => (path.startsWith(`${name}.`) && path.split('.').length === 2 ? [path.slice(name.length + 1)] : []));
}

/** The shape of what `dealColumnsFor` selects. What it leads to is as JSON tells it: the doors print it. */
export function dealShapeFor(selection: ReadonlySet<string>, prefixes: string[]): Shape {
  const fieldsBelow = selectedBelow(selection, prefixes);
  return fieldsBelow('products').length > 0 ? wholeDealRow : dealRow.shape;
}

/** What of a deal's lines and of the records that it leads to is selected, as columns over the alias `t`. */
export function dealColumnsFor(selection: ReadonlySet<string>, prefixes: string[]): Sql {
  const fieldsBelow = selectedBelow(selection, prefixes);
  const columns = [dealTable.columns];
  if (fieldsBelow('products').length > 0) columns.push(products);
  if (fieldsBelow('assignedUser').length > 0) columns.push(user);
  for (const [name, target] of Object.entries(targets)) {
    const selected = fieldsBelow(name);
    if (selected.length === 0) continue;
    const row = sql`select ${columnsOf(target, selected)} from ${rawSql(target.from)} and r.deleted_at is null`;
    columns.push(sql`(select to_json(x) from (${row}) x) as ${rawSql(`"${name}"`)}`);
  }
  return joinSql(columns, ', ');
}

const lines = sql`coalesce((select json_agg(${printedObject(DealProduct, 'i', ['id', 'name', 'description', 'quantity', 'unitPrice', 'discount', 'tax', 'sortOrder'])} order by i.sort_order, i.id)
  from deal_products i where i.account_id = t.account_id and i.deal_id = t.id), '[]')`;

const printedUser = sql`(select json_build_object('id', r.user_id, 'name', r.name, 'email', (select p.email from users p where p.id = r.user_id))
  from memberships r where r.account_id = t.account_id and r.user_id = t.assigned_to)`;

/** The record of a deal as it is shown, with what is selected of the records that it leads to; `missedBefore` is when an appointment must have been. */
export function dealRecord(selection: ReadonlySet<string>, prefix: string, missedBefore: Date): Sql {
  const fieldsBelow = selectedBelow(selection, [prefix]);
  const joined: Record<string, Sql> = {
    products: lines,
    appointmentMissed: sql`(t.status = 'open' and t.appointment_at < ${missedBefore}::timestamptz) is true`,
  };
  if (fieldsBelow('assignedUser').length > 0) joined.assignedUser = printedUser;
  for (const [name, { type, from }] of Object.entries(targets)) {
    const selected = fieldsBelow(name);
    if (selected.length > 0)
      joined[name] = sql`(select ${printedObject(type, 'r', selected)} from ${rawSql(from)} and r.deleted_at is null)`;
  }
  return printed(Deal, joined);
}
