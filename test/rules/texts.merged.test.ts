import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { simulatorOf } from '../support/callFlows.js';
import { type Account, dataOf, type Loose, minute, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { messagesTo } from '../support/sms.js';
import { toldIn } from '../support/told.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());
afterEach(() => api.clock.reset());

let people = 0;
const nextNumber = () => `+1415663${String(++people).padStart(4, '0')}`;
const merge = async (primaryId: string, secondaryId: string) =>
  dataOf(await acme.owner.post('/contacts/merge', { primaryId, secondaryId }));
/** A text that waits, because its vendor throttles. */
async function waiting(contactId: string, fields: Loose = {}): Promise<string> {
  simulatorOf(api).will({ kind: 'refuse', status: 429, code: 20429 });
  const message = dataOf(await acme.owner.post('/messages/sms/send', { contactId, body: 'Hello', ...fields }));
  expect(message.status).toBe('queued');
  return message.id;
}
/** Texts once they have gone. */
async function sent(...ids: string[]): Promise<Loose[]> {
  api.clock.advance(minute);
  const read = () => Promise.all(ids.map(async (id) => dataOf(await acme.owner.get(`/messages/sms/${id}`)) as Loose));
  await eventually(async () => (await read()).every(({ status }) => status === 'sent'));
  return read();
}

describe('a text that waits while its contact is merged into another', () => {
  it('goes to the number of the one that is kept, unless it names another', async () => {
    const [kept, gone] = [await acme.contact({ phone: nextNumber() }), await acme.contact({ phone: nextNumber() })];
    const elsewhere = nextNumber();
    const id = await waiting(gone.id);
    const others = [await waiting(gone.id, { toNumber: elsewhere }), await waiting(kept.id, { toNumber: gone.phone })];
    const told = await toldIn(acme, () => merge(kept.id, gone.id));
    const ofIts = told.rows.filter(({ entityId, name }) => entityId === id && name === 'message.updated');
    expect(Object.assign({}, ...ofIts.map(({ changes }) => changes))).toEqual({
      toNumber: { from: gone.phone, to: kept.phone },
      contactId: { from: gone.id, to: kept.id },
    });
    const texts = await sent(id, ...others);
    expect(texts.map(({ toNumber, contactId }) => [toNumber, contactId])).toEqual(
      [kept.phone, elsewhere, gone.phone].map((number) => [number, kept.id]),
    );
    expect([kept, gone].map(({ phone }) => messagesTo(api, phone).length)).toEqual([1, 1]);
  });

  it('stays with its number where that becomes the number of the one that is kept', async () => {
    const [kept, gone] = [await acme.contact({ firstName: 'Ann' }), await acme.contact({ phone: nextNumber() })];
    const id = await waiting(gone.id);
    await merge(kept.id, gone.id);
    expect(await sent(id)).toMatchObject([{ toNumber: gone.phone, contactId: kept.id }]);
  });
});
