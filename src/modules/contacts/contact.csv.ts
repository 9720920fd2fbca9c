import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import type { Context } from '../../kernel/context/context.js';
import { clean } from '../../kernel/model/cleaning.js';
import type { Page } from '../../kernel/model/connection.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import type { RawReply, RawRequest } from '../../kernel/module/routes.js';
import { ContactFields, ContactFilter, type ContactList, type ContactSort } from './contact.model.js';
import { type ContactRow, listContacts } from './contact.service.js';

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

const cells = (contact: ContactRow) =>
  columns.map((column) => {
    if (column === 'tags') return tagsCell(contact.tags?.map((tag) => tag.name) ?? []);
    const value = (contact as Record<string, unknown>)[column];
    if (column === 'customFields') return Object.keys(contact.customFields).length > 0 ? JSON.stringify(value) : '';
    return value === null || value === undefined ? '' : String(value);
  });

// A cell that a spreadsheet would run as a formula is led by an apostrophe.
const toCsv = (rows: (string | undefined)[][]) => stringify(rows, { escape_formulas: true, record_delimiter: 'windows' });

type PageAfter = (after: string | null) => Promise<Page<ContactRow>>;

async function* linesOf(first: Page<ContactRow>, pageAfter: PageAfter): AsyncGenerator<string> {
  yield toCsv([columns]);
  for (let page = first; ; page = await pageAfter(page.pageInfo.endCursor)) {
    if (page.nodes.length > 0) yield toCsv(page.nodes.map(cells));
    if (!page.pageInfo.hasNextPage) return;
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
  const selection = new Set(['nodes.tags']);
  const pageAfter: PageAfter = (after) => listContacts(ctx, { filter, sort, order, first: 200, after, selection } as ContactList);
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
