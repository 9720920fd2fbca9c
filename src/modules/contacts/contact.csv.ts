import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { withOwnApostrophes } from '../../kernel/base/formulas.js';
import type { Context } from '../../kernel/context/context.js';
import { json, listOf, nullable, uuid } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { listRows } from '../../kernel/lists/list.js';
import { type Ids, listIds } from '../../kernel/lists/listIds.js';
import { clean } from '../../kernel/model/cleaning.js';
import { maxPageSize, type SortOrder } from '../../kernel/model/connection.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import type { RawReply, RawRequest } from '../../kernel/module/routes.js';
import { whileAllowed } from '../auth/auth.recheck.js';
import { savedFilter } from '../smartLists/smartList.service.js';
import { tagOrder } from '../tags/tag.table.js';
import { ContactFields, ContactFilter, type ContactSort } from './contact.model.js';
import { contactTable } from './contact.table.js';

/** What of a contact is no column of files: ids of other records, and what this system or an older one keeps for itself. */
const left: ReadonlySet<string> = new Set([
  ...['companyId', 'assignedTo', 'legacyStatus', 'externalBackend', 'doNotContactReason', 'attribution'],
  'customFields',
]);

/** The columns of the export and of the import template. */
const columns = [...namesOf(ContactFields).filter((name) => !left.has(name)), 'tags', 'customFields'];

/** Names in one cell: as a JSON list where one of them holds what separates names, or the cell would look like such a list. */
function tagsCell(names: string[]): string {
  const cell = names.join(', ');
  return cell.startsWith('[') || names.some((name) => /[,;]/.test(name)) ? JSON.stringify(names) : cell;
}

/** A contact as the cells of the columns that are its own, with what makes the other two. */
interface Exported {
  id: string;
  own: (string | boolean | null)[];
  names: string[];
  custom: object | null;
}

const ownColumns = columns.slice(0, -2).map((name) => contactTable.columnOf(name));

const exported = sql`t.id, json_build_array(${rawSql(ownColumns.join(', '))}) as own, nullif(t.custom_fields, '{}') as custom, (
  select coalesce(json_agg(g.name order by ${rawSql(tagOrder('g'))}), '[]') from tags g
  where g.account_id = t.account_id and g.id = any(t.tag_ids)) as names`;

const cells = ({ own, names, custom }: Exported) => [
  ...own.map((value) => (value === null ? '' : withOwnApostrophes(String(value)))),
  withOwnApostrophes(tagsCell(names)),
  custom === null ? '' : JSON.stringify(custom),
];

// A cell that a spreadsheet would run as a formula is led by an apostrophe. Where a delimiter is named, the library leaves cells with
// another line break without quotes unless it is told: the rest of such a cell would be a row of its own, and could begin with a formula.
const toCsv = (rows: (string | undefined)[][]) =>
  stringify(rows, { escape_formulas: true, record_delimiter: 'windows', quote_record_delimiter: true });

/** Some rows of the file, and how those after them are read. */
interface Portion {
  rows: Exported[];
  next?: () => Promise<Portion>;
}

/** Which contacts, and their order. */
interface Asked {
  filter: ContactFilter;
  sort?: keyof typeof ContactSort;
  order?: SortOrder;
  /** Conditions of a saved list. */
  more: Sql[];
}

/** Pages of the list, each after the one before: for an order that no change of a contact changes. */
async function pageAfter(ctx: Context, { more, ...args }: Asked, after: string | null): Promise<Portion> {
  const asked = { ...args, first: maxPageSize, after, selection: new Set<string>() };
  const { nodes, pageInfo } = await listRows<Exported>(ctx, contactTable, asked, { columns: exported, row: {}, more });
  return { rows: nodes, next: pageInfo.hasNextPage ? () => pageAfter(ctx, { more, ...args }, pageInfo.endCursor) : undefined };
}

const exportedById = statement({
  name: 'exportedContacts',
  takes: { ids: listOf(uuid) },
  row: { id: uuid, own: json<Exported['own']>(), names: json<string[]>(), custom: nullable(json<object>()) },
  planned: true,
  text: ({ account, ids }) =>
    sql`select ${exported} from contacts t where t.account_id = ${account} and t.id = any(${ids}) and ${contactTable.live}`,
});

/** Rows in the order in which all stood at one moment: who was changed since keeps that place, who was deleted since is left out. */
async function rowsFrom(ctx: Context, ids: Ids, begin: number): Promise<Portion> {
  const end = begin + maxPageSize;
  const portion = ids.slice(begin, end);
  const found = new Map((await ctx.rows(exportedById, { ids: portion })).map((row) => [row.id, row]));
  return { rows: portion.flatMap((id) => found.get(id) ?? []), next: end < ids.length ? () => rowsFrom(ctx, ids, end) : undefined };
}

/**
 * What a file begins with for who asks for that: Excel takes one without it for the code page of the machine. Other readers would have it
 * for a part of the first name.
 */
const beginning = (args: RawRequest['args']) => (args?.bom ? '\uFEFF' : '');

/** The lines of the file. The next portion is read while its forerunner is on its way, as long as the caller may still read. */
async function* linesOf(first: Portion, checkRights: () => Promise<void>, begun: string): AsyncGenerator<string> {
  yield begun + toCsv([columns]);
  for (let portion = first; ; ) {
    const { next: readNext } = portion;
    const next = readNext && checkRights().then(readNext);
    // Where nobody takes the rest of the file, nobody waits for it.
    next?.catch(() => undefined);
    if (portion.rows.length > 0) yield toCsv(portion.rows.map(cells));
    if (!next) return;
    portion = await next;
  }
}

const file = (name: string, body: RawReply['body']): RawReply => ({
  type: 'text/csv; charset=utf-8',
  headers: { 'Content-Disposition': `attachment; filename="${name}"` },
  body,
});

/** What is exported. The saved list is read once: whoever changes or deletes it meanwhile changes no file that is on its way. */
async function askedOf(ctx: Context, { filter, sort, order }: Partial<Asked>): Promise<Asked> {
  clean(ContactFilter, filter, ctx);
  const { smartListId, ...own } = filter ?? {};
  const saved = await savedFilter<keyof typeof ContactSort>(ctx, 'contact', smartListId);
  return { filter: own, sort: sort ?? saved.sort, order: order ?? (sort ? undefined : saved.order), more: saved.conditions };
}

/**
 * Contract GET /contacts/export: all contacts that the list's filters leave, streamed, each once whatever is changed meanwhile. The first
 * portion is read before the first byte is sent, so that what the list refuses is refused; a fault later, or the end of the caller's
 * rights, cuts the connection before the end of the body.
 */
export async function exportCsv(ctx: Context, { args }: RawRequest): Promise<RawReply> {
  const asked = await askedOf(ctx, args as Partial<Asked>);
  const isFixed = (asked.sort ?? 'createdAt') === 'createdAt';
  const first = isFixed ? pageAfter(ctx, asked, null) : rowsFrom(ctx, await listIds(ctx, contactTable, asked, asked.more), 0);
  return file('contacts.csv', Readable.from(linesOf(await first, whileAllowed(ctx), beginning(args))));
}

const example: Record<string, string> = {
  ...{ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', phone: '+15551234567', company: 'Analytical Engines' },
  ...{ jobTitle: 'Mathematician', source: 'referral', addressLine1: '12 St James Square', city: 'London', zip: 'SW1Y 4JH', country: 'GB' },
  ...{
    timezone: 'Europe/London',
    masterStatus: 'lead',
    language: 'en',
    tags: 'VIP, newsletter',
    customFields: '{}',
  },
};

/** Contract GET /contacts/import/template: the columns, and one example. */
export const importTemplate = async (_ctx: Context, { args }: RawRequest): Promise<RawReply> =>
  file('contacts-template.csv', beginning(args) + toCsv([columns, columns.map((column) => example[column] ?? '')]));
