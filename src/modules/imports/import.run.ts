import { AppError, invalidField, notFound } from '../../kernel/base/errors.js';
import { withoutNulls } from '../../kernel/base/objects.js';
import { shortened } from '../../kernel/base/unicode.js';
import type { Context, JobHandler } from '../../kernel/context/context.js';
import { instant, integer, json, nullable, text, uuid, word } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { isUuid } from '../../kernel/model/checks.js';
import { forEachRecord, type Outcome } from '../../kernel/operations/forEachRecord.js';
import { contactAtAddress } from '../contacts/contact.match.js';
import { contactLoader, createContact, updateContact } from '../contacts/contact.service.js';
import { customFieldsLoader } from '../customFields/customField.values.js';
import { type Imported, importedFrom } from './import.mapping.js';
import type { Import } from './import.model.js';
import { importJob } from './import.service.js';
import { importTable } from './import.table.js';

/**
 * Rows that one transaction imports, few enough that nobody waits for it in the process of the embedded database, and such portions of one
 * run.
 */
const portion = 25;
const portionsOfRun = 20;

/** So many runs in a row may end without a word before they have done a row: then its rows are what ends the process. */
const mostFruitless = 3;

type Run = Pick<Import, 'id' | 'mode' | 'matchOn' | 'mapping'> & { attempt: number; fruitless: number };

interface Row {
  id: string;
  data: Record<string, unknown>;
  input: Imported;
}

const take = statement({
  name: 'takeImport',
  takes: { id: uuid },
  row: {
    id: uuid,
    mode: word<Run['mode']>(),
    matchOn: nullable(word<NonNullable<Run['matchOn']>>()),
    mapping: json<Run['mapping']>(),
    attempt: integer,
    fruitless: integer,
  },
  changes: true,
  // Of this run nothing is known but that it has begun, until a row is done or it says why not.
  text: ({ account, id }) => sql`
    update imports set attempt = attempt + 1, fruitless = fruitless + 1
    where account_id = ${account} and id = ${id} and status = 'processing'
    returning id, mode, match_on as "matchOn", mapping, attempt, fruitless`,
});

const heardOf = statement({
  name: 'importRunHeardOf',
  takes: { id: uuid, attempt: integer },
  changes: true,
  text: ({ account, id, attempt }) => sql`
    update imports set fruitless = 0 where account_id = ${account} and id = ${id} and attempt = ${attempt}`,
});

const holdRun = statement({
  name: 'lockImport',
  takes: { id: uuid, attempt: integer },
  row: { id: uuid },
  locks: true,
  text: ({ account, id, attempt }) => sql`
    select id from imports where account_id = ${account} and id = ${id} and attempt = ${attempt} and status = 'processing'
    for update`,
});

/** Another run took over: this one, which was thought dead, must not touch a row any more. */
class LostRun extends Error {}

/** Each transaction of a run begins so: one run at a time, and the newest alone. */
const fence = (run: Run) => async (inside: Context) => {
  const [held] = await inside.rows(holdRun, { id: run.id, attempt: run.attempt });
  if (!held) throw new LostRun();
};

const pending = statement({
  name: 'pendingImportRows',
  takes: { id: uuid, most: integer },
  row: { id: uuid, data: json<Record<string, unknown>>() },
  text: ({ account, id, most }) => sql`
    select id, data from import_rows where account_id = ${account} and import_id = ${id} and status = 'pending' order by row limit ${most}`,
});

const count = statement({
  name: 'countImportedRows',
  takes: { id: uuid, created: integer, updated: integer, failed: integer, now: instant },
  row: importTable.shape,
  changes: true,
  text: ({ account, id, created, updated, failed, now }) => sql`
    update imports t set created_count = t.created_count + ${created}, updated_count = t.updated_count + ${updated},
      error_count = t.error_count + ${failed}, processed_rows = t.processed_rows + ${created} + ${updated} + ${failed}, updated_at = ${now},
      fruitless = 0
    where t.account_id = ${account} and t.id = ${id} returning ${importTable.columns}`,
});

/** Counts what was done with some rows, and tells how far the import is. */
async function countRows(inside: Context, { id }: Run, { created = 0, updated = 0, failed = 0 }): Promise<void> {
  if (created + updated + failed === 0) return;
  const [counted] = await inside.rows(count, { id, created, updated, failed, now: inside.now() });
  const record = counted!;
  const before = {
    processedRows: record.processedRows - created - updated - failed,
    errorCount: record.errorCount - failed,
    createdCount: record.createdCount - created,
    updatedCount: record.updatedCount - updated,
  };
  const changes = changesBetween(before, record, Object.keys(before));
  await inside.emit({ name: 'import.updated', record, changes, logged: false });
}

const end = statement({
  name: 'endImport',
  takes: { id: uuid, status: word<'completed' | 'failed'>(), error: nullable(text), completedAt: nullable(instant), now: instant },
  row: importTable.shape,
  changes: true,
  text: ({ account, id, status, error, completedAt, now }) => sql`
    update imports t set status = ${status}, error = ${error}, completed_at = ${completedAt}, updated_at = ${now}
    where t.account_id = ${account} and t.id = ${id} returning ${importTable.columns}`,
});

/** Ends an import for which nothing is left to do, or that has failed too often: then the error says why. */
async function endImport(inside: Context, run: Run, error: string | null = null): Promise<void> {
  await fence(run)(inside);
  const now = inside.now();
  const status = error === null ? 'completed' : 'failed';
  const [record] = await inside.rows(end, { id: run.id, status, error, completedAt: error === null ? now : null, now });
  const changes = { status: { from: 'processing', to: status }, ...(error !== null && { error: { from: null, to: error } }) };
  await inside.emit({ name: 'import.updated', record: record!, changes, also: { [`import.${status}`]: ['status'] } });
}

/** The value that finds the contact of a row. */
function addressOf({ matchOn }: Run, { input }: Row): string | undefined {
  if (matchOn === 'email') return input.email?.toLowerCase();
  return (matchOn === 'phone' ? input.phone : input.id?.trim().toLowerCase()) ?? undefined;
}

async function contactOf(inside: Context, { matchOn }: Run, address: string): Promise<string | null> {
  if (matchOn === 'id') return isUuid(address) ? ((await contactLoader(inside).fresh(address))?.id ?? null) : null;
  return contactAtAddress(inside, `${matchOn}/${address}`);
}

/**
 * What a row says of a contact that is there. That somebody opted out, or must not be contacted, stays, with the reason: the file may be
 * older than what they said. It may only add to that.
 */
function ofKnown({ doNotContact, doNotContactReason, optedOutSms, optedOutEmail, ...rest }: Imported): Imported {
  const isTakenBack = doNotContact === false || doNotContact === null;
  return {
    ...rest,
    doNotContact: doNotContact || undefined,
    doNotContactReason: (!isTakenBack && doNotContactReason) || undefined,
    optedOutSms: optedOutSms || undefined,
    optedOutEmail: optedOutEmail || undefined,
  };
}

/** Imports one row as a single request would, but for what a contact has refused, and answers what became of it. */
async function importOne(inside: Context, run: Run, row: Row): Promise<'created' | 'updated'> {
  const { id: _id, ...input } = row.input;
  const address = run.mode === 'create' ? undefined : addressOf(run, row);
  if (run.mode === 'update' && !address) throw invalidField(run.matchOn!, 'required', 'is required to find the contact');
  const known = address ? await contactOf(inside, run, address) : null;
  if (run.mode === 'update' && !known) throw notFound(`Contact with this ${run.matchOn}`);
  const { id: contactId } = known
    ? await updateContact(inside, known, ofKnown(input))
    : // Who is made has nothing yet that null could clear.
      await createContact(inside, { ...withoutNulls(input), importId: run.id });
  inside.update('ImportRow', row, { status: known ? 'updated' : 'created', contactId });
  return known ? 'updated' : 'created';
}

/** Rows as contacts, and what is wrong with those that are none. */
async function readPortion(ctx: Context, run: Run): Promise<{ rows: Row[]; failed: Outcome<Pick<Row, 'id'>, never>[] }> {
  customFieldsLoader(ctx).clear('contact');
  const rows: Row[] = [];
  const failed: Outcome<Pick<Row, 'id'>, never>[] = [];
  // Where a run ended without a word, its rows go one by one: the others are done, and the one that ends the process comes alone.
  const most = run.fruitless > 1 ? 1 : portion;
  for (const row of await ctx.rows(pending, { id: run.id, most })) {
    try {
      rows.push({ ...row, input: await importedFrom(ctx, run, row.data) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      failed.push({ item: row, error });
    }
  }
  return { rows, failed };
}

/** Imports the next rows, all that go well in one transaction with the note that they are done. Answers whether there were any. */
async function importPortion(ctx: Context, run: Run): Promise<boolean> {
  const { rows, failed } = await readPortion(ctx, run);
  if (rows.length + failed.length === 0) return false;
  const outcomes = await forEachRecord(ctx, rows, {
    batchId: run.id,
    begin: fence(run),
    work: (inside, row) => importOne(inside, run, row),
    touches: (row) => (run.mode === 'create' ? [] : [addressOf(run, row) ?? row.id]),
    settle: async (inside, done) => {
      const created = done.filter(({ value }) => value === 'created').length;
      await countRows(inside, run, { created, updated: done.length - created });
    },
  });
  const wrong = [...failed, ...outcomes.filter(({ error }) => error)];
  if (wrong.length > 0) await ctx.transaction((inside) => noteErrors(inside, run, wrong));
  return true;
}

async function noteErrors(inside: Context, run: Run, wrong: Outcome<Pick<Row, 'id'>, unknown>[]): Promise<void> {
  await fence(run)(inside);
  for (const { item, error } of wrong) {
    inside.update('ImportRow', item, { status: 'failed', field: error!.field ?? null, error: shortened(error!.message, 2000) });
  }
  await countRows(inside, run, { failed: wrong.length });
}

async function runPart(ctx: Context, run: Run): Promise<void> {
  for (let n = 0; n < portionsOfRun; n++) {
    if (await importPortion(ctx, run)) continue;
    await ctx.transaction((inside) => endImport(inside, run));
    return;
  }
  await ctx.transaction(async (inside) => {
    await fence(run)(inside);
    await inside.enqueue('contactImport', { importId: run.id }, importJob);
  });
}

/**
 * The job behind POST /imports/{id}/process. What is imported is noted in the same transaction, so that a run after a crash
 * goes on behind the last portion that was committed, and no row is imported twice.
 */
export const runImport: JobHandler<{ importId: string }> = async (ctx, { importId }, { retries }) => {
  const [run] = await ctx.transaction((inside) => inside.rows(take, { id: importId }));
  if (!run) return;
  if (run.fruitless > mostFruitless) {
    await ctx.transaction((inside) => endImport(inside, run, 'The server ended three times in the middle of it without getting on'));
    return;
  }
  try {
    await runPart(ctx, run);
  } catch (error) {
    if (error instanceof LostRun) return;
    if (retries >= importJob.retryLimit)
      await ctx.transaction((inside) => endImport(inside, run, 'It could not go on, however often it was tried'));
    else await ctx.rows(heardOf, run);
    throw error;
  }
};
