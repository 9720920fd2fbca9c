import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readSecret, writeSecret } from '../kernel/base/secretFile.js';
import type { App } from '../kernel/context/context.js';
import { setAsideEmbedded } from '../kernel/database/index.js';

/**
 * Says of which database the demo account is being made: from before it is there until it is whole. A start listens only after that, so
 * that a database that is still named here holds nothing of anybody, unless a version that does not know of this has served it since.
 */
const file = 'demo.unfinished';

/** Which database it is, whatever folder it lies in: one that is put in its place is another. */
const identity = ({ database }: App) =>
  database.kind === 'pglite'
    ? database.text({ text: 'select system_identifier::text from pg_control_system()', values: [] })
    : Promise.resolve(database.kind);

const keepsFiles = ({ config: { dataDir } }: App) => dataDir !== ':memory:';

export async function markUnfinished(app: App): Promise<void> {
  if (keepsFiles(app)) writeSecret(app.config.dataDir, file, await identity(app));
}

export function markFinished(app: App): void {
  if (keepsFiles(app)) rmSync(join(app.config.dataDir, file), { force: true });
}

export const isUnfinished = async (app: App): Promise<boolean> =>
  keepsFiles(app) && readSecret(app.config.dataDir, file) === (await identity(app));

interface Started {
  app: App;
  close(): Promise<void>;
}

/**
 * The server, begun again on an empty database where the embedded one holds half of a demo account and nothing else. What was there is set
 * aside, not removed.
 */
export async function withoutHalfDemo<S extends Started>(server: S, begin: () => Promise<S>): Promise<S> {
  const { app } = server;
  if (app.database.kind !== 'pglite' || !app.config.seedDemo || !(await isUnfinished(app))) return server;
  if ((await app.database.text({ text: 'select count(*)::text from accounts', values: [] })) !== '1') return server;
  await server.close();
  const folder = await setAsideEmbedded(app.config.dataDir);
  app.log.warn({ folder }, 'a start was ended while it made the demo account: it is made anew, and what there was of it is kept there');
  return begin();
}
