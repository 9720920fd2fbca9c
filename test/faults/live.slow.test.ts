import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Account, dataOf, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { LiveScreen } from '../support/livePage.js';
import { LiveWindow } from '../support/liveWindow.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let contact: Loose;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
  const customFields = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`key${n}`, 'x'.repeat(1000)]));
  contact = await acme.contact({ firstName: 'Big', customFields });
  const pipeline = await acme.pipeline();
  for (let n = 0; n < 10; n++) await acme.deal({ pipeline, title: `${n}`, contactId: contact.id });
});
afterAll(() => api.close());

const rows = (nodes: string) => `isWhole removed rows { recordId index change version node { ${nodes} } }`;

it('who takes nothing for a while is not cut off, however many live queries his socket has: he is told of what is then', async () => {
  const heavy = (first: number) => {
    const asked = `deals(sort: title, first: ${first})`;
    const nodes = 'contact { jobTitle customFields }';
    return [{ live: `${asked} { ${rows(nodes)} totalCount }`, query: `${asked} { nodes { ${nodes} } totalCount }` }];
  };
  const slow = new LiveWindow(key, [heavy(7), heavy(8), heavy(9), heavy(10)]);
  await slow.open(api.wire.port);
  await slow.isRight(key);
  const told = () => slow.watched.map(({ screen }) => screen.messages.length);
  const quick = new LiveScreen(key, `subscription { live { deals(first: 1) { ${rows('contact { jobTitle }')} } } }`);
  await quick.open(api.wire.port);
  await quick.nth(1);
  slow.slow();
  const many = 20;
  for (let n = 1; n <= many; n++) {
    dataOf(await acme.owner.patch(`/contacts/${contact.id}`, { jobTitle: `Job ${n}` }));
    await quick.nth(n + 1);
  }
  slow.resume();
  await slow.isRight(key);
  // One message each while there was room, and one of the end.
  for (const count of told()) expect(count).toBeLessThan(many);
  for (const { wholes } of slow.watched) expect(wholes).toBe(1);
  slow.cut();
  quick.cut();
});
