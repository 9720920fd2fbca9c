import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { migrationNames } from '../../src/kernel/database/engine.js';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { freshPlace, onEmbedded, type Place } from '../support/database.js';

jest.setTimeout(120_000);

let place: Place;
const open: Database[] = [];
beforeAll(async () => {
  place = await freshPlace();
});
afterAll(async () => {
  for (const db of open) await db.close();
  await place.drop();
});

/** What is logged while a database is opened. */
async function told(options: Parameters<typeof openDatabase>[0]): Promise<unknown[][]> {
  const lines: unknown[][] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  open.push(await openDatabase({ ...options, log: { info: note, warn: note } }));
  return lines;
}

describe('a start', () => {
  // On PostgreSQL test/faults/processes.start.test.ts looks.
  onEmbedded(it)('that migrates says what it begins, and when it is done', async () => {
    const count = migrationNames().length;
    expect(await told({ dataDir: ':memory:' })).toEqual([
      [{ count, migrations: migrationNames().slice(0, 20) }, 'migrating the database'],
      [{ count, seconds: expect.any(Number) }, 'the database is migrated'],
    ]);
  });

  it('that has nothing to migrate says nothing of it', async () => {
    expect(await told({ url: place.databaseUrl, image: place.image, dataDir: ':memory:' })).toEqual([]);
  });
});
