import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** The log entries and the events of one record, the oldest first. */
async function written(entityId: string): Promise<{ activities: Loose[]; events: Loose[] }> {
  const { prisma } = api.app.database;
  const activities = await prisma.activity.findMany({ where: { entityId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] });
  const events = await prisma.outboxEvent.findMany({ where: { entityId }, orderBy: { seq: 'asc' } });
  return { activities, events };
}

const names = (events: Loose[]) => events.map((event) => event.name);

describe('a new contact', () => {
  it('is told once: a log entry, and an event that carries the record', async () => {
    const reply = await acme.owner.post('/contacts', { firstName: 'Ada', tags: ['VIP'], customFields: { a: 1 } });
    const contact = dataOf(reply);
    const { activities, events } = await written(contact.id);
    expect(activities).toHaveLength(1);
    expect(activities[0]).toMatchObject({
      type: 'contact.created',
      title: 'Contact created',
      entityType: 'contact',
      action: 'created',
      contactId: contact.id,
      userId: acme.ownerId,
      userName: acme.ownerEmail,
    });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ name: 'contact.created', entityType: 'contact', actorId: acme.ownerId, accountId: acme.id });
    expect(events[0].requestId).toBe(reply.headers['x-request-id']);
    expect(events[0].data).toEqual(contact);
  });

  it('is told the same when a key makes it through GraphQL', async () => {
    const key = await acme.key();
    const { data } = await key.gql('mutation { createContact(input: { lastName: "Byron" }) { id } }');
    const { activities, events } = await written(data.createContact.id);
    expect([activities.length, names(events)]).toEqual([1, ['contact.created']]);
    expect(activities[0].userId).toBe(acme.ownerId);
  });
});

describe('a changed contact', () => {
  it('is told once, with what each field was and is', async () => {
    const before = await acme.contact({
      firstName: 'Ada',
      city: 'London',
      customFields: { keep: 1, change: 'a', drop: true },
      tags: ['a', 'b'],
    });
    const after = dataOf(
      await acme.owner.patch(`/contacts/${before.id}`, {
        firstName: 'Ada',
        lastName: 'Lovelace',
        city: null,
        customFields: { change: 'b', drop: null, add: [1] },
        tags: ['b', 'c'],
      }),
    );
    const { activities, events } = await written(before.id);
    expect(names(events)).toEqual(['contact.created', 'contact.updated']);
    const changes = {
      lastName: { from: null, to: 'Lovelace' },
      city: { from: 'London', to: null },
      'customFields.change': { from: 'a', to: 'b' },
      'customFields.drop': { from: true, to: null },
      'customFields.add': { from: null, to: [1] },
      tags: { from: ['a', 'b'], to: ['b', 'c'] },
    };
    expect(events[1].changes).toEqual(changes);
    expect(events[1].data).toEqual(after);
    expect(activities[1]).toMatchObject({ type: 'contact.updated', title: 'Contact updated', action: 'updated', changes });
  });

  it('is told when a tag is put on or taken off, and not when nothing changes', async () => {
    const { id } = await acme.contact();
    const tag = await acme.tag('On and off');
    await acme.owner.post(`/contacts/${id}/tags`, { tagId: tag.id });
    await acme.owner.post(`/contacts/${id}/tags`, { tagIds: [tag.id] });
    await acme.owner.del(`/contacts/${id}/tags/${tag.id}`);
    const { events } = await written(id);
    expect(events.map((event) => event.changes)).toEqual([
      null,
      { tags: { from: [], to: ['On and off'] } },
      { tags: { from: ['On and off'], to: [] } },
    ]);
  });
});

describe('a deleted contact', () => {
  it('is told once, with the record as it was last', async () => {
    const contact = await acme.contact({ firstName: 'Ada', tags: ['VIP'] });
    await acme.owner.del(`/contacts/${contact.id}`);
    await acme.owner.del(`/contacts/${contact.id}`);
    const { activities, events } = await written(contact.id);
    expect(names(events)).toEqual(['contact.created', 'contact.deleted']);
    expect(events[1].data).toEqual(contact);
    expect(activities[1]).toMatchObject({ type: 'contact.deleted', title: 'Contact deleted', action: 'deleted' });
  });
});

describe('merged contacts', () => {
  it('tell what the kept one gained, and that the other is gone', async () => {
    const primary = await acme.contact({ firstName: 'Ada' });
    const secondary = await acme.contact({ firstName: 'A.', lastName: 'Lovelace', tags: ['VIP'] });
    await acme.owner.post('/contacts/merge', { primaryId: primary.id, secondaryId: secondary.id });
    const [kept, gone] = [await written(primary.id), await written(secondary.id)];
    expect(names(kept.events)).toEqual(['contact.created', 'contact.updated']);
    expect(kept.events[1].changes).toEqual({ lastName: { from: null, to: 'Lovelace' }, tags: { from: [], to: ['VIP'] } });
    expect(names(gone.events)).toEqual(['contact.created', 'contact.deleted']);
  });

  it('tell of every record that goes on with the kept one', async () => {
    const [primary, secondary] = [await acme.contact({ firstName: 'Ada' }), await acme.contact({ firstName: 'Ada' })];
    const about = { contactId: secondary.id };
    const followers = [await acme.deal(about), await acme.task(about), await acme.invoice(about)];
    followers.push(dataOf(await acme.owner.post('/notes', { body: 'Spoke', ...about })));
    await acme.owner.post('/contacts/merge', { primaryId: primary.id, secondaryId: secondary.id });
    for (const { id } of followers) {
      const { events, activities } = await written(id);
      expect(events.at(-1)).toMatchObject({
        changes: { contactId: { from: secondary.id, to: primary.id } },
        data: { contactId: primary.id },
      });
      expect([events.length, activities.length]).toEqual([2, 2]);
    }
    expect((await written(secondary.id)).events.at(-1)!.changes).toEqual({ mergedIntoId: { from: null, to: primary.id } });
  });

  it('tell nothing of a kept one that gained nothing', async () => {
    const [primary, secondary] = [await acme.contact({ firstName: 'Ada' }), await acme.contact({ firstName: 'Ada' })];
    await acme.owner.post('/contacts/merge', { primaryId: primary.id, secondaryId: secondary.id });
    expect(names((await written(primary.id)).events)).toEqual(['contact.created']);
  });
});

describe('what fails', () => {
  it('leaves no event and no entry, even beside what succeeds in the same document', async () => {
    const { id } = await acme.contact();
    const document = `mutation ($id: ID!) {
      a: createContact(input: { firstName: "Rolled back", tags: ["never"] }) { id }
      b: updateContact(id: $id, input: { city: "Paris" }) { id }
      c: deleteContact(id: "00000000-0000-7000-8000-000000000000") { deletedId }
    }`;
    await expectNothingWritten(api, async () => {
      const { errors } = await acme.owner.gql(document, { id });
      expect(errors?.map((error) => [error.path, error.extensions.code])).toEqual([[['c'], 'not_found']]);
      expectRefusal(
        await acme.owner.post('/contacts', { firstName: 'Ada', companyId: crypto.randomUUID(), tags: ['never'] }),
        400,
        'companyId',
      );
      expectRefusal(await acme.owner.patch(`/contacts/${id}`, { assignedTo: crypto.randomUUID(), tags: ['never'] }), 400, 'assignedTo');
    });
  });
});
