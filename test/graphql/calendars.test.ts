import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, expectGraphQLRefusal, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, Socket } from '../support/live.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());

const ask = async (query: string, variables: Loose = {}): Promise<Loose> => {
  const { data, errors } = await key.gql(query, variables);
  expect(errors).toBeUndefined();
  return data as Loose;
};
const booking = `mutation ($calendarId: ID!, $input: CreateAppointmentInput!) {
  createAppointment(calendarId: $calendarId, input: $input) { id title startTime calendar { name } contact { firstName } assignedUser { id } } }`;

describe('calendars in GraphQL', () => {
  it('are booked under ids of the client, and lead to what they are about and back', async () => {
    const [calendarId, id] = [randomUUID(), randomUUID()];
    const [contact, { userId }] = [await acme.contact({ firstName: 'Ada' }), await acme.member()];
    await ask('mutation ($id: ID!) { createCalendar(input: { id: $id, name: "Front desk" }) { id } }', { id: calendarId });
    const times = { startTime: '2031-05-06T10:00:00Z', endTime: '2031-05-06T11:00:00Z' };
    const input = { id, title: 'Talk', ...times, contactId: contact.id, assignedTo: userId };
    expect((await ask(booking, { calendarId, input })).createAppointment).toEqual({
      ...{ id, title: 'Talk', startTime: '2031-05-06T10:00:00.000Z', calendar: { name: 'Front desk' } },
      ...{ contact: { firstName: 'Ada' }, assignedUser: { id: userId } },
    });
    const refused = await key.gql(booking, { calendarId, input: { title: 'Other', ...times } });
    expectGraphQLRefusal(refused, 409);
    expect([refused.status, refused.data, refused.errors![0].path]).toEqual([200, null, ['createAppointment']]);
    const back = `{ calendar(id: "${calendarId}") { appointments { totalCount nodes { id } } }
      contact(id: "${contact.id}") { appointments { nodes { id } } }
      user(id: "${userId}") { appointments { nodes { id } } }
      contacts(where: { appointments: { some: { title: { eq: "Talk" } } } }) { nodes { id } }
      node(id: "${id}") { __typename }
      appointmentAggregate(where: { id: { eq: "${id}" } }, groupBy: [{ field: status }]) { key { status } count } }`;
    expect(await ask(back)).toEqual({
      calendar: { appointments: { totalCount: 1, nodes: [{ id }] } },
      contact: { appointments: { nodes: [{ id }] } },
      user: { appointments: { nodes: [{ id }] } },
      contacts: { nodes: [{ id: contact.id }] },
      node: { __typename: 'Appointment' },
      appointmentAggregate: [{ key: { status: 'scheduled' }, count: 1 }],
    });
  });

  it('answer the month of ten people in one statement', async () => {
    const people: string[] = [];
    for (let n = 0; n < 10; n++) people.push((await acme.member()).userId);
    const { id: calendarId } = await acme.calendar();
    for (const [n, assignedTo] of people.entries())
      await acme.appointment({ calendarId, assignedTo, startTime: `2032-05-06T${10 + n}:00:00Z`, endTime: `2032-05-06T${10 + n}:30:00Z` });
    const month = `query ($people: [ID!]!) { appointments(first: 100, filter: { startAfter: "2032-05-01", startBefore: "2032-05-31" },
      where: { assignedTo: { in: $people } }) { nodes { title startTime endTime status contact { firstName } assignedUser { name } calendar { name } } } }`;
    expect((await ask(month, { people })).appointments.nodes).toHaveLength(10);
    expect(await api.statements(() => ask(month, { people }))).toBe(1);
  });

  it('offer their free slots, and an address to subscribe to', async () => {
    const { id } = await acme.calendar({ workingHours: [{ day: 'thursday', opens: '09:00', closes: '10:00' }] });
    const data =
      await ask(`{ calendarAvailability(id: "${id}", input: { from: "2032-05-06", to: "2032-05-06" }) { slots { startTime } nextFrom }
      calendarFeed(id: "${id}") { url } }`);
    expect(data.calendarAvailability).toEqual({
      slots: [{ startTime: '2032-05-06T09:00:00.000Z' }, { startTime: '2032-05-06T09:30:00.000Z' }],
      nextFrom: null,
    });
    expect(data.calendarFeed.url).toMatch(/\.ics$/);
  });

  it('tell live what happens on one of them', async () => {
    const [one, other] = [await acme.calendar(), await acme.calendar()];
    const socket = await Socket.open(api.wire.port, { init: bearer(key) });
    const feed = socket.run(
      'subscription ($id: ID) { appointmentEvents(calendarId: $id, after: "0") { name appointment { id title status } changes } }',
      { id: one.id },
    );
    await acme.appointment({ calendarId: other.id });
    const { id } = await acme.appointment({ calendarId: one.id, title: 'Demo' });
    await acme.owner.patch(`/calendars/${one.id}/appointments/${id}`, { status: 'completed' });
    const [created, updated] = await feed.nth(2);
    expect(created).toMatchObject({ name: 'appointment.created', appointment: { id, title: 'Demo' } });
    expect(updated).toMatchObject({ name: 'appointment.updated', changes: { status: { from: 'scheduled', to: 'completed' } } });
    socket.cut();
  });
});
