import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { onPostgres, server, type TestServer } from '../support/index.js';
import { TcpProxy } from '../support/proxy.js';
import { expectRead, expectTold, expectWhole } from '../support/survival.js';
import { Journal, Writer } from '../support/writers.js';

/** SOAK_CUTS: how often every connection to the database is lost, by turns at its end and in the network. */
const cuts = Number(process.env.SOAK_CUTS ?? 40);
const perCut = 100;
/** How long after a loss writes may be refused. */
const recoveryMs = 5000;

jest.setTimeout(120_000 + cuts * 20_000);

let direct: TestServer;
let api: TestServer;
let proxy: TcpProxy;
let admin: pg.Client;

beforeAll(async () => {
  direct = await server();
  const url = direct.place.databaseUrl;
  if (!url) return;
  proxy = await TcpProxy.before(url);
  api = await server({ beside: direct, config: { databaseUrl: proxy.through(url) } });
  admin = new pg.Client(url);
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await api?.close();
  await proxy?.close();
  await direct.close();
});

const terminate = () =>
  admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'crm-server' and pid <> pg_backend_pid()`);

onPostgres(it)(`loses ${cuts} times every connection to the database under load, and no acknowledged write`, async () => {
  const account = await direct.seed.account();
  const { secret } = await account.key();
  const client = api.anybody().with({ authorization: `Bearer ${secret}` });
  const journal = new Journal();
  const options = { client, journal, up: async () => {}, pipeline: await account.pipeline() };
  const goal = (cuts + 1) * perCut;
  // A reply that is neither a success nor a 503 ends its writer, and the test.
  const work = Promise.all(Array.from({ length: 8 }, (_, i) => new Writer(`w${i}`, i % 2 === 0, options).until(goal)));
  const pauses: number[] = [];
  for (let cut = 1; cut <= cuts; cut++) {
    await Promise.race([work, journal.reached(cut * perCut)]);
    const begun = Date.now();
    if (cut % 2) await terminate();
    else proxy.cut();
    await Promise.race([work, journal.reached(journal.entries.length + 8)]);
    pauses.push(Date.now() - begun);
  }
  await work;
  console.log(`${journal.entries.length} writes, ${journal.uncertain} of unknown outcome; longest pause ${Math.max(...pauses)} ms`);
  expect(Math.max(...pauses)).toBeLessThan(recoveryMs);
  await expectRead(client, journal, journal.entries);
  await expectTold(client, journal);
  await expectWhole(direct.app.database, journal);
});
