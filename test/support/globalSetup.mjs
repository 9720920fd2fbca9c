import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { beginDropping } from './drop.mjs';

const root = new URL('../..', import.meta.url).pathname;
const cache = join(root, 'node_modules/.cache/crm-tests');

/** One migrated database for the whole run: an image file for PGlite, a template to clone on PostgreSQL. */
export default async function globalSetup() {
  process.env.CRM_TEST_RUN = `${process.pid}_${Date.now().toString(36)}`;
  if (process.env.DATABASE_URL) await makeTemplate(process.env.DATABASE_URL, process.env.CRM_TEST_RUN);
  else process.env.CRM_TEST_IMAGE = await makeImage();
}

/** The server's own modules as the build left them: Jest does not transform what a global setup imports. */
async function built(path) {
  const file = join(root, 'dist/src', path);
  if (!existsSync(file)) throw new Error('The tests migrate with the built server: run "npm run build" first ("npm test" does)');
  return import(pathToFileURL(file).href);
}

function* filesBelow(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

/** What decides the content of the image: the migrations, and the PGlite that wrote it. */
function fingerprint() {
  const hash = createHash('sha1');
  for (const file of [...filesBelow(join(root, 'prisma/migrations'))].sort()) hash.update(relative(root, file)).update(readFileSync(file));
  return hash
    .update(readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json')))
    .digest('hex')
    .slice(0, 16);
}

async function makeImage() {
  const file = join(cache, `${fingerprint()}.tar`);
  if (existsSync(file)) return file;
  const { dumpDataDir } = await built('kernel/database/index.js');
  const image = await dumpDataDir();
  mkdirSync(cache, { recursive: true });
  forgetOldImages();
  writeFileSync(`${file}.${process.pid}`, Buffer.from(await image.arrayBuffer()));
  renameSync(`${file}.${process.pid}`, file);
  return file;
}

/** Keeps the last few: a run beside this one, on other migrations, still reads its own. */
function forgetOldImages() {
  const age = (name) => statSync(join(cache, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const images = readdirSync(cache).sort((a, b) => age(b) - age(a));
  for (const name of images.slice(8)) rmSync(join(cache, name), { force: true, recursive: true });
}

async function makeTemplate(url, run) {
  const { migratePostgres } = await built('kernel/database/postgres.js');
  const name = `crm_test_${run}_template`;
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const template = new URL(url);
  template.pathname = `/${name}`;
  await migratePostgres(template.href);
  process.env.CRM_TEST_TEMPLATE = name;
  beginDropping(url, run);
}
