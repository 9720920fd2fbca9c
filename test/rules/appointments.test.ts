import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer, toldIn } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const change = ({ calendarId, id }: Loose, body: Loose) => acme.owner.patch(`/calendars/${calendarId}/appointments/${id}`, body);

describe('An appointment', () => {
  it('moves the score of its contact, and ends its runs through sequences that say so', async () => {
    const contact = await acme.contact();
    const score = async () => dataOf(await acme.owner.get(`/contacts/${contact.id}`)).leadScore;
    const steps = [{ delayDays: 5, subject: 'Hello', body: 'Hello' }];
    const run = async (autoUnenrollOnMeeting: boolean) => {
      const { id } = dataOf(await acme.owner.post('/emails/sequences', { name: 'Follow up', steps, autoUnenrollOnMeeting }));
      dataOf(await acme.owner.post(`/emails/sequences/${id}/enroll`, { contactIds: [contact.id] }));
      return async () => dataOf(await acme.owner.get(`/emails/sequences/${id}/enrollments`)).data[0];
    };
    const [ends, stays] = [await run(true), await run(false)];
    await acme.appointment({ contactId: contact.id, status: 'cancelled' });
    expect([await score(), (await ends()).status]).toEqual([0, 'active']);
    const appointment = await acme.appointment({ contactId: contact.id });
    expect(await ends()).toMatchObject({ status: 'cancelled', endReason: 'meeting' });
    expect([await score(), (await stays()).status]).toEqual([5, 'active']);
    dataOf(await change(appointment, { status: 'cancelled' }));
    expect(await score()).toBe(0);
    dataOf(await change(appointment, { status: 'completed' }));
    expect(await score()).toBe(5);
    dataOf(await acme.owner.del(`/calendars/${appointment.calendarId}/appointments/${appointment.id}`));
    expect(await score()).toBe(0);
  });

  it("is nobody's when its user is removed, and goes on with the contact that is kept by a merge", async () => {
    const { userId } = await acme.member();
    const [kept, gone] = [await acme.contact({ firstName: 'Kept' }), await acme.contact({ firstName: 'Gone' })];
    const appointment = await acme.appointment({ assignedTo: userId, contactId: gone.id });
    const deleted = await acme.appointment({ assignedTo: userId, startTime: '2030-05-06T18:00:00Z', endTime: '2030-05-06T19:00:00Z' });
    dataOf(await acme.owner.del(`/calendars/${deleted.calendarId}/appointments/${deleted.id}`));
    const removal = await toldIn(acme, () => acme.owner.del(`/users/${userId}`));
    expect(removal.events).toEqual([`appointment.updated ${appointment.id}`, `user.deleted ${userId}`, `user.removed ${userId}`]);
    const merge = await toldIn(acme, () => acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id }));
    expect(merge.events).toContain(`appointment.updated ${appointment.id}`);
    const now = dataOf(await acme.owner.get(`/calendars/${appointment.calendarId}/appointments/${appointment.id}`));
    expect([now.assignedTo, now.contactId]).toEqual([null, kept.id]);
    expect(dataOf(await acme.owner.get(`/contacts/${kept.id}`)).leadScore).toBe(5);
  });
});

const over = { startTime: '2020-05-06T12:00:00Z', endTime: '2020-05-06T12:30:00Z' };

describe('an appointment whose status changes', () => {
  it('ends the runs of its contact where it becomes scheduled and is still to come', async () => {
    const steps = [{ delayDays: 5, subject: 'Hello', body: 'Hello' }];
    const sequence = dataOf(await acme.owner.post('/emails/sequences', { name: 'Until it is on', steps, autoUnenrollOnMeeting: true }));
    const runAfter = async (status: string, times: Loose) => {
      const { id: contactId } = await acme.contact();
      const appointment = await acme.appointment({ contactId, status: 'cancelled', ...times });
      dataOf(await acme.owner.post(`/emails/sequences/${sequence.id}/enroll`, { contactIds: [contactId] }));
      expect(dataOf(await change(appointment, { status }))).toMatchObject({ status });
      const { data } = dataOf(await acme.owner.get(`/emails/sequences/${sequence.id}/enrollments`));
      return data.find((run: Loose) => run.contactId === contactId);
    };
    for (const status of ['completed', 'scheduled'])
      expect(await runAfter(status, over)).toMatchObject({ status: 'active', endReason: null });
    expect(await runAfter('scheduled', {})).toMatchObject({ status: 'cancelled', endReason: 'meeting' });
  });
});

describe('an appointment that a merge brings', () => {
  it('ends the runs of the contact that is kept where it is still to come', async () => {
    const steps = [{ delayDays: 5, subject: 'Hello', body: 'Hello' }];
    const sequence = dataOf(await acme.owner.post('/emails/sequences', { name: 'Until we meet', steps, autoUnenrollOnMeeting: true }));
    const runAfter = async (times: Loose) => {
      const [kept, other] = [await acme.contact(), await acme.contact()];
      await acme.appointment({ contactId: other.id, ...times });
      dataOf(await acme.owner.post(`/emails/sequences/${sequence.id}/enroll`, { contactIds: [kept.id] }));
      dataOf(await acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: other.id }));
      const { data } = dataOf(await acme.owner.get(`/emails/sequences/${sequence.id}/enrollments`));
      return data.find(({ contactId }: Loose) => contactId === kept.id);
    };
    expect(await runAfter(over)).toMatchObject({ status: 'active', endReason: null });
    expect(await runAfter({})).toMatchObject({ status: 'cancelled', endReason: 'meeting' });
  });
});
