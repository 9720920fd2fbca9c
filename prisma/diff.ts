import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrationList, noFilters, prismaDir, schemaEngine, schemaFiles } from '../src/kernel/database/engine.js';
import { memoryPGlite, pgliteAdapter } from '../src/kernel/database/pglite.js';

/** The SQL that leads from the migrations to the schema files; empty when they agree. */
async function pendingSql(): Promise<string> {
  const [scratch, shadow] = [await memoryPGlite(), await memoryPGlite()];
  const factory = { ...pgliteAdapter(scratch), connectToShadowDb: () => pgliteAdapter(shadow).connect() };
  const engine = await schemaEngine(factory);
  try {
    const { stdout } = await engine.diff({
      from: { tag: 'migrations', ...migrationList() },
      to: { tag: 'schemaDatamodel', ...schemaFiles() },
      script: true,
      exitCode: null,
      filters: noFilters,
      shadowDatabaseUrl: null,
    } as Parameters<typeof engine.diff>[0]);
    const sql = (stdout ?? '').trim();
    return /^-- This is an empty migration\.$/m.test(sql) ? '' : sql;
  } finally {
    engine.free();
    await Promise.all([scratch.close(), shadow.close()]);
  }
}

/** The moment as a migration's name begins with it: after those of all others, whoever's clock they were made by. */
function nextStamp(): string {
  const last = Math.max(...readdirSync(join(prismaDir, 'migrations')).map((name) => Number.parseInt(name, 10) || 0));
  return String(Math.max(Number(new Date().toISOString().replace(/\D/g, '').slice(0, 14)), last + 1));
}

/** `diff.js <name>` writes the next migration, `diff.js --check` fails when one is missing. */
async function main(argument: string | undefined): Promise<void> {
  if (!argument || (argument !== '--check' && !/^[a-z0-9_]+$/.test(argument))) throw new Error('usage: diff.js <name> | --check');
  const sql = await pendingSql();
  if (argument === '--check') {
    if (sql) throw new Error(`The migrations and prisma/schema differ:\n\n${sql}`);
    return console.log('The migrations and prisma/schema agree.');
  }
  if (!sql) return console.log('Nothing to migrate.');
  const dir = join(prismaDir, 'migrations', `${nextStamp()}_${argument}`);
  mkdirSync(dir);
  writeFileSync(join(dir, 'migration.sql'), `${sql}\n`);
  console.log(`Wrote ${dir}/migration.sql: read it before you keep it.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(process.argv[2]).catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
