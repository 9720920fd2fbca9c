import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bindMigrationAwareSqlAdapterFactory, type SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine, SchemasContainer } from '@prisma/schema-engine-wasm';

// the compiler's libraries without DOM do not know it
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<unknown>;
  instantiate(module: unknown, imports: Record<string, unknown>): Promise<{ exports: Record<string, unknown> }>;
};

export const noFilters = { externalTables: [], externalEnums: [] };

function findRoot(): string {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json'))) {
    if (dir === dirname(dir)) throw new Error('package.json not found above the program');
    dir = dirname(dir);
  }
  return dir;
}

/** prisma/ of the project, both from src/ and from dist/. */
export const prismaDir = join(findRoot(), 'prisma');

/** Names of the migrations that ship with this version, oldest first. */
export function migrationNames(): string[] {
  const dir = join(prismaDir, 'migrations');
  const entries = readdirSync(dir, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() && existsSync(join(dir, entry.name, 'migration.sql')) ? [entry.name] : [])).sort();
}

/** The migrations in the form that Prisma's engine takes. */
export function migrationList(): MigrationList {
  const read = (name: string) => readFileSync(join(prismaDir, 'migrations', name), 'utf8');
  return {
    baseDir: join(prismaDir, 'migrations'),
    lockfile: { path: 'migration_lock.toml', content: read('migration_lock.toml') },
    shadowDbInitScript: '',
    migrationDirectories: migrationNames().map((path) => ({
      path,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: read(join(path, 'migration.sql')) } },
    })),
  };
}

/** The Prisma schema files. */
export function schemaFiles(): SchemasContainer {
  const dir = join(prismaDir, 'schema');
  const names = readdirSync(dir).filter((name) => name.endsWith('.prisma'));
  return { files: names.sort().map((name) => ({ path: join(dir, name), content: readFileSync(join(dir, name), 'utf8') })) };
}

let engineClass: Promise<typeof SchemaEngine> | undefined;

async function loadEngine(): Promise<typeof SchemaEngine> {
  const bg = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const glue = bg as unknown as { __wbg_set_wasm(exports: unknown): void; SchemaEngine: typeof SchemaEngine };
  const wasm = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    .replace(/\.js$/, '.wasm');
  const module = await WebAssembly.compile(readFileSync(wasm));
  const instance = await WebAssembly.instantiate(module, { './schema_engine_bg.js': bg });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return glue.SchemaEngine;
}

/** Prisma's own migration engine, as WASM on a driver adapter: nothing is downloaded and no process is started. */
export async function schemaEngine(factory: SqlMigrationAwareDriverAdapterFactory): Promise<SchemaEngine> {
  engineClass ??= loadEngine();
  const Engine = await engineClass;
  const datamodels = schemaFiles().files.map((file): [string, string] => [file.path, file.content]);
  return Engine.new({ datamodels }, () => {}, bindMigrationAwareSqlAdapterFactory(factory));
}
