import { accessSync, constants, existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** The major version of PostgreSQL that PGlite is: it reads the files of no other. */
const major = '18';
/** A start writes some segments of the log. */
const leastSpace = 16 * 1024 * 1024;

const damaged = (dir: string, cause?: Error) =>
  new Error(
    `The embedded database in ${dir} is damaged or incomplete and was left untouched. Restore it from a backup, or move it away to start empty.${
      cause ? ` Reason: ${cause.message}` : ''
    }`,
    { cause },
  );

/** Throws where the folder is no database that this version reads: PGlite would initialise over one that lost its version file. */
export function checkFolder(dir: string): void {
  if (!existsSync(join(dir, 'PG_VERSION')) || !existsSync(join(dir, 'global', 'pg_control'))) throw damaged(dir);
  const version = versionOf(dir);
  if (version !== major && /^[1-9]\d*$/.test(version))
    throw new Error(
      `The embedded database in ${dir} is one of PostgreSQL ${version}, and this version of the server reads ${major} alone. It was left untouched: the version of the server that wrote it reads it.`,
    );
}

/** What a folder that cannot be read says is said when it could not be opened. */
function versionOf(dir: string): string {
  try {
    return readFileSync(join(dir, 'PG_VERSION'), 'utf8').trim();
  } catch {
    return major;
  }
}

/** Why the database did not open. PGlite does not tell: what can be seen from outside comes before damage. */
export function notOpened(dir: string, cause: Error): Error {
  const outside = cause.name === 'RangeError' ? `there is too little memory: ${cause.message}` : fromOutside(dir);
  return outside
    ? new Error(`The embedded database in ${dir} cannot be opened, ${outside}. It was left untouched.`, { cause })
    : damaged(dir, cause);
}

function fromOutside(dir: string): string | undefined {
  try {
    for (const name of ['', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })])
      accessSync(join(dir, name), constants.R_OK | constants.W_OK);
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize < leastSpace ? 'its disk is full' : undefined;
  } catch (error) {
    return `by the system: ${(error as Error).message}`;
  }
}
