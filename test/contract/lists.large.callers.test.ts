import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { aTask } from '../support/automations.js';
import { aFlow, graph } from '../support/callFlows.js';
import { type Account, type Client, dataOf, expectRefusal, type Reply, server, type TestServer } from '../support/index.js';
import { whenever } from '../support/largePages.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const text = 'é'.repeat(350_000);
  for (let n = 1; n <= 7; n++) {
    await aFlow(acme, { name: `${n}`, draftGraph: graph({ id: 'in', kind: 'hangup', message: text }) });
    dataOf(await acme.owner.post('/automations', { name: `${n}`, graph: { startNodeId: 'one', nodes: [aTask('one', undefined, text)] } }));
  }
});
afterEach(() => suspend(null));
afterAll(() => api.close());

const suspend = (suspendedAt: Date | null) => api.app.database.prisma.account.update({ where: { id: acme.id }, data: { suspendedAt } });

/** Who reads a page, and what is done to them meanwhile. */
type Meanwhile = [reader: Client, change: () => Promise<unknown>];

const toKey = (change: (path: string) => Promise<Reply>) => async (): Promise<Meanwhile> => {
  const key = await acme.key();
  return [key, async () => dataOf(await change(`/api-keys/${key.record.id}`))];
};

const toPerson = (change: (person: Client, path: string) => Promise<Reply>) => async (): Promise<Meanwhile> => {
  const person = await acme.member('admin');
  return [person, async () => dataOf(await change(person, `/users/${person.userId}`))];
};

const endings: [string, number, () => Promise<Meanwhile>][] = [
  ['its key is revoked', 401, toKey((path) => acme.owner.del(path))],
  ['its key is kept to other scopes', 403, toKey((path) => acme.owner.patch(path, { scopes: ['tags'] }))],
  ['its session is logged out', 401, toPerson((person) => person.post('/auth/logout'))],
  ['who reads it is removed', 401, toPerson((_person, path) => acme.owner.del(path))],
  ['who reads it gets another role', 403, toPerson((_person, path) => acme.owner.patch(path, { role: 'member' }))],
  ['the account is suspended', 403, async () => [await acme.key(), () => suspend(api.clock.now())]],
];

/** What a page answers while something is done once its first portion is read, and how many of its portions are read. */
async function read(path: string, [reader, change]: Meanwhile): Promise<{ answer: Reply | Error; portions: number }> {
  let portions = 0;
  const isFirst = (text: string) => text.length > 100_000 && ++portions === 1;
  const then = async () => {
    await change();
    // What was known of the caller holds for a second.
    await delay(1100);
  };
  const answer = await whenever(api, isFirst, then, () => reader.get(`${path}?per_page=7`).catch((error: Error) => error));
  return { answer, portions };
}

describe('a page of large records', () => {
  it.each(endings)('is read no further, and does not look complete, when %s', async (_when, _status, made) => {
    const { answer, portions } = await read('/call-flows', await made());
    expect([String(answer), portions]).toEqual(['Error: aborted', 1]);
  });

  it.each(endings)('whose end its headers tell is refused before its first byte when %s', async (_when, status, made) => {
    const { answer, portions } = await read('/automations', await made());
    expectRefusal(answer as Reply, status);
    expect(portions).toBe(1);
  });

  it.each(['/call-flows', '/automations'])('is whole for who may still read it, however long it takes: %s', async (path) => {
    const { answer } = await read(path, await toKey((of) => acme.owner.patch(of, { name: 'Renamed' }))());
    const { data } = (answer as Reply).body;
    expect(Array.isArray(data) ? data : data.data).toHaveLength(7);
  });
});
