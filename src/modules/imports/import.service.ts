import { AppError, check, conflict, found, invalidField } from '../../kernel/base/errors.js';
import { nextTurn } from '../../kernel/base/eventLoop.js';
import { type Context, validId } from '../../kernel/context/context.js';
import type { JobFor } from '../../kernel/context/jobQueue.js';
import { grouped } from '../../kernel/context/loaders.js';
import { instant, integer, json, listOf, nullable, type RowOf, text, uuid, word } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { listRows } from '../../kernel/lists/list.js';
import { inFinalTransaction, readProgress, saveProgress } from '../../kernel/operations/detached.js';
import { loader } from '../../kernel/operations/loader.js';
import { rowsByIds } from '../../kernel/operations/rowsByIds.js';
import { shapeOf } from '../../kernel/tables/modelRow.js';
import { definitionsToWrite } from '../customFields/customField.values.js';
import { checkTrial } from '../plans/plan.limits.js';
import { readCsv, readRows, type SourceRow } from './import.csv.js';
import { importedFrom, mappingOf, mostOfRow, rowTooLong } from './import.mapping.js';
import {
  type CreateImportInput,
  Import,
  type ImportError,
  type ImportErrorList,
  type ImportList,
  type ImportPreview,
} from './import.model.js';
import { importErrorTable, importTable } from './import.table.js';

const row = shapeOf(Import);
/** Nobody writes rows for so long, by the database's clock: the process that did is gone. */
const abandoned = sql`interval '10 minutes'`;

/** GET /imports: the newest first. */
export const listImports = (ctx: Context, args: ImportList) => listRows<Import>(ctx, importTable, args);

/** GET /imports/{id}: with how much of it is done. */
export async function getImport(ctx: Context, id: string): Promise<Import> {
  const [known] = await importsById(ctx, [validId(id, 'Import')]);
  return found(known, 'Import');
}

/** Imports by id, for many keys in one statement; null for one that is none. */
const importsById = rowsByIds(importTable);

/** GET /imports/{id}/errors: the rows that could not be imported, in their order. */
export async function listErrors(ctx: Context, id: string, args: ImportErrorList) {
  const { id: import_ } = await getImport(ctx, id);
  return listRows<ImportError>(ctx, importErrorTable, args, { more: [sql`t.import_id = ${import_}::uuid`] });
}

/** Those of all imports. */
export const listAllErrors = (ctx: Context, args: ImportErrorList) => listRows<ImportError>(ctx, importErrorTable, args);

async function read({ rows, csv }: CreateImportInput) {
  // To look at some megabytes of text took its time.
  await nextTurn();
  const source = rows && (await readRows(rows));
  check(Boolean(source) !== Boolean(csv), () =>
    invalidField('rows', source ? 'conflicting' : 'required', source ? 'cannot be combined with csv' : 'or csv is required'),
  );
  return source ?? readCsv(csv!);
}

/** Deletes what was never finished, and the one that is named; answers until when one that is begun now is kept. */
export const forgetUnfinished = statement({
  name: 'forgetUnfinishedImports',
  takes: { id: nullable(uuid) },
  row: { until: instant },
  changes: true,
  text: ({ account, id }) => sql`
    with gone as (select id from imports where account_id = ${account} and total_rows = 0
        and (coalesce(leased_until, created_at + ${abandoned}) < now() or id = ${id}::uuid) for update),
      rows as (delete from import_rows where account_id = ${account} and import_id in (select id from gone)),
      old as (delete from imports where account_id = ${account} and id in (select id from gone))
    select now() + ${abandoned} as until`,
});

const blank = { status: 'pending', error: null, totalRows: 0, processedRows: 0, createdCount: 0, updatedCount: 0, errorCount: 0 };

/** An import as it begins. 400 naming `matchOn` where no column leads to what contacts are found by. */
function fieldsOf(input: CreateImportInput, mapping: Import['mapping']) {
  const mode = input.mode ?? 'create';
  const matchOn = mode === 'create' ? null : (input.matchOn ?? 'email');
  const isLedTo = !matchOn || Object.values(mapping).includes(matchOn);
  check(isLedTo, () => invalidField('matchOn', 'conflicting', `needs a column that leads to ${matchOn}`));
  return { ...blank, id: input.id, name: input.name ?? null, mode, matchOn, mapping };
}

const complete = statement({
  name: 'completeImport',
  takes: { id: uuid, rows: integer, unreadable: integer },
  row,
  changes: true,
  text: ({ account, id, rows, unreadable }) => sql`
    update imports t set total_rows = ${rows}, processed_rows = ${unreadable}, error_count = ${unreadable}
    where t.account_id = ${account} and t.id = ${id} returning ${importTable.columns}`,
});

/** What is noted of an import that was begun under an `Idempotency-Key`. */
interface Begun {
  id: string;
}

/**
 * POST /imports: keeps the rows and says how they would be read; nothing is imported yet. They are written in portions, so that
 * nobody waits for all of them; until the last is written there is no such import. What was begun with under the same
 * `Idempotency-Key`, and not finished, is begun anew.
 */
export async function createImport(ctx: Context, input: CreateImportInput): Promise<Import> {
  const { columns: names, rows } = await read(input);
  const { id } = await ctx.transaction(async (inside) => {
    // The definitions are held to the end, and before any import: a field that gets another key has it by now, or finds this import.
    const mapping = mappingOf(names, input.mapping, await definitionsToWrite(inside, 'contact'));
    const given = fieldsOf(input, mapping);
    checkTrial(inside);
    const [{ until }] = (await inside.rows(forgetUnfinished, { id: readProgress<Begun>(ctx)?.id ?? null })) as [{ until: Date }];
    const begun = inside.insert('Import', { ...given, createdBy: ctx.caller.userId, leasedUntil: until });
    await saveProgress(inside, { id: begun.id } satisfies Begun);
    return begun;
  });
  try {
    await keepRows(ctx, id, rows);
    const unreadable = rows.filter(({ error }) => error).length;
    return await inFinalTransaction(ctx, async (inside) => {
      const [record] = await inside.rows(complete, { id, rows: rows.length, unreadable });
      await inside.emit({ name: 'import.created', record: found(record, 'Import') });
      return record!;
    });
  } catch (error) {
    // What was finished all the same stays: where the connection was lost at its end, this waits for what became of it.
    await ctx.transaction((inside) => inside.rows(forgetUnfinished, { id })).catch(() => {});
    throw error;
  }
}

/** Characters of rows that one statement writes. */
const writtenAtOnce = 64 * 1024;
/** Characters that each row has besides its data. */
const ofEachRow = 200;

async function keepRows(ctx: Context, importId: string, rows: readonly SourceRow[]): Promise<void> {
  let [from, size] = [0, 0];
  for (const [nth, { data }] of rows.entries()) {
    size += data.text.length + ofEachRow;
    if (size < writtenAtOnce && nth < rows.length - 1) continue;
    const portion = rows.slice(from, nth + 1).map(({ data, error = null }, i) => ({
      importId,
      row: from + i + 1,
      data,
      status: error ? 'failed' : 'pending',
      error,
    }));
    await ctx.transaction(async (inside) => {
      for (const one of portion) inside.insert('ImportRow', one);
    });
    await nextTurn();
    [from, size] = [nth + 1, 0];
  }
}

/** So many rows of an import are shown as they are read, however long it is completed. */
export const previewed = 5;

/** The most imports whose first rows one statement reads: with the most that a row may have they are some megabytes. */
const previewedAtOnce = 25;

const firstRow = {
  importId: uuid,
  row: integer,
  data: nullable(json<Record<string, unknown>>()),
  error: nullable(text),
  mapping: json<Record<string, string>>(),
  mode: word<Import['mode']>(),
};

// Of a row no more is read than it says of its contact, nor anything where that is too long: columns that are left out may have megabytes.
const firstRows = statement({
  name: 'firstImportRows',
  takes: { ids: listOf(uuid) },
  row: firstRow,
  text: ({ account, ids }) => sql`
    select r.import_id as "importId", r.row, case when m.size <= ${mostOfRow}::int then m.data end as data, r.error,
      i.mapping, i.mode
    from import_rows r
    join imports i on i.account_id = r.account_id and i.id = r.import_id
    cross join lateral (
      select coalesce(jsonb_object_agg(e.key, e.value), '{}') as data,
        coalesce(sum(octet_length(e.value #>> '{}')) filter (where jsonb_typeof(e.value) = 'string'), 0) as size
      from jsonb_each(r.data) e where jsonb_exists(i.mapping, e.key)) m
    where r.account_id = ${account} and r.import_id = any(${ids}) and r.row <= ${previewed}::int order by r.row`,
});

async function previewOf(
  ctx: Context,
  { row, data, error, mapping, mode }: Omit<RowOf<typeof firstRow>, 'importId'>,
): Promise<ImportPreview> {
  try {
    check(data, rowTooLong);
    return { row, fields: await importedFrom(ctx, { mapping, mode }, data), error };
  } catch (problem) {
    if (!(problem instanceof AppError)) throw problem;
    return { row, fields: {}, error: error ?? problem.message };
  }
}

/** How the first rows of imports are read. */
export const importPreviewLoader = loader<ImportPreview[]>(async (ctx, ids) => {
  const read_: { importId: string; preview: ImportPreview }[] = [];
  for (let from = 0; from < ids.length; from += previewedAtOnce) {
    if (from > 0) await nextTurn();
    const rows = await ctx.rows(firstRows, { ids: ids.slice(from, from + previewedAtOnce) });
    const told = rows.map(async ({ importId, ...row }) => ({ importId, preview: await previewOf(ctx, row) }));
    read_.push(...(await Promise.all(told)));
  }
  return grouped(ids, read_, ({ importId }) => importId).map((rowsOfOne) => rowsOfOne.map(({ preview }) => preview));
});

const begin = statement({
  name: 'beginImport',
  takes: { id: uuid, now: instant, by: json<JobFor>() },
  row: { status: text, error: nullable(text) },
  changes: true,
  text: ({ account, id, now, by }) => sql`
    update imports t set status = 'processing', error = null, fruitless = 0, started_at = coalesce(t.started_at, ${now}), updated_at = ${now},
      begun_by = ${by}::jsonb
    from (select i.id, i.status, i.error from imports i where i.account_id = ${account} and i.id = ${id} and i.total_rows > 0 for update) old
    where t.account_id = ${account} and t.id = old.id and old.status in ('pending', 'failed') returning old.status, old.error`,
});

/** POST /imports/{id}/process: begins to import; 409 when it was begun already. */
export async function processImport(ctx: Context, id: string): Promise<Import> {
  const { userId, actor } = ctx.caller;
  const [begun] = await ctx.rows(begin, { id: validId(id, 'Import'), now: ctx.now(), by: { userId, actor } });
  const known = await getImport(ctx, id);
  checkTrial(ctx);
  check(begun, () => conflict('status', `is ${known.status} already`));
  await ctx.enqueue('contactImport', { importId: known.id }, importJob);
  const changes = changesBetween(begun, known, ['status', 'error']);
  await ctx.emit({ name: 'import.updated', record: known, changes, also: { 'import.started': ['status'] } });
  return known;
}

/** A run does a part of an import and leaves the rest to the next, so that what a crash leaves is soon taken up again. */
export const importJob = { retryLimit: 20, retryDelay: 1, expireInSeconds: 15 };
