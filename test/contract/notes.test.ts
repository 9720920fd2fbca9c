import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  minute,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const create = (body: unknown) => acme.owner.post('/notes', body);
const note = async (fields: Record<string, unknown> = {}) => dataOf(await create({ body: 'Likes tea', ...fields }));
const kilobytes = 1024;

describe('POST /notes', () => {
  it('keeps the text, what it is about, and who wrote it', async () => {
    const { id: contactId } = await acme.contact();
    const reply = await create({ body: ' Line one\n\nline two 😀 ', contactId, isPinned: true });
    expect(reply.status).toBe(201);
    const { id, createdAt, updatedAt, ...rest } = reply.body.data;
    expect(rest).toEqual({ body: 'Line one\n\nline two 😀', contactId, dealId: null, isPinned: true, createdBy: acme.ownerId });
    expect(updatedAt).toBe(createdAt);
    expect(dataOf(await acme.owner.get(`/notes/${id}`))).toEqual(reply.body.data);
    expect((await note()).isPinned).toBe(false);
  });

  it('needs a body, and refuses a contact or deal that is not there', async () => {
    const other = await api.seed.account();
    const { id: foreign } = await other.contact();
    await expectNothingWritten(api, async () => {
      for (const body of [undefined, null, '', '  ', 5]) expectRefusal(await create({ body }), 400, 'body');
      for (const contactId of [foreign, v4(), 'x']) expectRefusal(await create({ body: 'a', contactId }), 400, 'contactId');
      expectRefusal(await create({ body: 'a', dealId: v4() }), 400, 'dealId');
      expectRefusal(await create({ body: 'a', isPinned: 'yes' }), 400, 'isPinned');
    });
  });

  it('takes a request of 50 KB and answers 413 for a byte more', async () => {
    const overhead = JSON.stringify({ body: '' }).length;
    const body = 'x'.repeat(50 * kilobytes - overhead);
    expect((await create({ body })).body.data.body).toBe(body);
    await expectNothingWritten(api, async () => {
      const reply = await create({ body: `${body}x` });
      expectRefusal(reply, 413, 'body');
      expect(reply.body.error).toBe('body must be at most 50 KB');
      const input = { body: 'é'.repeat(25 * kilobytes + 1) };
      const other = await acme.owner.gql('mutation ($input: CreateNoteInput!) { createNote(input: $input) { id } }', { input });
      expectGraphQLRefusal(other, 413, 'body');
    });
  });

  it('tells of the note once, on its contact, and counts as activity there', async () => {
    const contact = await acme.contact();
    const { id } = await note({ contactId: contact.id });
    const { prisma } = api.app.database;
    expect(await prisma.outboxEvent.findMany({ where: { entityId: id }, select: { name: true } })).toEqual([{ name: 'note.created' }]);
    const entries = await prisma.activity.findMany({ where: { entityId: id } });
    expect(entries).toMatchObject([{ type: 'note.created', entityType: 'note', action: 'created', contactId: contact.id }]);
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`)).lastActivityAt).toBeTruthy();
    // One asks whether the contact is live, one writes.
    expect(await api.statements(() => create({ body: 'Another', contactId: contact.id }))).toBeLessThanOrEqual(2);
    expect(await api.statements(() => create({ body: 'Of nobody' }))).toBeLessThanOrEqual(1);
  });
});

describe('GET /notes', () => {
  it('lists pinned notes first, then the newest, page by page', async () => {
    const home = await api.seed.account();
    const { id: contactId } = await home.contact();
    const write = async (body: string, isPinned = false) => {
      api.clock.advance(minute);
      return dataOf(await home.owner.post('/notes', { body, isPinned, contactId }));
    };
    for (const [body, isPinned] of [
      ['a', false],
      ['b', true],
      ['c', false],
      ['d', true],
      ['e', false],
    ] as const)
      await write(body, isPinned);
    dataOf(await home.owner.post('/notes', { body: 'elsewhere' }));
    api.clock.reset();
    const list = async (query: string) => dataOf(await home.owner.get(`/notes?${query}`));
    const bodies = (page: Loose) => page.data.map((n: Loose) => n.body);
    for (const name of ['contact_id', 'contactId']) expect(bodies(await list(`${name}=${contactId}`))).toEqual(['d', 'b', 'e', 'c', 'a']);
    expect(bodies(await list(`contact_id=${contactId}&per_page=2&page=2`))).toEqual(['e', 'c']);
    expect((await list('')).meta).toMatchObject({ total: 6, page: 1, per_page: 50 });
    expect(bodies(await list(`deal_id=${v4()}`))).toEqual([]);
    expect(await api.statements(() => list(`contact_id=${contactId}`))).toBe(1);
    for (const query of ['order=asc', 'sort=createdAt&order=asc', 'sort=nonsense']) {
      expect(bodies(await list(`contact_id=${contactId}&${query}`))).toEqual(['d', 'b', 'e', 'c', 'a']);
    }
    const { data } = await home.owner.gql('query ($f: NoteFilter) { notes(filter: $f, sort: pinned, order: asc) { nodes { body } } }', {
      f: { contactId },
    });
    expect(bodies({ data: data.notes.nodes })).toEqual(['d', 'b', 'e', 'c', 'a']);

    const walked: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`contact_id=${contactId}&per_page=1${cursor && `&cursor=${cursor}`}`);
      walked.push(...bodies(page));
      if (!page.meta.next_cursor) break;
      cursor = page.meta.next_cursor;
    }
    expect(walked).toEqual(['d', 'b', 'e', 'c', 'a']);
    for (const key of [['maybe', '2030-01-01 00:00:00+00'], ['true', 'soon'], ['true'], 'true']) {
      const cursor = Buffer.from(JSON.stringify(['notes', 'pinned', 'desc', JSON.stringify(key), contactId])).toString('base64url');
      expectRefusal(await home.owner.get(`/notes?cursor=${cursor}`), 400, 'cursor');
    }
  });
});

describe('PATCH and DELETE /notes/{id}', () => {
  it('change the text and the pin, and what the note is about never', async () => {
    const before = await note();
    const { id: contactId } = await acme.contact();
    const reply = await acme.owner.patch(`/notes/${before.id}`, { body: 'Likes coffee', isPinned: true, contactId });
    expect(reply.headers['x-ignored-fields']).toBe('contactId');
    expect(reply.body.data).toEqual({ ...before, body: 'Likes coffee', isPinned: true, updatedAt: reply.body.data.updatedAt });
    const entry = await api.app.database.prisma.activity.findFirstOrThrow({ where: { entityId: before.id, type: 'note.updated' } });
    expect(entry.changes).toEqual({ body: { from: 'Likes tea', to: 'Likes coffee' }, isPinned: { from: false, to: true } });
    await expectNothingWritten(api, async () => {
      expect(dataOf(await acme.owner.patch(`/notes/${before.id}`, { isPinned: true }))).toEqual(reply.body.data);
      for (const body of [{ body: null }, { body: '' }, { isPinned: null }]) {
        expectRefusal(await acme.owner.patch(`/notes/${before.id}`, body), 400, Object.keys(body)[0]);
      }
      expectRefusal(await acme.owner.patch(`/notes/${before.id}`, { body: 'x'.repeat(51 * kilobytes) }), 413);
    });
  });

  it('remove the note', async () => {
    const { id } = await note();
    expect(dataOf(await acme.owner.del(`/notes/${id}`))).toEqual({ id, deleted: true });
    expectRefusal(await acme.owner.get(`/notes/${id}`), 404);
  });
});

describe('notes through the other API', () => {
  it('lead to their contact and author, and back', async () => {
    const { id: contactId } = await acme.contact({ firstName: 'Ada' });
    for (const [body, isPinned] of [
      ['old', true],
      ['new', false],
    ])
      await note({ body, isPinned, contactId });
    const query = '{ contact(id: "ID") { notes(first: 5) { nodes { body author { email } contact { firstName } } } } }'.replace(
      'ID',
      contactId,
    );
    const { data } = await acme.owner.gql(query);
    const around = { author: { email: acme.ownerEmail }, contact: { firstName: 'Ada' } };
    expect(data.contact.notes.nodes).toEqual([
      { body: 'old', ...around },
      { body: 'new', ...around },
    ]);
  });
});
