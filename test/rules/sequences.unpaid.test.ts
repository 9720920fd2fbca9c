import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { dataOf, day, hour, minute, server, type TestServer, toldIn } from '../support/index.js';
import { eventually } from '../support/live.js';
import { aStep, Sequences } from '../support/sequences.js';

let api: TestServer;
let paying: Sequences;
beforeAll(async () => {
  api = await server();
  const account = await api.seed.account();
  paying = new Sequences(account, await account.key());
});
afterEach(() => api.clock.reset());
afterAll(() => api.close());

describe('a run of a workspace whose trial has ended', () => {
  it('is put off by a day at a time, and goes on with what is left of it once the workspace pays', async () => {
    const account = await api.seed.account({ plan: 'trial' });
    const sequences = new Sequences(account, await account.key());
    const id = await sequences.begin([aStep(13), aStep(15), aStep(20)]);
    const { nextEmailAt: first } = await sequences.run(id);
    api.clock.advance(13 * day + hour);
    await sequences.sent(id, 1);

    const told = await toldIn(account, async () => {
      api.clock.advance(2 * day);
      await eventually(async () => (await sequences.run(id)).nextEmailAt!.getTime() > api.clock.now().getTime());
    });
    expect(told.events).toEqual([`enrollment.updated ${id}`]);
    api.clock.advance(3 * day);
    await paying.looked();
    await eventually(async () => (await sequences.run(id)).nextEmailAt!.getTime() > api.clock.now().getTime());
    expect([(await sequences.run(id)).currentStep, (await sequences.mails(id)).length]).toEqual([1, 1]);

    await api.app.database.prisma.account.update({ where: { id: account.id }, data: { plan: 'standard', trialEndsAt: null } });
    api.clock.advance(day);
    await sequences.sent(id, 2);
    // Its day is the 20th of the run, which is later by the four days that it was put off.
    const { nextEmailAt: third } = await sequences.run(id);
    expect(Math.round((third!.getTime() - first!.getTime()) / day)).toBe(4 + 20 - 13);
  });
});

describe('a run that is put off over a change of clocks', () => {
  it('keeps the local time of its enrollment for all that is left', async () => {
    api.clock.set('2027-03-12T13:59:00Z');
    const account = await api.seed.account({ plan: 'trial' });
    const { account: accounts } = api.app.database.prisma;
    const become = (data: object) => accounts.update({ where: { id: account.id }, data });
    await become({ timezone: 'America/New_York', trialEndsAt: new Date('2027-03-13T05:00:00Z') });
    api.clock.set('2027-03-12T14:00:00Z');
    const sequences = new Sequences(account, await account.key());
    const id = await sequences.begin([aStep(0), aStep(1), aStep(5)]);
    await sequences.sent(id, 1);
    const nextIsAt = async (moment: string) => {
      const { nextEmailAt } = await sequences.run(id);
      // Within the seconds that the test has taken.
      expect(Math.abs(nextEmailAt!.getTime() - Date.parse(moment))).toBeLessThan(minute);
      return nextEmailAt!;
    };
    api.clock.set(await nextIsAt('2027-03-13T14:00:00Z'));
    await eventually(async () => (await sequences.run(id)).nextEmailAt!.getTime() > api.clock.now().getTime());
    // The day that it is put off by has 23 hours.
    const second = await nextIsAt('2027-03-14T13:00:00Z');
    await become({ plan: 'standard', trialEndsAt: null });
    api.clock.set(second);
    await sequences.sent(id, 2);
    await nextIsAt('2027-03-18T13:00:00Z');
  });
});

describe('a run of a workspace that is suspended', () => {
  const suspended = async () => {
    const account = await api.seed.account();
    const sequences = new Sequences(account, await account.key());
    const id = await sequences.begin([aStep(0), aStep(1), aStep(3)]);
    await sequences.sent(id, 1);
    const suspend = (suspendedAt: Date | null) =>
      api.app.database.prisma.account.update({ where: { id: account.id }, data: { suspendedAt } });
    await suspend(api.clock.now());
    const wait = async (ms: number) => {
      api.clock.advance(ms);
      await eventually(async () => (await sequences.run(id)).dueAt!.getTime() > api.clock.now().getTime());
    };
    return { sequences, id, wait, comeBack: () => suspend(null) };
  };

  /** The days between the second mail, which goes now, and the third. */
  async function daysLeft(sequences: Sequences, id: string): Promise<number> {
    const [, second] = await sequences.sent(id, 2);
    await paying.looked();
    const { nextEmailAt } = await sequences.run(id);
    expect(await sequences.mails(id)).toHaveLength(2);
    return Math.round((nextEmailAt!.getTime() - second!.createdAt.getTime()) / day);
  }

  it('goes on with what is left of it once that ends, later by the time that its step was put off', async () => {
    const { sequences, id, wait, comeBack } = await suspended();
    for (const days of [1, 9]) await wait(days * day + hour);
    await comeBack();
    api.clock.advance(2 * hour);
    expect(await daysLeft(sequences, id)).toBe(2);
    api.clock.advance(2 * day);
    await sequences.sent(id, 3);
    expect(await sequences.run(id)).toMatchObject({ status: 'completed' });
  });

  const steer = async (sequences: Sequences, id: string, verb: 'pause' | 'resume') =>
    dataOf(await sequences.key.post(`/emails/sequences/${(await sequences.run(id)).sequenceId}/enrollments/${id}/${verb}`, {}));
  const turn = async (sequences: Sequences, id: string, isActive: boolean) =>
    sequences.change((await sequences.run(id)).sequenceId, { isActive });

  it.each<[string, (sequences: Sequences, id: string) => Promise<unknown>, (sequences: Sequences, id: string) => Promise<unknown>]>([
    ['is paused', (...run) => steer(...run, 'pause'), (...run) => steer(...run, 'resume')],
    ['is held with its sequence', (...run) => turn(...run, false), (...run) => turn(...run, true)],
  ])('does so where it %s before the step that was put off could go', async (_what, hold, goOn) => {
    const { sequences, id, wait, comeBack } = await suspended();
    const { nextEmailAt: planned } = await sequences.run(id);
    await wait(4 * day + hour);
    await comeBack();
    const told = await toldIn(sequences.account, async () => void (await hold(sequences, id)));
    expect(told.events).toContain(`enrollment.updated ${id}`);
    const held = await sequences.run(id);
    expect([held.dueAt, Math.round((held.nextEmailAt!.getTime() - planned!.getTime()) / day)]).toEqual([null, 3]);
    await goOn(sequences, id);
    api.clock.advance(2 * hour);
    expect(await daysLeft(sequences, id)).toBe(2);
  });
});
