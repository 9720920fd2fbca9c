import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { simulatorOf } from '../support/callFlows.js';
import { type Account, dataOf, type KeyClient, minute, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { LiveScreen } from '../support/livePage.js';

let crm: TestServer;
let acme: Account;
let key: KeyClient;
let screen: LiveScreen | undefined;
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
  key = await acme.key();
});
afterAll(() => crm.close());
afterEach(() => {
  crm.clock.reset();
  screen?.cut();
});

/** Who watches a list, and the ids that it shows. */
async function watch(name: string, list: string) {
  const rows = 'isWhole removed rows { recordId index change version node { id } }';
  const document = `subscription ($after: [LiveHave!]) { live(after: $after) { ${list} { ${rows} } } }`;
  const watching = await new LiveScreen(key, document).open(crm.wire.port);
  screen = watching;
  await watching.nth(1);
  return () => watching.page(name).nodes.map(({ id }) => id);
}

it('a live list of removed members loses who is invited again', async () => {
  const invite = () => acme.owner.post('/users/invite', { email: `back@${acme.id}.example` });
  const { id } = dataOf(await invite());
  dataOf(await acme.owner.del(`/users/${id}`));
  const shown = await watch('users', 'users(filter: { status: removed })');
  expect(shown()).toEqual([id]);
  dataOf(await invite());
  await eventually(() => shown().length === 0);
});

describe('a live list of the messages that are queued', () => {
  const throttled = { kind: 'refuse', status: 429, code: 20429 } as const;
  const refused = { kind: 'refuse', status: 400, code: 21211 } as const;

  it.each([
    ['sent', '+14156690001', [throttled]],
    ['failed', '+14156690002', [throttled, refused]],
  ] as const)('loses a text message that was on its way untold, once it is %s', async (status, phone, behaviours) => {
    const { id: contactId } = await acme.contact({ phone });
    simulatorOf(crm).will(...behaviours);
    const { id } = dataOf(await key.post('/messages/sms/send', { contactId, body: 'Hello' }));
    const shown = await watch('messages', 'messages(filter: { status: queued })');
    expect(shown()).toEqual([id]);
    crm.clock.advance(minute);
    await eventually(() => shown().length === 0);
    expect(dataOf(await key.get(`/messages/sms/${id}`)).status).toBe(status);
  });
});
