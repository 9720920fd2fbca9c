import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { removals, whileHeldUp } from '../support/heldUp.js';
import { type Account, dataOf, type Loose, onPostgres, type Reply, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const from = (start: string, end: string) => ({ startTime: `2030-05-06T${start}:00Z`, endTime: `2030-05-06T${end}:00Z` });
const book = (calendarId: string, body: Loose) => acme.owner.post(`/calendars/${calendarId}/appointments`, { title: 'Talk', ...body });
const made = async (calendarId: string, body: Loose): Promise<Loose> => dataOf(await book(calendarId, body));
const pathOf = ({ calendarId, id }: Loose) => `/calendars/${calendarId}/appointments/${id}`;
const change = (appointment: Loose, body: Loose) => acme.owner.patch(pathOf(appointment), body);
const buffer = async (calendarId: string, bufferMinutes: number) =>
  dataOf(await acme.owner.patch(`/calendars/${calendarId}`, { bufferMinutes }));

/** One appointment right before another, on a calendar whose buffer they have no room for since. */
async function neighbours(more: Loose = {}): Promise<{ id: string; first: Loose; second: Loose }> {
  const { id } = await acme.calendar();
  const [first, second] = [await made(id, { ...from('10:00', '11:00'), ...more }), await made(id, { ...from('11:00', '12:00'), ...more })];
  await buffer(id, 30);
  return { id, first, second };
}

/** That the time from 11:00 on is free again after the buffer of what is before it, and no earlier. */
async function expectBuffer(id: string, more: Loose = {}): Promise<void> {
  expect((await book(id, { ...from('11:00', '11:30'), ...more })).status).toBe(409);
  expect((await book(id, { ...from('11:29', '11:45'), ...more })).status).toBe(409);
  await made(id, { ...from('11:30', '11:45'), ...more });
}

describe('an appointment whose buffer the next one cuts short', () => {
  it('may be handed on, shortened and moved within its time, and not lengthened', async () => {
    const { first } = await neighbours({ assignedTo: acme.ownerId });
    const { userId } = await acme.member();
    for (const changes of [
      { assignedTo: userId },
      { assignedTo: null },
      { endTime: from('10:00', '10:45').endTime },
      { startTime: from('10:15', '10:45').startTime },
      from('09:00', '09:45'),
    ])
      expect((await change(first, changes)).status).toBe(200);
    expect((await change(first, from('10:00', '11:00'))).status).toBe(409);
    dataOf(await change(first, { status: 'cancelled' }));
    expect((await change(first, { status: 'scheduled', ...from('10:00', '10:45') })).status).toBe(409);
  });

  const leaves: [string, (second: Loose) => Promise<unknown>][] = [
    ['is cancelled', async (second) => dataOf(await change(second, { status: 'cancelled' }))],
    ['is over', async (second) => dataOf(await change(second, { status: 'completed' }))],
    ['is deleted', async (second) => dataOf(await acme.owner.del(pathOf(second)))],
    ['is moved', async (second) => dataOf(await change(second, from('15:00', '16:00')))],
  ];

  it.each(leaves)('has it once the next one %s', async (_, leave) => {
    const { id, second } = await neighbours();
    await leave(second);
    await expectBuffer(id);
  });

  it('has as much of it as there is room for', async () => {
    const { id, second } = await neighbours();
    dataOf(await change(second, { startTime: from('11:10', '12:00').startTime }));
    expect((await book(id, from('11:00', '11:05'))).status).toBe(409);
    dataOf(await change(second, { status: 'cancelled' }));
    await expectBuffer(id);
  });

  it('has it where the next one of its person, on another calendar, leaves them', async () => {
    for (const leave of [(next: Loose) => change(next, { assignedTo: null }), (next: Loose) => change(next, { status: 'cancelled' })]) {
      const { userId: assignedTo } = await acme.member();
      const [one, other] = [await acme.calendar(), await acme.calendar()];
      await made(one.id, { ...from('10:00', '11:00'), assignedTo });
      const next = await made(other.id, { ...from('11:00', '12:00'), assignedTo });
      await buffer(one.id, 30);
      dataOf(await leave(next));
      await expectBuffer(one.id);
    }
  });
});

describe('an appointment that the next one of its person, on another calendar, cuts short', () => {
  const leaves: [string, (first: Loose) => Promise<unknown>][] = [
    ['is handed to somebody else', async (first) => change(first, { assignedTo: (await acme.member()).userId }).then(dataOf)],
    ['is handed to nobody', async (first) => dataOf(await change(first, { assignedTo: null }))],
    ['loses its person', async (first) => dataOf(await acme.owner.del(`/users/${first.assignedTo}`))],
  ];

  it.each(leaves)('has its buffer once it %s', async (_, leave) => {
    const { userId: assignedTo } = await acme.member();
    const [one, other] = [await acme.calendar(), await acme.calendar()];
    const first = await made(one.id, { ...from('10:00', '11:00'), assignedTo });
    await made(other.id, { ...from('11:00', '12:00'), assignedTo });
    await buffer(one.id, 30);
    await leave(first);
    await expectBuffer(one.id);
  });
});

describe('an appointment that has just ended', () => {
  it('has the buffer that its calendar has now', async () => {
    const key = await acme.key();
    const { id } = await acme.calendar({ bufferMinutes: 30 });
    await made(id, from('10:00', '11:00'));
    api.clock.set('2030-05-06T11:02:00Z');
    const booked = async (start: string) =>
      (await key.post(`/calendars/${id}/appointments`, { title: 'Talk', ...from(start, '11:20') })).status;
    const set = async (bufferMinutes: number) => dataOf(await key.patch(`/calendars/${id}`, { bufferMinutes }));
    expect(await booked('11:10')).toBe(409);
    await set(5);
    await set(15);
    expect(await booked('11:10')).toBe(409);
    await set(5);
    expect(await booked('11:04')).toBe(409);
    expect(await booked('11:10')).toBe(201);
    api.clock.reset();
  });
});

describe('a time that is left while others book it', () => {
  it('has one of them or the buffer, and nobody hears of a fault', async () => {
    for (let round = 0; round < 6; round++) {
      const { userId: assignedTo } = await acme.member();
      const { id, second } = await neighbours({ assignedTo });
      const other = await acme.calendar();
      const replies = await Promise.all([
        change(second, { status: 'cancelled' }),
        ...Array.from({ length: 4 }, () => book(id, from('11:00', '11:30'))),
        ...Array.from({ length: 4 }, () => book(other.id, { ...from('11:00', '11:30'), assignedTo })),
      ]);
      expect(replies.map(({ status }) => status)).toEqual([200, ...Array(8).fill(409)]);
      await made(id, { ...from('11:30', '11:45'), assignedTo });
    }
  });

  it('is booked for a person on other calendars, or goes to the buffer of one that is changed', async () => {
    for (let round = 0; round < 6; round++) {
      const { userId: assignedTo } = await acme.member();
      const { id } = await acme.calendar();
      await made(id, { ...from('10:00', '11:00'), assignedTo });
      const others = await Promise.all(Array.from({ length: 8 }, () => acme.calendar()));
      const [changed, ...booked] = await Promise.all([
        acme.owner.patch(`/calendars/${id}`, { bufferMinutes: 30 }),
        ...others.map((other) => book(other.id, { ...from('11:00', '11:30'), assignedTo })),
      ]);
      expect(changed.status).toBe(200);
      const taken = booked.filter(({ status }) => status === 201).length;
      expect(taken).toBeLessThanOrEqual(1);
      expect(booked.filter(({ status }) => status === 409)).toHaveLength(8 - taken);
      await made(id, { ...from('11:30', '11:45'), assignedTo });
    }
  });

  it('is booked in three statements, and left in one more than words are changed in', async () => {
    const { id } = await acme.calendar({ bufferMinutes: 15 });
    let hour = 0;
    const next = () => from(`${String(++hour).padStart(2, '0')}:00`, `${String(hour).padStart(2, '0')}:30`);
    const appointment = await made(id, next());
    expect(await api.statements(() => made(id, { ...next(), assignedTo: acme.ownerId }))).toBeLessThanOrEqual(3);
    let n = 0;
    const noted = await api.statements(async () => dataOf(await change(appointment, { notes: `Noted ${++n}` })));
    const booked = [await made(id, next()), await made(id, next()), await made(id, next()), await made(id, next())];
    const cancelled = await api.statements(async () => dataOf(await change(booked.pop()!, { status: 'cancelled' })));
    expect(cancelled).toBeLessThanOrEqual(noted + 1);
  });
});

/** Appointments that leave their time. */
const leaving = { table: 'appointments', columns: 'status, deleted_at', rows: "new.status <> 'scheduled' or new.deleted_at is not null" };

onPostgres(describe)('an appointment whose calendar gets a buffer while the next one of its person leaves', () => {
  const leaves: [string, (next: Loose) => Promise<Reply>][] = [
    ['is deleted', (next) => acme.owner.del(pathOf(next))],
    ['is cancelled', (next) => change(next, { status: 'cancelled' })],
    ['is over', (next) => change(next, { status: 'completed' })],
  ];

  it.each(leaves)('has it whole where the next one %s', async (_, leave) => {
    const { userId: assignedTo } = await acme.member();
    const [one, other] = [await acme.calendar(), await acme.calendar()];
    await made(one.id, { ...from('10:00', '11:00'), assignedTo });
    const next = await made(other.id, { ...from('11:00', '12:00'), assignedTo });
    const { replies } = await whileHeldUp(
      api,
      leaving,
      () => leave(next),
      () => acme.owner.patch(`/calendars/${one.id}`, { bufferMinutes: 30 }),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    await expectBuffer(one.id);
  });
});

onPostgres(describe)('a calendar that gets another buffer while the person who cuts it short is removed', () => {
  it('comes after the removal, which has taken the calendar before the person', async () => {
    const { userId: assignedTo } = await acme.member();
    const [one, other] = [await acme.calendar(), await acme.calendar()];
    await made(one.id, { ...from('10:00', '11:00'), assignedTo });
    await made(other.id, { ...from('11:00', '12:00'), assignedTo });
    await buffer(one.id, 15);
    const { replies, waitedFor } = await whileHeldUp(
      api,
      removals,
      () => acme.owner.del(`/users/${assignedTo}`),
      () => acme.owner.patch(`/calendars/${one.id}`, { bufferMinutes: 30 }),
    );
    // Where it waited for the person, it would have the calendar that the removal wants next.
    expect(waitedFor).toEqual(['calendars']);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    await expectBuffer(one.id);
  });
});

describe('an appointment at the end of the last year', () => {
  const late = { startTime: '9999-12-31T22:00:00Z', endTime: '9999-12-31T23:30:00Z' };

  it('has as much of its buffer as the year has left', async () => {
    const { id } = await acme.calendar({ bufferMinutes: 60 });
    const last = await made(id, late);
    expect((await book(id, { startTime: '9999-12-31T23:45:00Z', endTime: '9999-12-31T23:50:00Z' })).status).toBe(409);
    dataOf(await change(last, { startTime: '9999-12-31T22:30:00Z' }));
    dataOf(await change(last, { endTime: '9999-12-31T23:59:59.999Z' }));
  });

  it('is changed as any other once its calendar has a buffer', async () => {
    const { id } = await acme.calendar();
    const last = await made(id, { ...late, assignedTo: acme.ownerId });
    await buffer(id, 60);
    for (const fields of [{ assignedTo: null }, { status: 'cancelled' }, { status: 'scheduled' }, { startTime: '9999-12-31T22:30:00Z' }])
      dataOf(await change(last, fields));
    await buffer(id, 0);
    await made(id, { startTime: '9999-12-31T23:30:00Z', endTime: '9999-12-31T23:50:00Z' });
  });
});
