import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const everyDay = (opens: string, closes: string) =>
  ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => ({ day, opens, closes }));
const ask = (id: string, query: string) => acme.owner.get(`/calendars/${id}/availability?${query}`);
const slots = async (id: string, query: string): Promise<Loose[]> => dataOf(await ask(id, query)).slots;
/** When slots begin, as HH:MM in UTC. */
const begins = async (id: string, query: string) => (await slots(id, query)).map(({ startTime }) => startTime.slice(11, 16));
const book = async (id: string, start: string, end: string, fields: Loose = {}) =>
  dataOf(await acme.owner.post(`/calendars/${id}/appointments`, { title: 'Talk', startTime: start, endTime: end, ...fields }));

describe('GET /calendars/{id}/availability', () => {
  it('offers the slots of the working hours, by the clocks of the calendar', async () => {
    const hours = [
      { day: 'monday', opens: '09:00', closes: '11:00' },
      { day: 'monday', opens: '10:30', closes: '12:10' },
      { day: 'wednesday', opens: '22:00', closes: '24:00' },
    ];
    const calendar = await acme.calendar({ timezone: 'Europe/Berlin', workingHours: hours, slotMinutes: 60 });
    const week = dataOf(await ask(calendar.id, 'from=2030-05-06&to=2030-05-12'));
    expect(week).toMatchObject({ calendarId: calendar.id, timezone: 'Europe/Berlin', slotMinutes: 60, nextFrom: null });
    expect(week.slots.map((slot: Loose) => [slot.startTime, slot.endTime])).toEqual([
      ['2030-05-06T07:00:00.000Z', '2030-05-06T08:00:00.000Z'],
      ['2030-05-06T08:00:00.000Z', '2030-05-06T09:00:00.000Z'],
      ['2030-05-06T09:00:00.000Z', '2030-05-06T10:00:00.000Z'],
      ['2030-05-08T20:00:00.000Z', '2030-05-08T21:00:00.000Z'],
      ['2030-05-08T21:00:00.000Z', '2030-05-08T22:00:00.000Z'],
    ]);
    expect(await begins(calendar.id, 'from=2030-05-06T10:00&to=2030-05-06T11:45&slot_minutes=45')).toEqual(['08:30']);
  });

  it('leaves out what is booked, with the buffers, and offers nothing that a booking would be refused', async () => {
    const calendar = await acme.calendar({ workingHours: everyDay('09:00', '12:00'), bufferMinutes: 10 });
    const { id: other } = await acme.calendar({ workingHours: [] });
    const { userId } = await acme.member();
    const day = 'from=2030-05-06&to=2030-05-06';
    expect(await begins(calendar.id, day)).toEqual(['09:00', '09:30', '10:00', '10:30', '11:00', '11:30']);
    await book(calendar.id, '2030-05-06T10:05:00Z', '2030-05-06T10:15:00Z');
    await book(calendar.id, '2030-05-06T09:00:00Z', '2030-05-06T09:30:00Z', { status: 'cancelled' });
    await book(other, '2030-05-06T11:10:00Z', '2030-05-06T11:20:00Z', { assignedTo: userId });
    // 09:30 would end at 10:00, and with its buffer at 10:10.
    expect(await begins(calendar.id, day)).toEqual(['09:00', '10:30', '11:00', '11:30']);
    expect(await begins(calendar.id, `${day}&assigned_to=${userId}`)).toEqual(['09:00', '10:30', '11:30']);
    expect(await begins(other, day)).toEqual([]);
    for (const slot of await slots(calendar.id, `${day}&assigned_to=${userId}&slot_minutes=20`)) {
      const { id } = await book(calendar.id, slot.startTime, slot.endTime, { assignedTo: userId });
      dataOf(await acme.owner.del(`/calendars/${calendar.id}/appointments/${id}`));
    }
  });
});

describe('Free slots', () => {
  it('are as many as fit on the days on which the clocks change', async () => {
    const calendar = await acme.calendar({ timezone: 'Europe/Berlin', workingHours: everyDay('00:00', '04:00'), slotMinutes: 60 });
    const of = (day: string) => begins(calendar.id, `from=${day}&to=${day}`);
    expect(await of('2030-03-30')).toEqual(['23:00', '00:00', '01:00', '02:00']);
    expect(await of('2030-03-31')).toEqual(['23:00', '00:00', '01:00']);
    expect(await of('2030-10-27')).toEqual(['22:00', '23:00', '00:00', '01:00', '02:00']);
    const early = await acme.calendar({ timezone: 'Europe/Berlin', workingHours: everyDay('02:30', '04:00'), slotMinutes: 60 });
    expect(await begins(early.id, 'from=2030-03-31&to=2030-03-31')).toEqual(['01:00']);
  });

  it('begin the moment that a booking ends', async () => {
    const { id } = await acme.calendar({ workingHours: everyDay('09:00', '12:00') });
    await book(id, '2030-05-06T10:00:00Z', '2030-05-06T10:30:00Z');
    expect(await begins(id, 'from=2030-05-06&to=2030-05-06')).toEqual(['09:00', '09:30', '10:30', '11:00', '11:30']);
  });

  it('are never over, and of a week from now where no range is given', async () => {
    const { id } = await acme.calendar({ workingHours: everyDay('00:00', '24:00'), slotMinutes: 1440 });
    const now = api.clock.now().getTime();
    const all = await slots(id, '');
    expect(all.length).toBeGreaterThanOrEqual(6);
    expect(all.every(({ startTime, endTime }) => Date.parse(startTime) >= now && Date.parse(endTime) <= now + 7 * 86_400_000)).toBe(true);
    expect(await slots(id, 'from=2020-01-01&to=2020-01-31')).toEqual([]);
    // From now on, however long ago that is.
    expect(await slots(id, 'from=2020-01-01')).toEqual(all);
  });

  it('are five hundred at most, and the answer says where to go on', async () => {
    const { id } = await acme.calendar({ workingHours: everyDay('00:00', '24:00'), slotMinutes: 5 });
    const found: string[] = [];
    let from: string | null = '2030-05-06';
    while (from) {
      const page: Loose = dataOf(await ask(id, `from=${from}&to=2030-05-08`));
      expect(page.slots.length).toBeLessThanOrEqual(500);
      found.push(...page.slots.map((slot: Loose) => slot.startTime));
      from = page.nextFrom;
    }
    expect([found.length, new Set(found).size]).toEqual([864, 864]);
  });

  it('are of no range that cannot be one', async () => {
    const { id } = await acme.calendar({ timezone: 'Europe/Berlin' });
    const bad: [string, string][] = [
      ['from', 'from=soon'],
      ['from', 'from=2030-03-31T02:30'],
      ['to', 'from=2030-05-06&to=2030-05-05'],
      ['to', 'from=2030-05-06&to=2030-07-08'],
      ['to', 'from=2030-05-06&to=2130-05-06'],
      ['slot_minutes', 'slot_minutes=4'],
      ['slotMinutes', 'slotMinutes=4'],
      ['slot_minutes', 'slot_minutes=many'],
      ['assigned_to', `assigned_to=${v4()}`],
      ['from', 'from=9999-12-31'],
      ['to', 'from=9998-12-20&to=9999-01-05'],
    ];
    await expectNothingWritten(api, async () => {
      for (const [field, query] of bad) expectRefusal(await ask(id, query), 400, field);
      expect((await slots(id, 'from=2030-05-06&to=2030-07-06')).length).toBe(500);
      expectRefusal(await ask(v4(), ''), 404);
    });
  });
});

const read = async (url: string) => api.anybody().raw({ path: new URL(url).pathname });

describe('The feed of a calendar over time', () => {
  it('shows what goes on, however long ago it began', async () => {
    const { id } = await acme.calendar();
    const days = (n: number) => new Date(api.clock.now().getTime() + n * 24 * 3_600_000).toISOString();
    const book = async (from: number, to: number) => {
      const body = { title: 'Leave', startTime: days(from), endTime: days(to) };
      return dataOf(await acme.owner.post(`/calendars/${id}/appointments`, body)).id as string;
    };
    const [over, longest, ends] = [await book(-400, -35), await book(-35, 330), await book(331, 332)];
    const { url } = dataOf(await acme.owner.get(`/calendars/${id}/feed`));
    const uids = (await read(url)).text.match(/UID:\S+/g);
    expect(uids).toEqual([longest, ends].map((uid) => `UID:${uid}`));
    expect(uids).not.toContain(`UID:${over}`);
  });

  it('shows the next ones, and of those that are over the latest, where there are more than it has room for', async () => {
    const { id } = await acme.calendar();
    const hours = (n: number) => new Date(api.clock.now().getTime() + n * 3_600_000).toISOString();
    const book = async (from: number) => {
      const body = { title: 'Talk', startTime: hours(from), endTime: hours(from + 1) };
      return dataOf(await acme.owner.post(`/calendars/${id}/appointments`, body)).id as string;
    };
    const [monthAgo, yesterday, tomorrow] = [await book(-700), await book(-24), await book(24)];
    const { prisma } = api.app.database;
    const given = await prisma.appointment.findFirstOrThrow({ where: { accountId: acme.id, id: tomorrow } });
    const row = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    const many = Array.from({ length: 998 }, () => ({ ...row, id: v4(), status: 'completed' }));
    await prisma.appointment.createMany({ data: many as never });
    const { url } = dataOf(await acme.owner.get(`/calendars/${id}/feed`));
    const { text } = await read(url);
    expect(text.match(/UID:\S+/g)).toHaveLength(1000);
    expect([monthAgo, yesterday, tomorrow].map((uid) => text.includes(uid))).toEqual([false, true, true]);
  });
});

describe('The feed of a calendar', () => {
  it('is iCalendar, for whoever has its address', async () => {
    const calendar = await acme.calendar({ name: 'Sales, north', description: 'Line 1\nLine 2' });
    const soon = (hours: number) => new Date(api.clock.now().getTime() + hours * 3_600_000).toISOString();
    const title = 'Talk; with, "quotes"\r\nEND:VEVENT\u0007';
    const talk = await book(calendar.id, soon(1), soon(2), { title, description: 'd'.repeat(300), location: 'Room $& 1', notes: 'secret' });
    const off = await book(calendar.id, soon(1), soon(2), { status: 'cancelled' });
    const gone = await book(calendar.id, soon(5), soon(6));
    dataOf(await acme.owner.del(`/calendars/${calendar.id}/appointments/${gone.id}`));
    const { url } = dataOf(await acme.owner.get(`/calendars/${calendar.id}/feed`));
    const reply = await read(url);
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/calendar; charset=utf-8']);
    const lines = reply.text.replace(/\r\n /g, '').split('\r\n');
    expect(lines.slice(0, 2)).toEqual(['BEGIN:VCALENDAR', 'VERSION:2.0']);
    expect(lines).toEqual(
      expect.arrayContaining([
        ...[
          'X-WR-CALNAME;VALUE=TEXT:Sales\\, north',
          'X-WR-CALDESC;VALUE=TEXT:Line 1\\nLine 2',
          `UID:${talk.id}`,
          `UID:${off.id}`,
          'STATUS:CANCELLED',
          'REFRESH-INTERVAL;VALUE=DURATION:PT15M',
        ],
        ...[`DTSTART:${talk.startTime.replace(/[-:]|\.\d+/g, '')}`, 'LOCATION:Room $& 1', `DESCRIPTION:${'d'.repeat(300)}`],
        'SUMMARY:Talk\\; with\\, "quotes"\\nEND:VEVENT',
      ]),
    );
    expect(lines.filter((line) => line === 'BEGIN:VEVENT')).toHaveLength(2);
    expect(lines.filter((line) => line === 'END:VEVENT')).toHaveLength(2);
    expect(reply.text).not.toContain('secret');
    expect(reply.text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75)).toBe(true);
  });

  it('has another address once it is renewed, and none that we did not write', async () => {
    const calendar = await acme.calendar();
    const address = async () => dataOf(await acme.owner.get(`/calendars/${calendar.id}/feed`)).url as string;
    const first = await address();
    expect(await address()).toBe(first);
    const { url } = dataOf(await acme.owner.post(`/calendars/${calendar.id}/feed`, {}));
    expect([url === first, await address()]).toEqual([false, url]);
    const at = url.indexOf('/calendars/') + '/calendars/'.length;
    const forged = `${url.slice(0, at + 60)}${url[at + 60] === 'A' ? 'B' : 'A'}${url.slice(at + 61)}`;
    for (const wrong of [first, forged, `${url.slice(0, at)}x.ics`, `${url.slice(0, at)}${'A'.repeat(72)}.ics`])
      expect((await read(wrong)).status).toBe(404);
    expect((await read(url)).status).toBe(200);
  });
});

describe('The feed of a calendar, asked for again and again', () => {
  it('is limited by calendar and address, and costs forged addresses nothing of it', async () => {
    const few = await server({ limits: { general: 3 }, config: { trustProxy: ['loopback'] } });
    const key = await (await few.seed.account()).key();
    const feed = async () => {
      const { id } = dataOf(await key.post('/calendars', { name: 'Busy' }));
      return new URL(dataOf(await key.get(`/calendars/${id}/feed`)).url).pathname;
    };
    const from = (path: string, ip: string) => few.anybody().raw({ path, headers: { 'x-forwarded-for': ip } });
    const [path, other] = [await feed(), await feed()];
    const forged = path.replace(/.{5}\.ics$/, 'AAAAA.ics');
    for (let i = 0; i < 5; i++) expect((await from(forged, '192.0.2.1')).status).toBe(404);
    for (let i = 0; i < 3; i++) expect((await from(path, '192.0.2.1')).status).toBe(200);
    const refused = await from(path, '192.0.2.1');
    expectRefusal(refused, 429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect([(await from(other, '192.0.2.1')).status, (await from(path, '192.0.2.2')).status]).toEqual([200, 200]);
    await few.close();
  });

  it('shows each who asks what was booked by then', async () => {
    const calendar = await acme.calendar();
    const { url } = dataOf(await acme.owner.get(`/calendars/${calendar.id}/feed`));
    const soon = (hours: number) => new Date(api.clock.now().getTime() + hours * 3_600_000).toISOString();
    for (let n = 0; n < 3; n++) {
      const { id } = await book(calendar.id, soon(n), soon(n + 1));
      const replies = await Promise.all(Array.from({ length: 10 }, () => read(url)));
      for (const { text } of replies) expect(text).toContain(`UID:${id}`);
    }
    dataOf(await acme.owner.patch(`/calendars/${calendar.id}`, { name: 'Renamed' }));
    expect((await read(url)).text).toContain('X-WR-CALNAME;VALUE=TEXT:Renamed');
  });
});
