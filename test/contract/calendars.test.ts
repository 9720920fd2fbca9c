import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  type Loose,
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

const create = (body: unknown) => acme.owner.post('/calendars', body);
const patch = (id: string, body: unknown) => acme.owner.patch(`/calendars/${id}`, body);
const read = async (id: string) => dataOf(await acme.owner.get(`/calendars/${id}`));

const officeHours = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'].map((day) => ({ day, opens: '09:00', closes: '17:00' }));

describe('POST /calendars', () => {
  it('keeps every field as it was sent', async () => {
    const fields = {
      ...{ name: 'n'.repeat(200), timezone: 'Europe/Berlin', description: 'd'.repeat(5000), bufferMinutes: 15, slotMinutes: 45 },
      workingHours: [
        { day: 'saturday', opens: '00:00', closes: '24:00' },
        { day: 'sunday', opens: '10:15', closes: '10:20' },
      ],
    };
    const reply = await create(fields);
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject(fields);
    expect(await read(reply.body.data.id)).toEqual(reply.body.data);
  });

  it('spells a time zone as IANA does', async () => {
    expect(dataOf(await create({ name: 'Berlin', timezone: 'europe/berlin' })).timezone).toBe('Europe/Berlin');
  });

  it('fills in the defaults, and makes the first one the default', async () => {
    const other = await api.seed.account();
    await api.app.database.prisma.account.update({ where: { id: other.id }, data: { timezone: 'America/New_York' } });
    const owner = await other.login();
    const { id, createdAt, updatedAt, ...calendar } = dataOf(await owner.post('/calendars', { name: ' Front desk ' }));
    expect(updatedAt).toBe(createdAt);
    expect(calendar).toEqual({
      ...{ name: 'Front desk', timezone: 'America/New_York', description: null, isDefault: true },
      ...{ bufferMinutes: 0, slotMinutes: 30, feedVersion: 1, workingHours: officeHours },
    });
    expect(dataOf(await owner.post('/calendars', { name: 'Second' })).isDefault).toBe(false);
  });

  it('refuses what a field cannot hold, naming the field', async () => {
    const hours = (fields: Loose) => ({ workingHours: [officeHours[0], { ...officeHours[1], ...fields }] });
    const bad: [string, Loose, number?][] = [
      ...[null, '', ' ', 5, 'n'.repeat(201)].map((name): [string, Loose] => ['name', { name }]),
      ...['Berlin', '+02:00', 'Europe/Nowhere', 5].map((timezone): [string, Loose] => ['timezone', { timezone }]),
      ['description', { description: 'd'.repeat(5001) }],
      ...[-1, 1441, 1.5, 'ten'].map((bufferMinutes): [string, Loose] => ['bufferMinutes', { bufferMinutes }]),
      ...[0, 4, 1441].map((slotMinutes): [string, Loose] => ['slotMinutes', { slotMinutes }]),
      ['workingHours', { workingHours: 'always' }],
      ['workingHours', { workingHours: Array.from({ length: 51 }, () => officeHours[0]) }],
      ...['9:00', '24:01', '25:00', '09:60', 'noon', ''].map((opens): [string, Loose] => ['workingHours.1.opens', hours({ opens })]),
      ['workingHours.1.day', hours({ day: 'someday' })],
      ['workingHours.1.closes', hours({ closes: '09:00' }), 422],
      ['workingHours.1.closes', hours({ opens: '22:00', closes: '06:00' }), 422],
    ];
    await expectNothingWritten(api, async () => {
      for (const [field, fields, status = 400] of bad) expectRefusal(await create({ name: 'a', ...fields }), status, field);
      expectRefusal(await create({}), 400, 'name');
    });
  });
});

describe('hours that end before they begin', () => {
  const workingHours = [{ day: 'monday', opens: '22:00', closes: '06:00' }];

  it('are told after the trial, and after a calendar that is not there: 402, 404, 422', async () => {
    const late = await api.seed.account({ plan: 'trial' });
    const { id } = await late.calendar();
    expectRefusal(await late.owner.patch(`/calendars/${v4()}`, { workingHours }), 404);
    expectRefusal(await late.owner.patch(`/calendars/${id}`, { workingHours }), 422, 'workingHours.0.closes');
    expectRefusal(await late.owner.post('/calendars', { name: 'Night', workingHours }), 422, 'workingHours.0.closes');
    api.clock.advance(15 * day);
    expectRefusal(await (await late.login()).post('/calendars', { name: 'Night', workingHours }), 402);
    api.clock.reset();
  });
});

describe('GET /calendars', () => {
  it('pages, searches and sorts', async () => {
    const other = await api.seed.account();
    const made = [];
    for (const name of ['Room Alpha', 'Room Beta', 'Desk']) made.push(await other.calendar({ name }));
    const names = async (query: string) => dataOf(await other.owner.get(`/calendars?${query}`)).data.map((one: Loose) => one.name);
    expect(await names('sort=name&order=asc')).toEqual(['Desk', 'Room Alpha', 'Room Beta']);
    expect(await names('search=room&sort=name&order=desc')).toEqual(['Room Beta', 'Room Alpha']);
    expect(await names('is_default=true')).toEqual(['Room Alpha']);
    const page = dataOf(await other.owner.get('/calendars?per_page=2&page=2'));
    expect([page.data.length, page.meta]).toMatchObject([1, { total: 3, page: 2, totalPages: 2 }]);
  });
});

describe('PATCH /calendars/{id}', () => {
  it('changes what is given, tells it once, and says nothing where nothing changed', async () => {
    const { id } = await acme.calendar({ description: 'a' });
    const changes = { name: 'Renamed', timezone: 'Asia/Tokyo', description: null, slotMinutes: 60, workingHours: [officeHours[0]] };
    const told = await toldIn(acme, async () => expect(dataOf(await patch(id, changes))).toMatchObject(changes));
    expect(told.events).toEqual([`calendar.updated ${id}`]);
    expect(await read(id)).toMatchObject(changes);
    await expectNothingWritten(api, async () => {
      for (const body of [{}, changes]) dataOf(await patch(id, body));
      for (const field of ['name', 'timezone', 'bufferMinutes', 'slotMinutes', 'workingHours', 'isDefault'])
        expectRefusal(await patch(id, { [field]: null }), 400, field);
      expectRefusal(await patch(v4(), { name: 'a' }), 404);
      expectRefusal(await patch('nobody', { name: 'a' }), 404);
    });
  });

  it('hands the default on, and tells it of both', async () => {
    const other = await api.seed.account();
    const [first, second] = [await other.calendar(), await other.calendar()];
    const told = await toldIn(other, () => other.owner.patch(`/calendars/${second.id}`, { isDefault: true }));
    expect(told.events).toEqual([`calendar.updated ${first.id}`, `calendar.updated ${second.id}`].sort());
    expectRefusal(await other.owner.patch(`/calendars/${second.id}`, { isDefault: false }), 422, 'isDefault');
    const third = await other.calendar({ isDefault: true });
    const all = dataOf(await other.owner.get('/calendars?sort=createdAt&order=asc')).data as Loose[];
    expect(all.map((one) => [one.id, one.isDefault])).toEqual([
      [first.id, false],
      [second.id, false],
      [third.id, true],
    ]);
  });

  it('leaves one default, however many want to be it at once', async () => {
    const other = await api.seed.account();
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => other.owner.post('/calendars', { name: `Calendar ${n}`, isDefault: n % 2 === 0 })),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201));
    await Promise.all(replies.map(({ body }) => other.owner.patch(`/calendars/${body.data.id}`, { isDefault: true })));
    const all = dataOf(await other.owner.get('/calendars')).data as Loose[];
    expect(all.filter((one) => one.isDefault)).toHaveLength(1);
  });
});
