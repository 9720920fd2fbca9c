import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { freshPlace, type Place } from '../support/database.js';
import { Client, dataOf, type Loose, onPostgres, password } from '../support/index.js';
import { eventually } from '../support/live.js';
import { ServerProcess } from '../support/process.js';

/** Contacts, each of which starts a run of three actions, and how often a process is killed meanwhile. */
const [contacts, kills] = [24, 3];

jest.setTimeout(240_000);

/** A process of a server, which comes back under another port. */
class Member {
  process: ServerProcess;
  readonly wire = { port: 0, agent: new Agent({ keepAlive: true }), logs: [] };

  constructor(private readonly settings: Record<string, string>) {}

  async start(): Promise<void> {
    this.process = new ServerProcess(this.settings);
    this.wire.port = Number(new URL(await this.process.address()).port);
  }
}

onPostgres(describe)('two processes that are killed while workflows run', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'crm-workflows-'));
  let place: Place;
  let members: [Member, Member];
  let caller: Client;

  beforeAll(async () => {
    place = await freshPlace();
    const settings = {
      ...{ DATABASE_URL: place.databaseUrl!, DATA_DIR: dataDir, SECRET_KEY: 'a secret key for tests only, never for anything else' },
      ...{ SEED_DEMO: '0', RATE_LIMIT_ENABLED: '0', DEFAULT_PLAN: 'enterprise', LOG_LEVEL: 'error', LEASE_SECONDS: '5' },
    };
    members = [new Member(settings), new Member(settings)];
    await members[0].start();
    await members[1].start();
    const owner = new Client(members[0].wire);
    dataOf(await owner.post('/auth/register', { email: 'alone@example.com', password, accountName: 'Alone' }));
    const { key } = dataOf(await owner.post('/api-keys', { name: 'writer', permission: 'admin' }));
    caller = new Client(members[0].wire, { authorization: `Bearer ${key}` });
  });
  afterAll(async () => {
    for (const { process, wire } of members) {
      wire.agent.destroy();
      await process.kill();
    }
    await place.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('does each effect of each run once', async () => {
    const actions = [
      { type: 'create_task', config: { title: 'Call {{contact.firstName}}' } },
      { type: 'send_email', config: { subject: 'Hello {{contact.firstName}}', body: 'B' } },
      { type: 'update_field', config: { field: 'jobTitle', value: 'Welcomed' } },
    ];
    const workflow = dataOf(await caller.post('/workflows', { name: 'W', trigger: { event: 'contact.created' }, actions }));
    dataOf(await caller.post(`/workflows/${workflow.id}/activate`, {}));
    const killing = (async () => {
      for (let kill = 0; kill < kills; kill++) {
        await setTimeout(300 + Math.random() * 700);
        await members[1].process.kill();
        await members[1].start();
      }
    })();
    const ids: string[] = [];
    for (let n = 0; n < contacts; n++) {
      ids.push(dataOf(await caller.post('/contacts', { firstName: `C${n}`, email: `c${n}@example.com` })).id);
      await setTimeout(50);
    }
    await killing;
    await members[0].process.kill();
    await members[0].start();
    const runs = await eventually(async () => {
      const { data } = dataOf(await caller.get(`/workflows/${workflow.id}/runs?per_page=200`));
      return (data.length >= contacts && data.every(({ status }: Loose) => status !== 'running') && data) as Loose[];
    }, 60_000);
    expect(runs.map(({ status }) => status)).toEqual(ids.map(() => 'success'));
    expect(runs.map(({ contactId }) => contactId).sort()).toEqual([...ids].sort());
    for (const id of ids) {
      expect(dataOf(await caller.get(`/tasks?contact_id=${id}`)).meta.total).toBe(1);
      expect(dataOf(await caller.get(`/messages?contact_id=${id}`)).meta.total).toBe(1);
      expect(dataOf(await caller.get(`/contacts/${id}`)).jobTitle).toBe('Welcomed');
      const log = dataOf(await caller.get(`/activities?contact_id=${id}&per_page=200`)).data.map(({ type }: Loose) => type);
      expect(log.filter((type: string) => type === 'contact.updated')).toHaveLength(1);
    }
  });
});
