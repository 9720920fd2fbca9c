import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../src/kernel/database/index.js';
import { embeddedIn, freshPlace, type Place } from './database.js';
import { Client, dataOf, type Loose, password } from './index.js';
import { ServerProcess } from './process.js';

type Settings = Readonly<Record<string, string>>;

/** A server process with a database, an account, a key and a pipeline of its own. */
export class Alone {
  process: ServerProcess;
  /** Follows the server to its next port when it is started again. */
  readonly wire = { port: 0, agent: new Agent({ keepAlive: true }), logs: [] };
  /** A key with all rights. */
  caller: Client;
  secret: string;
  pipeline: Loose;
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'crm-alone-'));

  private constructor(
    private readonly place: Place,
    private readonly settings: Settings,
  ) {}

  static async begin(settings: Settings | ((place: Place) => Settings) = {}): Promise<Alone> {
    const place = await freshPlace();
    const alone = new Alone(place, typeof settings === 'function' ? settings(place) : settings);
    await alone.#fill().catch(async (error: unknown) => {
      await alone.end();
      throw error;
    });
    return alone;
  }

  async #fill(): Promise<void> {
    if (!this.databaseUrl) await embeddedIn(this.#dataDir);
    await this.start();
    const owner = new Client(this.wire);
    dataOf(await owner.post('/auth/register', { email: 'alone@example.com', password, accountName: 'Alone' }));
    this.secret = dataOf(await owner.post('/api-keys', { name: 'writer', permission: 'admin' })).key;
    this.caller = new Client(this.wire, { authorization: `Bearer ${this.secret}` });
    const stages = [{ name: 'New' }, { name: 'Talking' }, { name: 'Won', isWon: true }, { name: 'Lost', isLost: true }];
    this.pipeline = dataOf(await this.caller.post('/pipelines', { name: 'Sales', stages }));
  }

  /** Its database, where that is PostgreSQL. */
  get databaseUrl(): string | undefined {
    return this.place.databaseUrl;
  }

  async start(): Promise<void> {
    this.process = this.#spawn();
    this.wire.port = Number(new URL(await this.process.address()).port);
  }

  /** Another process on the same database (PostgreSQL only), and the same caller at it. End it before this one. */
  async beside(settings: Settings = {}): Promise<{ process: ServerProcess; caller: Client }> {
    const process = this.#spawn(settings);
    const wire = { port: Number(new URL(await process.address()).port), agent: this.wire.agent, logs: [] };
    return { process, caller: new Client(wire, { authorization: `Bearer ${this.secret}` }) };
  }

  #spawn(settings: Settings = {}): ServerProcess {
    const { databaseUrl } = this.place;
    return new ServerProcess({
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
      ...{ DATA_DIR: this.#dataDir, SECRET_KEY: 'a secret key for tests only, never for anything else' },
      ...{ SEED_DEMO: '0', RATE_LIMIT_ENABLED: '0', DEFAULT_PLAN: 'enterprise', LOG_LEVEL: 'error' },
      ...this.settings,
      ...settings,
    });
  }

  /** Kills the server, and looks into its database. */
  async onceStopped<T>(work: (database: Database) => Promise<T>): Promise<T> {
    await this.process.kill();
    const database = await openDatabase({ url: this.place.databaseUrl, dataDir: this.#dataDir });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  async end(): Promise<void> {
    this.wire.agent.destroy();
    await this.process.kill();
    await this.place.drop();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}
