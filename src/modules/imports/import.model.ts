import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { JsonObjects } from '../../kernel/model/bulkFields.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Count, Entity, Fraction, Id, Input, JsonObject, LongText, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { OwnId } from '../../kernel/model/newRecord.js';

/** The most rows of one import; its body may have 10 MiB. */
export const mostRows = 10_000;
export const bodyCap = 10 * 1024 * 1024;

export const ImportMode = oneOf(
  'ImportMode',
  {
    create: 'Makes a contact of every row',
    update: 'Changes those that are found',
    upsert: 'Changes those that are found, and makes the others',
  },
  'create makes a contact of every row, update changes those that are found, upsert changes or makes',
);
export const ImportMatch = oneOf(
  'ImportMatch',
  { email: 'The e-mail address', phone: 'The phone number', id: 'The id' },
  'By what the contact of a row is found',
);
export const ImportStatus = oneOf(
  'ImportStatus',
  {
    pending: 'It waits to be processed',
    processing: 'Its rows are being written',
    completed: 'All rows were looked at',
    failed: 'It ended before its last row',
  },
  'Where an import stands',
);

@Entity('Contacts that come in from elsewhere', { scope: 'contacts' })
export class Import {
  @Id() id: string;
  @Text(200, 'A name, such as that of the file') name: string | null;
  @OneOf(ImportStatus, 'Where it stands; a failed one may be processed again and goes on where it stopped', { required: true })
  status: keyof typeof ImportStatus;
  @OneOf(ImportMode, 'What becomes of its rows', { required: true }) mode: keyof typeof ImportMode;
  @OneOf(ImportMatch, 'By what the contact of a row is found') matchOn: keyof typeof ImportMatch | null;
  @JsonObject(64, 'The field of each column; columns that are not named are left out', { required: true }) mapping: Record<string, string>;
  @Count('How many rows it has', { required: true }) totalRows: number;
  @Count('How many of them are done, well or not', { required: true }) processedRows: number;
  @Count('How many made a contact', { required: true }) createdCount: number;
  @Count('How many found theirs', { required: true }) updatedCount: number;
  @Count('How many were in error', { required: true }) errorCount: number;
  @Fraction('How much of it is done, 0 to 1', { required: true }) progress: number;
  @Text(500, 'Why it has failed, where it has') error: string | null;
  @Ref('Who made it') createdBy: string | null;
  @Stamp('When its processing began', {}) startedAt: Date | null;
  @Stamp('When its last row was done', {}) completedAt: Date | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Entity('What would become of a row')
export class ImportPreview {
  @Count('Its place, from 1; the line with the names of the columns does not count', { required: true }) row: number;
  @JsonObject(64, 'The fields of the contact', { required: true }) fields: object;
  @Text(2000, 'What is wrong with it') error: string | null;
}

@Input('Contacts to bring in: rows, or the text of a CSV file')
export class CreateImportInput {
  @OwnId() id?: string;
  @Text(200, 'A name, such as that of the file') name?: string | null;
  @JsonObjects(mostRows, 'One object a contact') rows?: Record<string, unknown>[] | null;
  @LongText(
    bodyCap / 1024,
    'The text of a CSV file. Its first line names the columns; separated by commas, semicolons, tabs or bars. Empty cells say nothing',
    { isFile: true },
  )
  csv?: string | null;
  @JsonObject(64, 'The field of each column, null for none: firstName, tags, customFields.<key> …; by their names by default')
  mapping?: Record<string, string | null> | null;
  @OneOf(ImportMode, 'What becomes of the rows; create by default') mode?: keyof typeof ImportMode | null;
  @OneOf(ImportMatch, 'By what the contact of a row is found; email by default') matchOn?: keyof typeof ImportMatch | null;
}

@Entity('A row that could not be imported', { scope: 'contacts' })
export class ImportError {
  @Id() id: string;
  @Count('Its place, from 1', { required: true }) row: number;
  @Text(200, 'The field that is to blame') field: string | null;
  @Text(2000, 'What is wrong', { required: true }) error: string;
  @JsonObject(64, 'The row as it came', { required: true }) data: object;
}

@Input('Which imports')
export class ImportFilter {
  @OneOf(ImportStatus, 'Where they stand') status?: keyof typeof ImportStatus | null;
}

export const ImportSort = oneOf('ImportSort', ['createdAt'], 'Sort keys of imports');

@ArgsType()
export class ImportList extends ListArgsOf(ImportFilter, ImportSort) {}

@ObjectType({ description: 'A page of imports' })
export class ImportConnection extends ConnectionOf(Import) {}

@Input('Which rows in error')
export class ImportErrorFilter {
  @Text(200, 'Where this field is to blame') field?: string | null;
}

export const ImportErrorSort = oneOf('ImportErrorSort', ['row'], 'Sort keys of rows in error');

@ArgsType()
export class ImportErrorList extends ListArgsOf(ImportErrorFilter, ImportErrorSort) {}

@ObjectType({ description: 'A page of rows in error' })
export class ImportErrorConnection extends ConnectionOf(ImportError) {}

/** What is told of imports, which stay. */
export const importEvents = eventsOf('import', 'Import', ['created', 'updated', 'started', 'completed', 'failed']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    import: typeof importEvents;
  }
}
