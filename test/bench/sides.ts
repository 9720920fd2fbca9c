import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Simulators } from '../support/simulators.js';
import type { Place, SideName } from './database.js';
import { options } from './options.js';
import { freePort, ourServer, type Running, started } from './process.js';

/** The servers that run, each over its own database. */
export interface Sides {
  running: ReadonlyMap<SideName, Running>;
  /** What all of them were told of the vendors and of their own address. */
  settings: Readonly<Record<string, string>>;
  /** The port of the inspector of the server that is profiled. */
  inspected?: number;
  stop(): Promise<void>;
}

/** The address that the servers have to the outside: nobody is asked there. */
const publicUrl = 'http://127.0.0.1:9';

/** Starts the servers that are needed, and waits until they answer. */
export async function startSides(place: Place, names: readonly SideName[]): Promise<Sides> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-data-'));
  const inspected = options.profiled && (await freePort());
  const { flags, settings, checkout } = options;
  // All of them send to the same vendors, which tell nobody of anything.
  const vendors = await Simulators.begin(publicUrl);
  const told = { ...vendors.settings, PUBLIC_URL: publicUrl };

  const start = async (side: SideName): Promise<Running> => {
    const [port, databaseUrl, dataDir] = [await freePort(), place.urls[side], join(folder, side)];
    const common = { port, flags, inspected: side === options.profiled ? inspected : undefined };
    if (side === 'server') return ourServer({ ...common, databaseUrl, dataDir, env: told });
    const other = { ...told, ...settings };
    if (side === 'other') return ourServer({ ...common, name: 'the other', databaseUrl, dataDir, env: other, folder: checkout ?? '.' });
    const env = { ...told, DATABASE_URL: databaseUrl, KEPT: side === 'kept' ? '1' : '' };
    return started({ ...common, name: side, script: 'dist/test/bench/ceiling.js', env });
  };

  const running = new Map<SideName, Running>();
  const stop = async () => {
    await Promise.all([...running.values()].map((server) => server.stop()));
    await vendors.end();
    rmSync(folder, { recursive: true });
  };
  try {
    for (const name of names) running.set(name, await start(name));
    await Promise.all([...running.values()].map((server) => server.ready()));
    return { running, settings: told, inspected, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
