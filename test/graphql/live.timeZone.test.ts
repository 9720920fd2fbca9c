import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, day, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';
import { LiveScreen } from '../support/livePage.js';

let crm: TestServer;
let acme: Account;
let key: KeyClient;
/** The day that it is by UTC at noon, when the next one has begun at Kiritimati. */
let today: string;
const sockets: { cut(): void }[] = [];
beforeAll(async () => {
  crm = await server();
});
afterAll(() => crm.close());
beforeEach(async () => {
  today = new Date(Date.now() + day).toISOString().slice(0, 10);
  crm.clock.set(`${today}T12:00:00Z`);
  acme = await crm.seed.account();
  key = await acme.key();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.cut();
  crm.clock.reset();
});

const settle = async (settings: object) => dataOf(await acme.owner.patch('/settings/workspace', settings));

/** Who watches a list, and the ids that it shows. */
async function watch(name: string, args: string) {
  const rows = 'isWhole removed rows { recordId index change version node { id } }';
  const document = `subscription ($after: [LiveHave!]) { live(after: $after) { ${name}(${args}) { ${rows} } } }`;
  const screen = await new LiveScreen(key, document).open(crm.wire.port);
  sockets.push(screen);
  await screen.nth(1);
  return () =>
    screen
      .page(name)
      .nodes.map(({ id }) => id)
      .join();
}

describe('a workspace whose settings change while it is watched', () => {
  it('shows what is due today by its new time zone, to who watches and to who comes later', async () => {
    const { id } = await acme.task({ dueDate: `${today}T06:30:00Z` });
    const dueToday = async () => dataOf(await key.get('/tasks?tab=today')).data.map((task: Loose) => task.id);
    const first = await watch('tasks', 'filter: { tab: today }');
    expect([first(), await dueToday()]).toEqual([id, [id]]);
    await settle({ timezone: 'Pacific/Kiritimati' });
    const later = await watch('tasks', 'filter: { tab: today }');
    await eventually(() => first() === '' && later() === '');
    expect(await dueToday()).toEqual([]);
    const last = await watch('tasks', 'filter: { tab: today }');
    expect(last()).toBe('');
    await settle({ timezone: 'UTC' });
    await eventually(() => [first, later, last].every((shown) => shown() === id));
  });

  it('finds phones by its new country', async () => {
    await settle({ defaultCountry: 'US' });
    const { id } = await acme.contact({ phone: '+493012345678' });
    const shown = await watch('contacts', 'filter: { search: "030 12345678" }');
    expect(shown()).toBe('');
    await settle({ defaultCountry: 'DE' });
    await eventually(() => shown() === id);
  });

  it('tells events by its new time zone', async () => {
    await settle({ timezone: 'Pacific/Kiritimati' });
    const socket = await Socket.open(crm.wire.port, { init: bearer(key) });
    sockets.push(socket);
    const feed = socket.run('subscription { invoiceEvents(ready: true) { kind invoice { status } } }');
    await feed.nth(1);
    const shown = await watch('tasks', 'filter: { tab: today }');
    const { id } = await acme.task({ dueDate: `${today}T06:30:00Z` });
    await settle({ timezone: 'UTC' });
    await eventually(() => shown() === id);
    const invoice = await acme.invoice({ dueDate: today });
    expect(dataOf(await acme.owner.post(`/invoices/${invoice.id}/send`)).status).toBe('sent');
    const told = await feed.nth(3);
    expect(told.at(-1).invoice).toEqual({ status: 'sent' });
  });
});
