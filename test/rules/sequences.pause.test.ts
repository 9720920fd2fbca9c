import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  hour,
  type KeyClient,
  minute,
  onPostgres,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';
import { eventually } from '../support/live.js';
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

describe('a run that is held over a change of clocks', () => {
  it.each<[string, (own: Sequences, run: { id: string; sequenceId: string }, isOn: boolean) => Promise<unknown>]>([
    [
      'by itself',
      async ({ key: own }, { id, sequenceId }, isOn) =>
        dataOf(await own.post(`/emails/sequences/${sequenceId}/enrollments/${id}/${isOn ? 'resume' : 'pause'}`, {})),
    ],
    ['with its sequence', (own, { sequenceId }, isActive) => own.change(sequenceId, { isActive })],
  ])('%s keeps the local time of its enrollment for all that is left', async (_how, turn) => {
    api.clock.set('2027-03-08T14:00:00Z');
    const account = await api.seed.account();
    await api.app.database.prisma.account.update({ where: { id: account.id }, data: { timezone: 'America/New_York' } });
    const own = new Sequences(account, await account.key());
    const id = await own.begin([aStep(0), aStep(5), aStep(6)]);
    await own.sent(id, 1);
    const nextIsAt = async (moment: string) => {
      const { nextEmailAt } = await own.run(id);
      // Within the seconds that the test has taken.
      expect(Math.abs(nextEmailAt!.getTime() - Date.parse(moment))).toBeLessThan(minute);
      return nextEmailAt!;
    };
    const run = await own.run(id);
    api.clock.set('2027-03-12T17:00:00Z');
    await turn(own, run, false);
    // Three days later by the clocks, of which one has 23 hours.
    api.clock.set('2027-03-15T16:00:00Z');
    await turn(own, run, true);
    api.clock.set(await nextIsAt('2027-03-16T13:00:00Z'));
    await own.sent(id, 2);
    await nextIsAt('2027-03-17T13:00:00Z');
  });
});

const connected = async (): Promise<pg.Client> => {
  const client = new pg.Client(api.place.databaseUrl);
  await client.connect();
  return client;
};

/** How many statements wait for a lock, as somebody outside sees it. */
const waiting = async (outside: pg.Client): Promise<number> =>
  (await outside.query("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).rows.length;

/** Resumes a run while somebody else holds something, until what is done then is done as well, or waits for that. */
async function resumedWhile(id: string, holding: [text: string, id: string], meanwhile: () => Promise<unknown>): Promise<void> {
  const [holder, outside] = await Promise.all([connected(), connected()]);
  try {
    await holder.query('begin');
    await holder.query(holding[0], [holding[1]]);
    const resumed = steer(id, 'resume');
    await eventually(async () => (await waiting(outside)) > 0);
    const changed = meanwhile();
    await Promise.race([changed, eventually(async () => (await waiting(outside)) > 1)]);
    await holder.query('commit');
    dataOf(await resumed);
    await changed;
  } finally {
    await Promise.all([holder.end(), outside.end()]);
  }
}

onPostgres(describe)('a run that is resumed', () => {
  const heldRun = (id: string): [string, string] => ['select 1 from enrollments where id = $1 for update', id];

  it('while its sequence is made inactive waits for that', async () => {
    const id = await sequences.begin([aStep(1)]);
    dataOf(await steer(id, 'pause'));
    const { sequenceId } = await sequences.run(id);
    await resumedWhile(id, heldRun(id), () => sequences.change(sequenceId, { isActive: false }));
    expect(await sequences.run(id)).toMatchObject({ status: 'active', heldAt: expect.any(Date), dueAt: null });
  });

  it('goes by its sequence as it has become since it was looked at', async () => {
    const id = await sequences.begin([aStep(1)]);
    dataOf(await steer(id, 'pause'));
    const { sequenceId } = await sequences.run(id);
    const inactive = "update sequences set is_active = false, status = 'inactive' where id = $1";
    await resumedWhile(id, [inactive, sequenceId], async () => {});
    expect(await sequences.run(id)).toMatchObject({ status: 'active', heldAt: expect.any(Date), dueAt: null });
  });

  it('while its sequence is made active again goes on', async () => {
    const id = await sequences.begin([aStep(1)]);
    dataOf(await steer(id, 'pause'));
    const { sequenceId } = await sequences.run(id);
    await sequences.change(sequenceId, { isActive: false });
    await resumedWhile(id, heldRun(id), () => sequences.change(sequenceId, { isActive: true }));
    expect(await sequences.run(id)).toMatchObject({ status: 'active', heldAt: null, dueAt: expect.any(Date) });
  });
});

onPostgres(describe)('a mail that comes due while its sequence is inactive', () => {
  it('waits for whoever holds the sequence, and holds no enrollment that they may want', async () => {
    const id = await sequences.begin([aStep(0), aStep(1)]);
    await sequences.sent(id, 1);
    const { sequenceId } = await sequences.run(id);
    await sequences.change(sequenceId, { isActive: false });
    const dueAt = new Date(api.clock.now().getTime() + hour / 2);
    await sequences.patchMails(id, { status: 'queued', sentAt: null, error: 'mail_server_unavailable', dueAt });
    const [holder, outside] = await Promise.all([connected(), connected()]);
    try {
      await holder.query('begin');
      await holder.query('select 1 from sequences where id = $1 for update', [sequenceId]);
      api.clock.advance(hour);
      await eventually(async () => (await waiting(outside)) > 0);
      await holder.query("set local lock_timeout = '500ms'");
      expect((await holder.query('select 1 from enrollments where id = $1 for update', [id])).rows).toHaveLength(1);
      await holder.query('commit');
    } finally {
      await Promise.all([holder.end(), outside.end()]);
    }
    await eventually(async () => (await sequences.mails(id))[0]!.dueAt === null);
    expect(await sequences.mails(id)).toMatchObject([{ status: 'queued', leasedUntil: null }]);
  });
});
