import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type KeyClient, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());

/** Whether reads wait while the account is at a read that takes long. */
async function waits(reads: (() => Promise<unknown>)[]): Promise<boolean[]> {
  let end = () => {};
  const held = api.app.longReads.run(acme.id, () => new Promise<void>((resolve) => (end = resolve)));
  const answered = reads.map(() => false);
  const all = reads.map(async (read, nth) => {
    await read();
    answered[nth] = true;
  });
  // Each of these is answered in its turn: what waits by then waits for the one that takes long.
  for (let i = 0; i < 20; i++) await key.get('/contacts?per_page=1');
  const seen = answered.map((isAnswered) => !isAnswered);
  end();
  await Promise.all([held, ...all]);
  return seen;
}

describe('a condition over long texts', () => {
  it('is a long read through either door, also where a relation leads to them; over short ones it is none', async () => {
    const { id } = await acme.contact({ firstName: 'Ann' });
    dataOf(await acme.owner.post('/notes', { body: 'Likes snow', contactId: id }));
    const asked = (where: string) => () => key.gql(`{ ${where} { totalCount } }`);
    const reads = [
      asked('notes(where: { body: { contains: "snow" } })'),
      asked('contacts(where: { notes: { some: { body: { starts_with: "Likes" } } } })'),
      asked('messages(where: { bodyHtml: { ends_with: "x" } })'),
      asked('contacts(where: { firstName: { contains: "nn" } })'),
      asked('notes(where: { body: { eq: "Likes snow" } })'),
    ];
    expect(await waits(reads)).toEqual([true, true, true, false, false]);
  });
});
