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

  it('has a public address that can be parsed, or says which variable is at fault', () => {
    const of = (env: Record<string, string>) => readConfig(env).publicUrl;
    expect(of({ HOST: '::', PORT: '80' })).toBe('http://[::]:80');
    expect(new URL(of({ HOST: '::1' })).hostname).toBe('[::1]');
    expect(of({ HOST: '::', PUBLIC_URL: 'https://crm.example.com/base/' })).toBe('https://crm.example.com/base');
    for (const url of [
      'crm.example.com:8080',
      'ftp://crm.example.com',
      'crm.example.com',
      'https://a.example/?x=1',
      'https://a.example/#x',
    ])
      expect(() => of({ PUBLIC_URL: url })).toThrow(/PUBLIC_URL/);
    expect(() => of({ HOST: 'not a host' })).toThrow(/HOST: "not a host"/);
  });

  it('takes addresses, ranges and names for trusted proxies, and nothing else', () => {
    const of = (list: string) => readConfig({ TRUST_PROXY: list }).trustProxy;
    const right = ['loopback', 'uniquelocal', '10.0.0.0/8', '10.0.0.0/255.0.0.0', '192.0.2.7', '2001:db8::/32', '::1'];
    expect(of(`${right.join(', ')},`)).toEqual(right);
    expect(of(',')).toBeUndefined();
    for (const list of [
      'true',
      '1',
      '10.0.0.0/33',
      '10.0.0.0/0',
      '10.0.0.0/255.0.255.0',
      '10.0.0.1/8/8',
      'proxy.example',
      'loopback 10.0.0.1',
    ])
      expect(() => of(list)).toThrow(/TRUST_PROXY/);
  });

  it('takes an empty variable for an absent one, and one of blanks: no number is 0 by them', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 4000, databaseUrl: undefined });
    const blank = readConfig({ PORT: ' ', RATE_LIMIT_LOGIN: '\n', SECRET_KEY_PREVIOUS: ' ', DATABASE_URL: ' ' });
    expect(blank).toMatchObject({ port: 4000, limits: { login: 5 }, previousSecretKeys: [], databaseUrl: undefined });
  });

  it('has no process open fewer connections than it needs, nor very many', () => {
    expect(readConfig({ DATABASE_POOL: '8' }).databasePool).toBe(8);
    for (const pool of ['7', '201', '0', 'many']) expect(() => readConfig({ DATABASE_POOL: pool })).toThrow(/DATABASE_POOL/);
  });

  it('lets TWILIO_FROM be claimed unless it is said to be shared', () => {
    expect(readConfig({}).twilioFromShared).toBe(false);
    expect(readConfig({ TWILIO_FROM_SHARED: '1' }).twilioFromShared).toBe(true);
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

describe('a value of the configuration', () => {
  it('is refused where it can never work: half of a pair, a sender without an address, a token that no header can bear, limits of nothing', () => {
    const prices = ['STANDARD', 'PREMIUM', 'ENTERPRISE'].flatMap((plan) => [`${plan}_MONTHLY`, `${plan}_YEARLY`]);
    const stripe = Object.fromEntries(prices.map((price) => [`STRIPE_PRICE_${price}`, 'price_1']));
    for (const env of [
      { TWILIO_AUTH_TOKEN: 'token' },
      { STRIPE_WEBHOOK_SECRET: 'whsec_1' },
      { STRIPE_WEBHOOK_SECRET: 'whsec_1', ...stripe },
      ...['CRM', 'CRM <crm.example.com>', 'Tom@Acme <crm>', '@example.com', 'crm@'].map((MAIL_FROM) => ({ MAIL_FROM })),
      ...['sixteen and more', 'sixteen-and-more\n'].map((METRICS_TOKEN) => ({ METRICS_TOKEN })),
      ...['TOKENS', 'DEPTH', 'FIELDS', 'ROOT_FIELDS', 'COST', 'RECORDS', 'BYTES'].map((limit) => ({ [`GRAPHQL_MAX_${limit}`]: '0' })),
    ])
      expect(() => readConfig(env)).toThrow(Object.keys(env)[0]);
    const secret = { INBOUND_MAIL_SECRET: 's'.repeat(16) };
    for (const INBOUND_MAIL_DOMAIN of ['https://in.example.com', '@in.example.com', 'in.example.com:25', 'in example.com', 'in..example'])
      expect(() => readConfig({ ...secret, INBOUND_MAIL_DOMAIN })).toThrow('INBOUND_MAIL_DOMAIN');
  });

  it('is refused with a line break at its end, which would leave every signature wrong', () => {
    const twilio = { TWILIO_ACCOUNT_SID: 'AC1', TWILIO_AUTH_TOKEN: 'token' };
    const stripe = { STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1', STRIPE_PRICE_PREMIUM_YEARLY: 'price_1' };
    const inbound = { INBOUND_MAIL_SECRET: 'a secret of those who bring', INBOUND_MAIL_DOMAIN: 'in.example.com' };
    for (const env of [twilio, stripe, inbound] as Record<string, string>[])
      for (const name of Object.keys(env).filter((name) => !name.endsWith('DOMAIN')))
        expect(() => readConfig({ ...env, [name]: `${env[name]}\n` })).toThrow(new RegExp(`${name}: must have no .*line breaks`));
    expect(readConfig(twilio).twilio?.authToken).toBe('token');
    expect(readConfig(inbound).inboundMail?.secret).toBe('a secret of those who bring');
  });

  it('is taken where it is right: senders, host names, limits of none', () => {
    for (const MAIL_FROM of ['crm@example.com', 'CRM <crm@localhost>', '"Acme, Inc." <post@bücher.example>', 'crm@example.com (CRM)'])
      expect(readConfig({ MAIL_FROM }).mailFrom).toBe(MAIL_FROM);
    for (const INBOUND_MAIL_DOMAIN of ['in.example.com', 'localhost', 'in.bücher.example'])
      expect(readConfig({ INBOUND_MAIL_SECRET: 's'.repeat(16), INBOUND_MAIL_DOMAIN }).inboundMail?.domain).toBe(INBOUND_MAIL_DOMAIN);
    const inbound = { INBOUND_MAIL_SECRET: 's'.repeat(16), INBOUND_MAIL_DOMAIN: 'in.example.com' };
    expect(readConfig(inbound).inboundMail?.bounces).toBe('domain');
    expect(readConfig({ ...inbound, MAIL_BOUNCES: 'sender' }).inboundMail?.bounces).toBe('sender');
    expect(readConfig({ TWILIO_FROM: '+14155550100' }).twilioFrom).toBe('+14155550100');
    const none = { GRAPHQL_MAX_ALIASES: '0', GRAPHQL_MAX_LIVE_COST: '0' };
    expect(readConfig(none).graphql).toMatchObject({ aliases: 0, liveCost: 0 });
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
