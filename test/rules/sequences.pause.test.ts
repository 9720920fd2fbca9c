import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  hour,
  type KeyClient,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';
import { aStep, Sequences } from '../support/sequences.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let sequences: Sequences;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
  sequences = new Sequences(acme, key);
});
afterEach(() => api.clock.reset());
afterAll(() => api.close());

const steer = async (id: string, verb: 'pause' | 'resume') =>
  key.post(`/emails/sequences/${(await sequences.run(id)).sequenceId}/enrollments/${id}/${verb}`, {});

describe('a run that is paused', () => {
  it('sends nothing, and goes on where it stood once it is resumed', async () => {
    const id = await sequences.begin([aStep(0), aStep(2)]);
    await sequences.sent(id, 1);
    const { nextEmailAt } = await sequences.run(id);
    api.clock.advance(day);
    const told = await toldIn(acme, async () =>
      expect(dataOf(await steer(id, 'pause'))).toMatchObject({ id, status: 'paused', currentStep: 1 }),
    );
    expect(told.events).toEqual([`enrollment.updated ${id}`]);
    api.clock.advance(10 * day);
    await sequences.looked();
    expect([(await sequences.run(id)).currentStep, (await sequences.mails(id)).length]).toEqual([1, 1]);
    const resumed = dataOf(await steer(id, 'resume'));
    expect(resumed).toMatchObject({ status: 'active', heldAt: null });
    // Later by the ten days of the pause.
    expect(Math.abs(Date.parse(resumed.nextEmailAt) - nextEmailAt!.getTime() - 10 * day)).toBeLessThan(hour);
    await sequences.looked();
    expect(await sequences.mails(id)).toHaveLength(1);
    api.clock.advance(day + hour);
    await sequences.sent(id, 2);
    expect((await sequences.done(id, 2)).status).toBe('completed');
  });

  it('stays as it is where it is so already', async () => {
    const id = await sequences.begin([aStep(1)]);
    await expectNothingWritten(api, async () => expect(dataOf(await steer(id, 'resume')).status).toBe('active'));
    dataOf(await steer(id, 'pause'));
    await expectNothingWritten(api, async () => expect(dataOf(await steer(id, 'pause')).status).toBe('paused'));
  });

  it('waits for its sequence where that is inactive', async () => {
    const id = await sequences.begin([aStep(1)]);
    const { sequenceId } = await sequences.run(id);
    dataOf(await steer(id, 'pause'));
    await sequences.change(sequenceId, { isActive: false });
    expect(dataOf(await steer(id, 'resume'))).toMatchObject({ status: 'active', heldAt: expect.any(String) });
    api.clock.advance(3 * day);
    await sequences.looked();
    expect(await sequences.mails(id)).toEqual([]);
    await sequences.change(sequenceId, { isActive: true });
    api.clock.advance(day + hour);
    await sequences.sent(id, 1);
  });

  it('is a run of its sequence, and not one that has ended', async () => {
    const [id, other] = [await sequences.begin([aStep(1)]), await sequences.make([aStep(1)])];
    const { sequenceId, contactId } = await sequences.run(id);
    expectRefusal(await key.post(`/emails/sequences/${other}/enrollments/${id}/pause`, {}), 404);
    dataOf(await key.post(`/emails/sequences/${sequenceId}/unenroll`, { contactId }));
    await expectNothingWritten(api, async () => {
      for (const verb of ['pause', 'resume'] as const) expect((await steer(id, verb)).status).toBe(409);
    });
  });

  it('ends as an active one does', async () => {
    const id = await sequences.begin([aStep(1)]);
    const { contactId } = await sequences.run(id);
    dataOf(await steer(id, 'pause'));
    dataOf(await key.patch(`/contacts/${contactId}`, { doNotContact: true }));
    expect(await sequences.run(id)).toMatchObject({ status: 'cancelled', endReason: 'do_not_contact' });
  });
});
