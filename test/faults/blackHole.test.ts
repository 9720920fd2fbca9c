import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

import { Receiver } from '../support/receiver.js';

/** Endpoints that answer, contacts of which each is told, and until when the last of them must have come: a hole holds an attempt for 10 s. */
const [endpoints, contacts, boundMs] = [99, 4, 8000];

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

describe('an endpoint that takes connections and never answers', () => {
  it(`does not delay ${endpoints} others`, async () => {
    const [hole, good] = [await Receiver.open(() => undefined), await Receiver.open()];
    const key = await acme.key();
    const listen = async (url: string) => dataOf(await key.post('/webhooks/manage', { url, events: ['contact.created'] })).id as string;
    const lost = await listen(hole.url);
    for (let n = 0; n < endpoints; n++) await listen(new URL(`/${n}`, good.url).href);
    const begun = Date.now();
    for (let n = 0; n < contacts; n++) await acme.contact({ firstName: `C${n}` });
    await good.until(endpoints * contacts, boundMs);
    const lags = good.received.map(({ at }) => at - begun).sort((a, b) => a - b);
    expect(lags.at(-1)).toBeLessThan(boundMs);
    const byPath = new Map<string, Set<string>>();
    for (const { path, body } of good.received) byPath.set(path, (byPath.get(path) ?? new Set()).add(JSON.parse(body).id));
    expect([byPath.size, ...new Set([...byPath.values()].map(({ size }) => size))]).toEqual([endpoints, contacts]);
    // No more than four of its attempts are under way, and none of them has ended.
    expect(hole.received.length).toBeLessThanOrEqual(4);
    const deliveries: Loose[] = dataOf(await key.get(`/webhooks/manage/${lost}/deliveries`)).data;
    expect(deliveries.map(({ status, attemptCount }) => [status, attemptCount])).toEqual(
      Array.from({ length: contacts }, () => ['pending', 0]),
    );
    dataOf(await key.del(`/webhooks/manage/${lost}`));
    await hole.close();
    await good.close();
  });
});
