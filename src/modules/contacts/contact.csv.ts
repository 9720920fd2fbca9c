import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import type { Context } from '../../kernel/context/context.js';
import { rawSql, sql } from '../../kernel/database/sql.js';
import { listRows } from '../../kernel/lists/list.js';
import { clean } from '../../kernel/model/cleaning.js';
import { maxPageSize, type Page } from '../../kernel/model/connection.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import type { RawReply, RawRequest } from '../../kernel/module/routes.js';
import { tagOrder } from '../tags/tag.table.js';
import { ContactFields, ContactFilter, type ContactList, type ContactSort } from './contact.model.js';
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
  ...own.map((value) => (value === null ? '' : String(value))),
  tagsCell(names),
  custom === null ? '' : JSON.stringify(custom),
];

// A cell that a spreadsheet would run as a formula is led by an apostrophe.
const toCsv = (rows: (string | undefined)[][]) => stringify(rows, { escape_formulas: true, record_delimiter: 'windows' });

type PageAfter = (after: string | null) => Promise<Page<Exported>>;

/** The next page is read while its forerunner is on its way. */
async function* linesOf(first: Page<Exported>, pageAfter: PageAfter): AsyncGenerator<string> {
  yield toCsv([columns]);
  for (let page = first; ; ) {
    const next = page.pageInfo.hasNextPage ? pageAfter(page.pageInfo.endCursor) : undefined;
    // Where nobody takes the rest of the file, nobody waits for it.
    next?.catch(() => undefined);
    if (page.nodes.length > 0) yield toCsv(page.nodes.map(cells));
    if (!next) return;
    page = await next;
  }
}

const file = (name: string, body: RawReply['body']): RawReply => ({
  type: 'text/csv; charset=utf-8',
  headers: { 'Content-Disposition': `attachment; filename="${name}"` },
  body,
});

/**
 * Contract GET /contacts/export: all contacts that the list's filters leave, streamed. The first page is read before the first
 * byte is sent, so that what the list refuses is refused; a fault later cuts the connection before the end of the body.
 */
export async function exportCsv(ctx: Context, { args }: RawRequest): Promise<RawReply> {
  const { filter, sort, order } = args as { filter?: ContactFilter; sort?: keyof typeof ContactSort; order?: 'asc' | 'desc' };
  clean(ContactFilter, filter, ctx);
  const pageAfter: PageAfter = (after) => {
    const asked = { filter, sort, order, first: maxPageSize, after, selection: new Set<string>() } as ContactList;
    return listRows(ctx, contactTable, asked, { columns: exported, row: {} });
  };
  return file('contacts.csv', Readable.from(linesOf(await pageAfter(null), pageAfter)));
}

const example: Record<string, string> = {
  ...{ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', phone: '+15551234567', company: 'Analytical Engines' },
  ...{ jobTitle: 'Mathematician', source: 'referral', addressLine1: '12 St James Square', city: 'London', zip: 'SW1Y 4JH', country: 'GB' },
  ...{
    timezone: 'Europe/London',
    masterStatus: 'lead',
    language: 'en',
    doNotContact: 'false',
    tags: 'VIP, newsletter',
    customFields: '{}',
  },
};

/** Contract GET /contacts/import/template: the columns, and one example. */
export const importTemplate = async (): Promise<RawReply> =>
  file('contacts-template.csv', toCsv([columns, columns.map((column) => example[column] ?? '')]));
