import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

describe('the stored score of a contact with whom several things happen at once', () => {
  const answer = (contactId: string) => ({ contactId, channel: 'sms', direction: 'inbound', body: 'Yes' });

  it('counts all of them: what they write', async () => {
    for (let n = 0; n < 10; n++) {
      const { id } = await acme.contact();
      const replies = await Promise.all([1, 2, 3].map(() => acme.owner.post('/messages', answer(id))));
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
      const { score } = dataOf(await acme.owner.get(`/contacts/${id}/score`));
      expect([score, dataOf(await acme.owner.get(`/contacts/${id}`)).leadScore]).toEqual([25, 25]);
    }
  });

  it('counts all of them: messages, deals and calls', async () => {
    const { id: pipelineId, stages } = await acme.pipeline();
    const call = { direction: 'outbound', fromNumber: '+14155550100', toNumber: '+14155550101', status: 'completed' };
    for (let n = 0; n < 10; n++) {
      const { id: contactId } = await acme.contact();
      const replies = await Promise.all([
        acme.owner.post('/messages', answer(contactId)),
        acme.owner.post('/deals', { title: 'Sale', contactId, pipelineId, stageId: stages[0].id }),
        acme.owner.post('/calls', { contactId, ...call }),
      ]);
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
      const { score } = dataOf(await acme.owner.get(`/contacts/${contactId}/score`));
      expect(dataOf(await acme.owner.get(`/contacts/${contactId}`)).leadScore).toBe(score);
      expect(score).toBe(30);
    }
  });

  it('lets nobody wait for the other for ever: deals', async () => {
    const deadlocks = async () =>
      (await api.app.database.execute('select deadlocks::int from pg_stat_database where datname = current_database()', []))
        .rows as object[];
    const before = await deadlocks();
    const { id: pipelineId, stages } = await acme.pipeline();
    for (let n = 0; n < 5; n++) {
      const { id: contactId } = await acme.contact();
      const deal = { title: 'Sale', contactId, pipelineId, stageId: stages[0].id };
      const replies = await Promise.all(Array.from({ length: 8 }, () => acme.owner.post('/deals', deal)));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]));
      expect(dataOf(await acme.owner.get(`/contacts/${contactId}`)).leadScore).toBe(20);
    }
    await new Promise((resume) => setTimeout(resume, 1100));
    expect(await deadlocks()).toEqual(before);
  });
});
