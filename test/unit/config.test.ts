import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/base/clock.js';
import { readConfig } from '../../src/kernel/base/config.js';
import { secretKeyOf } from '../../src/kernel/base/secretFile.js';

const onPostgres = { DATABASE_URL: 'postgres://db/crm', SECRET_KEY: 'x'.repeat(32) };

describe('the configuration', () => {
  it('has a default for everything but the secrets of PostgreSQL', () => {
    expect(readConfig({})).toMatchObject({ port: 4000, host: '127.0.0.1', role: 'all', publicUrl: 'http://127.0.0.1:4000' });
    expect(() => readConfig({ DATABASE_URL: 'postgres://db/crm' })).toThrow(/SECRET_KEY .+ is required with DATABASE_URL/);
  });

  it('takes an empty variable for an absent one', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 4000, databaseUrl: undefined });
  });

  it('names every wrong variable at once', () => {
    expect(() => readConfig({ PORT: 'http', ROLE: 'king', SECRET_KEY: 'short' })).toThrow(/PORT: .+ROLE: .+SECRET_KEY: /);
  });

  it('seeds a demo account on the embedded database only, by default', () => {
    expect(readConfig({}).seedDemo).toBe(true);
    expect(readConfig({ SEED_DEMO: '0' }).seedDemo).toBe(false);
    expect(readConfig(onPostgres).seedDemo).toBe(false);
    expect(readConfig({ ...onPostgres, SEED_DEMO: '1' }).seedDemo).toBe(true);
  });
});

describe('the secret key', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'crm-config-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const secretIn = (dataDir: string) => secretKeyOf(readConfig({ DATA_DIR: dataDir }), systemClock);

  it('is the one of the environment', () => {
    expect(secretKeyOf(readConfig(onPostgres), systemClock)).toBe(onPostgres.SECRET_KEY);
  });

  it('else stays with the data directory', () => {
    const first = secretIn(dir);
    expect(first.length).toBeGreaterThanOrEqual(43);
    expect(secretIn(dir)).toBe(first);
    expect(readFileSync(join(dir, 'secret.key'), 'utf8').trim()).toBe(first);
  });

  it('is a new one each time where nothing is kept', () => {
    expect(secretIn(':memory:')).not.toBe(secretIn(':memory:'));
  });

  it('is never replaced when its file is damaged', () => {
    writeFileSync(join(dir, 'secret.key'), 'half\n');
    expect(() => secretIn(dir)).toThrow(/secret\.key is damaged/);
  });
});
