import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  type Reply,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const at = (time: string, day = '2030-05-06') => `${day}T${time}:00Z`;
const from = (start: string, end: string, day?: string) => ({ startTime: at(start, day), endTime: at(end, day) });
const book = (calendarId: string, body: Loose, client = acme.owner) =>
  client.post(`/calendars/${calendarId}/appointments`, { title: 'Talk', ...body });
const made = async (calendarId: string, body: Loose) => dataOf(await book(calendarId, body));
const change = ({ calendarId, id }: Loose, body: Loose) => acme.owner.patch(`/calendars/${calendarId}/appointments/${id}`, body);
const expectOverlap = (reply: Loose, of: RegExp) => {
  expectRefusal(reply as Reply, 409, 'startTime');
  expect([reply.body.code, reply.body.error]).toEqual(['conflict', expect.stringMatching(of)]);
};

describe('POST /calendars/{id}/appointments', () => {
  it('keeps every field as it was sent', async () => {
    const [calendar, contact] = [await acme.calendar(), await acme.contact()];
    const fields = {
      ...{ title: 't'.repeat(500), startTime: '2030-05-06T10:00:00.000Z', endTime: '2030-05-06T11:30:00.000Z' },
      ...{ contactId: contact.id, assignedTo: acme.ownerId, description: 'd'.repeat(5000), location: 'l'.repeat(500) },
      ...{ notes: 'n'.repeat(5000), metadata: { room: { floor: 3 } }, status: 'completed' },
    };
    const reply = await book(calendar.id, fields);
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject({ ...fields, calendarId: calendar.id });
    expect(dataOf(await acme.owner.get(`/calendars/${calendar.id}/appointments/${reply.body.data.id}`))).toEqual(reply.body.data);
  });

  it('fills in the defaults', async () => {
    const { id, createdAt, updatedAt, ...rest } = await acme.appointment({ title: ' Demo ' });
    expect(updatedAt).toBe(createdAt);
    const nothing = { contactId: null, assignedTo: null, description: null, location: null, notes: null, metadata: null };
    expect(rest).toEqual({
      ...{ title: 'Demo', status: 'scheduled', calendarId: rest.calendarId, ...nothing },
      ...{ startTime: '2030-05-06T12:00:00.000Z', endTime: '2030-05-06T12:30:00.000Z' },
    });
  });

  it('tells it, in the log of the contact too', async () => {
    const [calendar, contact] = [await acme.calendar(), await acme.contact()];
    let id = '';
    const told = await toldIn(acme, async () => {
      id = (await made(calendar.id, { contactId: contact.id, ...from('10:00', '11:00') })).id;
    });
    expect(told.events).toEqual([`appointment.created ${id}`]);
    const log = dataOf(await acme.owner.get(`/activities?contact_id=${contact.id}`)).data as Loose[];
    expect(log.map(({ type, description }) => [type, description])).toContainEqual(['appointment.created', 'Talk']);
  });
});

describe('A booking', () => {
  it('takes a time without an offset by the clocks of the calendar', async () => {
    const calendar = await acme.calendar({ timezone: 'Europe/Berlin' });
    const times: [string, string, string][] = [
      ['2030-01-10T09:00', '2030-01-10 10:00', '2030-01-10T08:00:00.000Z'],
      ['2030-07-10T09:00:00', '2030-07-10T10:00:00.5', '2030-07-10T07:00:00.000Z'],
      ['2030-07-11T09:00:00+05:30', '2030-07-11T09:00:00Z', '2030-07-11T03:30:00.000Z'],
      // Shown twice on the day on which the clocks go back: the first is meant.
      ['2030-10-27T02:30', '2030-10-27T03:00', '2030-10-27T00:30:00.000Z'],
    ];
    for (const [startTime, endTime, begins] of times) expect((await made(calendar.id, { startTime, endTime })).startTime).toBe(begins);
    const skipped = await book(calendar.id, { startTime: '2030-03-31T02:30', endTime: '2030-03-31T04:00' });
    expectRefusal(skipped, 400, 'startTime');
    expect(skipped.body.error).toContain('Europe/Berlin');
    expectRefusal(await book(calendar.id, { startTime: '2030-03-31T01:30', endTime: '2030-03-31T02:30' }), 400, 'endTime');
  });

  it('refuses what a field cannot hold, naming the field', async () => {
    const { id } = await acme.calendar();
    const bad: [string, Loose][] = [
      ...[null, '', ' ', 5, 't'.repeat(501)].map((title): [string, Loose] => ['title', { title }]),
      ...[null, '', 'soon', '2030-05-06', '2030-05-06T25:00', '2030-02-30T10:00', 5].flatMap((time): [string, Loose][] => [
        ['startTime', { startTime: time }],
        ['endTime', { endTime: time }],
      ]),
      ['endTime', from('10:00', '10:00')],
      ['endTime', from('10:00', '09:59')],
      ['endTime', { startTime: at('10:00'), endTime: '2130-05-06T10:00:00Z' }],
      ['endTime', { startTime: at('10:00'), endTime: '2031-05-07T10:00:01Z' }],
      ['startTime', { startTime: '0001-01-01T00:00:00+14:00' }],
      ...['', 'x', v4()].flatMap((id): [string, Loose][] =>
        id ? ['contactId', 'assignedTo'].map((field) => [field, { [field]: id }]) : [],
      ),
      ['status', { status: 'missed' }],
      ['description', { description: 'd'.repeat(5001) }],
      ['location', { location: 'l'.repeat(501) }],
      ['metadata', { metadata: [1] }],
    ];
    await expectNothingWritten(api, async () => {
      for (const [field, fields] of bad) expectRefusal(await book(id, { ...from('10:00', '11:00'), ...fields }), 400, field);
      expectRefusal(await book(id, {}), 400, 'startTime');
      expectRefusal(await book(v4(), from('10:00', '11:00')), 404);
      expectRefusal(await book('nobody', from('10:00', '11:00')), 404);
    });
  });

  it('does not know the calendars, contacts and users of another account', async () => {
    const other = await api.seed.account();
    const calendar = await acme.calendar();
    const [foreign, contactId] = [await other.calendar(), (await other.contact()).id];
    await expectNothingWritten(api, async () => {
      expectRefusal(await book(foreign.id, from('10:00', '11:00')), 404);
      expectRefusal(await book(calendar.id, { ...from('10:00', '11:00'), contactId }), 400, 'contactId');
      expectRefusal(await book(calendar.id, { ...from('10:00', '11:00'), assignedTo: other.ownerId }), 400, 'assignedTo');
    });
  });
});

describe('Two appointments', () => {
  it('that are scheduled never overlap on a calendar, and may touch', async () => {
    const { id } = await acme.calendar();
    await made(id, from('10:00', '11:00'));
    for (const [start, end] of [
      ['10:00', '11:00'],
      ['10:59', '12:00'],
      ['09:00', '10:01'],
      ['10:20', '10:30'],
      ['09:00', '12:00'],
    ] as const)
      expectOverlap(await book(id, from(start, end)), /calendar/);
    await made(id, from('11:00', '12:00'));
    await made(id, from('09:00', '10:00'));
    await made((await acme.calendar()).id, from('10:00', '11:00'));
    for (const status of ['completed', 'cancelled']) await made(id, { ...from('10:00', '11:00'), status });
  });

  it('that are scheduled never overlap for whom they are assigned to, whatever the calendar', async () => {
    const { userId: assignedTo } = await acme.member();
    const [one, two] = [await acme.calendar(), await acme.calendar()];
    await made(one.id, { ...from('10:00', '11:00'), assignedTo });
    expectOverlap(await book(two.id, { ...from('10:30', '11:30'), assignedTo }), /assignee/);
    const free = await made(two.id, from('10:30', '11:30'));
    expectOverlap(await change(free, { assignedTo }), /assignee/);
    await made(two.id, { ...from('11:30', '12:00'), assignedTo });
  });

  it('keep the buffer of their calendar between them', async () => {
    const { id } = await acme.calendar({ bufferMinutes: 15 });
    await made(id, from('10:00', '11:00'));
    for (const [start, end] of [
      ['11:00', '11:30'],
      ['11:14', '11:30'],
      ['09:00', '09:46'],
    ] as const)
      expectOverlap(await book(id, from(start, end)), /calendar/);
    await made(id, from('11:15', '11:30'));
    await made(id, from('09:00', '09:45'));
    dataOf(await acme.owner.patch(`/calendars/${id}`, { bufferMinutes: 30 }));
    expectOverlap(await book(id, from('11:45', '11:50')), /calendar/);
    dataOf(await acme.owner.patch(`/calendars/${id}`, { bufferMinutes: 0 }));
    await made(id, from('11:00', '11:15'));
  });

  it('are one, of fifty bookings of one time', async () => {
    const { id } = await acme.calendar({ bufferMinutes: 5 });
    const { userId: assignedTo } = await acme.member();
    const calendars = [id, ...(await Promise.all([acme.calendar(), acme.calendar()])).map((one) => one.id)];
    const sameTime = await Promise.all(Array.from({ length: 50 }, (_, n) => book(id, from('10:00', n % 2 ? '11:00' : '10:30'))));
    expect(sameTime.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)]);
    const samePerson = await Promise.all(
      Array.from({ length: 50 }, (_, n) => book(calendars[n % 3]!, { ...from('12:00', '13:00'), assignedTo })),
    );
    expect(samePerson.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)]);
  });
});

describe('PATCH /calendars/{id}/appointments/{appointmentId}', () => {
  it('moves, completes and cancels, and tells it once', async () => {
    const appointment = await acme.appointment({ metadata: { a: 1 }, location: 'Here' });
    const told = await toldIn(acme, async () => {
      expect(dataOf(await change(appointment, { ...from('14:00', '15:00'), location: null, notes: 'Moved' }))).toMatchObject({
        ...{
          startTime: '2030-05-06T14:00:00.000Z',
          endTime: '2030-05-06T15:00:00.000Z',
          location: null,
          notes: 'Moved',
          metadata: { a: 1 },
        },
      });
    });
    expect(told.events).toEqual([`appointment.updated ${appointment.id}`]);
    expect(Object.keys(told.rows[0]!.changes).sort()).toEqual(['endTime', 'location', 'notes', 'startTime']);
    for (const status of ['completed', 'scheduled', 'cancelled', 'completed', 'cancelled', 'scheduled'])
      expect(dataOf(await change(appointment, { status })).status).toBe(status);
    await expectNothingWritten(api, async () => dataOf(await change(appointment, { notes: 'Moved', ...from('14:00', '15:00') })));
  });

  it('is a conflict where the time is taken by now', async () => {
    const { id } = await acme.calendar();
    const first = await made(id, from('10:00', '11:00'));
    dataOf(await change(first, { status: 'cancelled' }));
    const second = await made(id, from('10:30', '11:30'));
    expectOverlap(await change(first, { status: 'scheduled' }), /calendar/);
    dataOf(await change(second, from('11:00', '11:30')));
    dataOf(await change(first, { status: 'scheduled' }));
    expectOverlap(await change(second, { startTime: at('10:59') }), /calendar/);
    dataOf(await change(second, { endTime: at('12:00') }));
    expectRefusal(await change(second, { endTime: at('11:00') }), 400, 'endTime');
    expectRefusal(await change(second, { startTime: at('12:00') }), 400, 'startTime');
  });

  it('moves one that is over as well, whatever the time', async () => {
    const over = await acme.appointment({ status: 'completed' });
    expect(dataOf(await change(over, from('18:00', '19:00')))).toMatchObject({ endTime: '2030-05-06T19:00:00.000Z' });
    expect(dataOf(await change(over, { endTime: at('18:10') }))).toMatchObject({ endTime: '2030-05-06T18:10:00.000Z' });
  });

  it('is one of fifty that want the same time', async () => {
    const { id } = await acme.calendar();
    const all = await Promise.all(Array.from({ length: 50 }, () => made(id, { ...from('10:00', '11:00'), status: 'cancelled' })));
    const replies = await Promise.all(all.map((one) => change(one, { status: 'scheduled' })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(409)]);
  });

  it('knows an appointment by its calendar alone', async () => {
    const [appointment, other] = [await acme.appointment(), await acme.calendar()];
    const path = `/calendars/${other.id}/appointments/${appointment.id}`;
    await expectNothingWritten(api, async () => {
      expectRefusal(await acme.owner.get(path), 404);
      expectRefusal(await acme.owner.patch(path, { title: 'Mine' }), 404);
      expectRefusal(await acme.owner.del(path), 404);
    });
  });
});

describe('DELETE /calendars/{id}/appointments/{appointmentId}', () => {
  it('frees the time, and is not found afterwards', async () => {
    const { id } = await acme.calendar();
    const appointment = await made(id, from('10:00', '11:00'));
    const path = `/calendars/${id}/appointments/${appointment.id}`;
    const told = await toldIn(acme, async () => expect(dataOf(await acme.owner.del(path))).toEqual({ id: appointment.id, deleted: true }));
    expect(told.events).toEqual([`appointment.deleted ${appointment.id}`]);
    for (const reply of [await acme.owner.get(path), await acme.owner.del(path), await acme.owner.patch(path, {})])
      expectRefusal(reply, 404);
    await made(id, from('10:00', '11:00'));
  });
});

describe('GET /calendars/{id}/appointments', () => {
  it('filters, sorts and pages', async () => {
    const [calendar, contact, { userId }] = [await acme.calendar(), await acme.contact(), await acme.member()];
    const all = [
      await made(calendar.id, { title: 'b', ...from('12:00', '13:00'), contactId: contact.id }),
      await made(calendar.id, { title: 'a', ...from('10:00', '11:00'), assignedTo: userId }),
      await made(calendar.id, { title: 'c', ...from('10:00', '11:00', '2030-05-07'), status: 'cancelled' }),
    ];
    await acme.appointment();
    const titles = async (query = '') =>
      dataOf(await acme.owner.get(`/calendars/${calendar.id}/appointments${query}`)).data.map((one: Loose) => one.title);
    expect(await titles()).toEqual(['a', 'b', 'c']);
    expect(await titles('?sort=startTime&order=desc')).toEqual(['c', 'b', 'a']);
    expect(await titles('?sort=createdAt&order=asc')).toEqual(['b', 'a', 'c']);
    expect(await titles('?status=scheduled')).toEqual(['a', 'b']);
    expect(await titles(`?contact_id=${contact.id}`)).toEqual(['b']);
    expect(await titles(`?assigned_to=${userId}`)).toEqual(['a']);
    expect(await titles('?start_after=2030-05-06T12:00:00Z')).toEqual(['b', 'c']);
    expect(await titles('?start_before=2030-05-06')).toEqual(['a', 'b']);
    expect(await titles('?start_after=2030-05-06T10:00:01Z&start_before=2030-05-06T12:00:00Z')).toEqual(['b']);
    expect(await titles('?per_page=2&page=2')).toEqual(['c']);
    expect(await titles(`?contact_id=${v4()}`)).toEqual([]);
    for (const query of ['status=missed', 'start_after=soon', 'assigned_to=x'])
      expectRefusal(await acme.owner.get(`/calendars/${calendar.id}/appointments?${query}`), 400, query.split('=')[0]);
    expectRefusal(await acme.owner.get(`/calendars/${v4()}/appointments`), 404);
    expect(all).toHaveLength(3);
  });
});
