import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  onPostgres,
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

const create = (body: unknown) => acme.owner.post('/tags', body);

describe('POST /tags', () => {
  it('makes a tag, grey by default', async () => {
    const reply = await create({ name: ' VIP ' });
    expect(reply.status).toBe(201);
    expect(reply.body.data).toEqual({
      id: expect.any(String),
      name: 'VIP',
      color: '#6B7280',
      _count: { contacts: 0 },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(dataOf(await create({ name: 'Red', color: '#ff0000' })).color).toBe('#ff0000');
  });

  it('refuses a name that is taken, whatever its case, naming name', async () => {
    await acme.tag('Straße');
    await expectNothingWritten(api, async () => {
      for (const name of ['Straße', 'STRAßE', ' straße ']) expectRefusal(await create({ name }), 400, 'name');
    });
  });

  it.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: ' ' }, 'name'],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name'],
    ['a colour by name', { name: 'x', color: 'red' }, 'color'],
    ['a short colour', { name: 'x', color: '#fff' }, 'color'],
  ])('refuses %s', async (_what, body, field) => {
    await expectNothingWritten(api, async () => expectRefusal(await create(body), 400, field));
  });

  it('takes a colour that is null for none', async () => {
    expect(dataOf(await create({ name: 'Uncoloured', color: null })).color).toBe('#6B7280');
  });

  it('lets another account have the same name', async () => {
    const other = await api.seed.account();
    await acme.tag('Shared');
    expect((await other.owner.post('/tags', { name: 'Shared' })).status).toBe(201);
  });
});

describe('GET /tags', () => {
  it('lists the tags by name with how many live contacts carry each', async () => {
    const other = await api.seed.account();
    for (const tags of [['b', 'A'], ['b'], ['c']]) await other.contact({ firstName: 'Ada', tags });
    const gone = await other.contact({ firstName: 'Gone', tags: ['b'] });
    await other.owner.del(`/contacts/${gone.id}`);
    const { data, meta } = (await other.owner.get('/tags')).body;
    expect(data.map((tag: Loose) => [tag.name, tag._count.contacts])).toEqual([
      ['A', 1],
      ['b', 2],
      ['c', 1],
    ]);
    expect(meta).toMatchObject({ page: 1, per_page: 50, total: 3, totalPages: 1 });
    const found = (await other.owner.get('/tags?search=B&sort=createdAt&order=desc')).body;
    expect([found.data.map((tag: Loose) => tag.name), found.meta.total]).toEqual([['b'], 1]);
    expect((await other.owner.get(`/tags/${data[1].id}`)).body.data).toEqual(data[1]);
  });

  it('takes the wildcards of a search for themselves', async () => {
    const other = await api.seed.account();
    for (const name of ['100%', 'a_b', 'back\\slash', 'plain']) await other.tag(name);
    for (const [search, name] of Object.entries({ '%': '100%', _: 'a_b', '\\': 'back\\slash' })) {
      const { data } = (await other.owner.get(`/tags?search=${encodeURIComponent(search)}`)).body;
      expect(data.map((tag: Loose) => tag.name)).toEqual([name]);
    }
  });
});

describe('PATCH /tags/{id}', () => {
  it('renames and recolours, and keeps what is not sent', async () => {
    const { id } = await acme.tag('Old name', '#111111');
    const renamed = dataOf(await acme.owner.patch(`/tags/${id}`, { name: 'New name' }));
    expect(renamed).toMatchObject({ id, name: 'New name', color: '#111111' });
    expect(dataOf(await acme.owner.patch(`/tags/${id}`, { name: 'NEW NAME', color: '#222222' }))).toMatchObject({
      name: 'NEW NAME',
      color: '#222222',
    });
  });

  it('refuses the name of another tag, and null', async () => {
    await acme.tag('Taken');
    const { id } = await acme.tag('Mine');
    await expectNothingWritten(api, async () => {
      for (const name of ['Taken', 'tAKEN', null, '']) expectRefusal(await acme.owner.patch(`/tags/${id}`, { name }), 400, 'name');
      expectRefusal(await acme.owner.patch(`/tags/${crypto.randomUUID()}`, { name: 'x' }), 404);
    });
  });

  it('changes nothing by an empty body', async () => {
    const { id } = await acme.tag('Same');
    await expectNothingWritten(api, async () => expect((await acme.owner.patch(`/tags/${id}`, {})).status).toBe(200));
  });
});

describe('DELETE /tags/{id}', () => {
  it('takes the tag off every contact and frees its name', async () => {
    const contact = await acme.contact({ firstName: 'Ada', tags: ['Doomed', 'Kept'] });
    const { id } = contact.tags.find((tag: Loose) => tag.name === 'Doomed');
    expect(dataOf(await acme.owner.del(`/tags/${id}`))).toEqual({ id, deleted: true });
    expectRefusal(await acme.owner.get(`/tags/${id}`), 404);
    expectRefusal(await acme.owner.del(`/tags/${id}`), 404);
    const { tags } = dataOf(await acme.owner.get(`/contacts/${contact.id}`));
    expect(tags.map((tag: Loose) => tag.name)).toEqual(['Kept']);
    expect((await create({ name: 'doomed' })).status).toBe(201);
  });
});

describe('a tag that very many contacts carry', () => {
  const many = 450;
  let account: Account;
  beforeAll(async () => {
    account = await api.seed.account();
  });

  /** Contacts with some tags, as triggers keep them. */
  async function carrying(tagIds: string[]): Promise<void> {
    const { prisma } = api.app.database;
    const [now, accountId] = [api.clock.now(), account.id];
    const ids = Array.from({ length: many }, () => api.clock.id());
    await prisma.contact.createMany({ data: ids.map((id) => ({ accountId, id, firstName: 'Ada', createdAt: now, updatedAt: now })) });
    await prisma.contactTag.createMany({ data: ids.flatMap((contactId) => tagIds.map((tagId) => ({ accountId, contactId, tagId, createdAt: now }))) }); // biome-ignore format: one line
  }
  const counts = async () => {
    const { data } = (await account.owner.get('/tags?sort=name&order=asc')).body;
    return Object.fromEntries(data.map((tag: Loose) => [tag.name, tag._count.contacts]));
  };

  it('goes in portions, each of them short', async () => {
    const [gone, kept] = [await account.tag('gone'), await account.tag('kept')];
    await carrying([gone.id, kept.id]);
    expect(dataOf(await account.owner.del(`/tags/${gone.id}`))).toEqual({ id: gone.id, deleted: true });
    expect(await counts()).toEqual({ kept: many });
    const left = await api.app.database.prisma.contact.findMany({ where: { accountId: account.id }, select: { tagIds: true } });
    expect(new Set(left.map(({ tagIds }) => tagIds.join()))).toEqual(new Set([kept.id]));
  });

  it('is merged in portions too, also where it is carried beside the other one', async () => {
    const [source, target] = [await account.tag('source'), await account.tag('target')];
    await carrying([source.id]);
    await carrying([source.id, target.id]);
    expect(dataOf(await account.owner.post('/tags/merge', { sourceId: source.id, targetId: target.id })).name).toBe('target');
    expect(await counts()).toEqual({ kept: many, target: 2 * many });
  });

  it('is deleted with another one in a document as one transaction, and not at all where that fails', async () => {
    const [a, b] = [await account.tag('a'), await account.tag('b')];
    await carrying([a.id, b.id]);
    const both = (one: string, two: string) => account.owner.gql(`mutation { a: deleteTag(id: "${one}") { deletedId } b: deleteTag(id: "${two}") { deletedId } }`); // biome-ignore format: one line
    await expectNothingWritten(api, async () => expect((await both(a.id, crypto.randomUUID())).errors).toHaveLength(1));
    expect(await counts()).toMatchObject({ a: many, b: many });
    expect((await both(a.id, b.id)).data).toEqual({ a: { deletedId: a.id }, b: { deletedId: b.id } });
  });

  it('is deleted once under one key', async () => {
    const { id } = await account.tag('keyed');
    const keyed = account.owner.with({ 'idempotency-key': 'delete-a-tag' });
    const query = `mutation { deleteTag(id: "${id}") { deletedId } }`;
    const [first, again] = [await keyed.gql(query), await keyed.gql(query)];
    expect([first.data, again.data]).toEqual([{ deleteTag: { deletedId: id } }, { deleteTag: { deletedId: id } }]);
  });
});

onPostgres(describe)('a tag that goes while it is put on somebody', () => {
  it('is made anew for them, or goes with them carrying it no more', async () => {
    for (let n = 0; n < 15; n++) {
      const { id } = await acme.tag(`racing ${n}`);
      const made = () => acme.owner.post('/contacts', { firstName: 'Ada', tags: [`racing ${n}`] });
      const [gone, ...contacts] = await Promise.all([acme.owner.del(`/tags/${id}`), made(), made(), made(), made()]);
      expect([gone.status, ...contacts.map(({ status }) => status)]).toEqual([200, 201, 201, 201, 201]);
    }
  });

  it('is renamed by one after the other, and the log tells the whole way', async () => {
    const { id } = await acme.tag('name of before');
    const names = Array.from({ length: 8 }, (_, n) => `name ${n}`);
    const replies = await Promise.all(names.map((name) => acme.owner.patch(`/tags/${id}`, { name })));
    expect(replies.map(({ status }) => status)).toEqual(names.map(() => 200));
    const where = { accountId: acme.id, entityId: id, name: 'tag.updated' };
    const log = await api.app.database.prisma.outboxEvent.findMany({ where });
    const next = new Map(log.map(({ changes }) => [(changes as Loose).name.from, (changes as Loose).name.to]));
    let name: string = 'name of before';
    for (const _ of names) name = next.get(name);
    expect(name).toBe(dataOf(await acme.owner.get(`/tags/${id}`)).name);
  });
});

describe('the contacts of a tag', () => {
  it('are counted as they come and go, deleted ones not', async () => {
    const account = await api.seed.account();
    const { owner } = account;
    const counts = async () => {
      const { data } = (await owner.get('/tags?sort=name&order=asc')).body;
      return Object.fromEntries(data.map((tag: Loose) => [tag.name, tag._count.contacts]));
    };
    const [a, b, c] = [
      await account.contact({ firstName: 'A', tags: ['X', 'Y'] }),
      await account.contact({ firstName: 'B', tags: ['X'] }),
      await account.contact(),
    ];
    expect(await counts()).toEqual({ X: 2, Y: 1 });
    dataOf(await owner.patch(`/contacts/${c.id}`, { tags: ['Y', 'Z'] }));
    expect(await counts()).toEqual({ X: 2, Y: 2, Z: 1 });
    dataOf(await owner.del(`/contacts/${a.id}`));
    expect(await counts()).toEqual({ X: 1, Y: 1, Z: 1 });
    dataOf(await owner.patch(`/contacts/${b.id}`, { tags: null }));
    dataOf(await owner.post(`/contacts/${a.id}/restore`));
    expect(await counts()).toEqual({ X: 1, Y: 2, Z: 1 });
    dataOf(await owner.post('/contacts/merge', { primaryId: c.id, secondaryId: a.id }));
    expect(await counts()).toEqual({ X: 1, Y: 1, Z: 1 });
  });
});

describe('POST /tags/merge', () => {
  const merge = (sourceId: unknown, targetId: unknown) => acme.owner.post('/tags/merge', { sourceId, targetId });

  it('moves every contact to the target, each once, and deletes the source', async () => {
    const [source, target] = [await acme.tag('Source'), await acme.tag('Target')];
    const contacts: Loose[] = [];
    for (const tags of [['Source'], ['Target'], ['Source', 'Target', 'x']]) contacts.push(await acme.contact({ firstName: 'Ada', tags }));
    const merged = await merge(source.id, target.id);
    expect([merged.status, merged.body.data.id, merged.body.data._count]).toEqual([200, target.id, { contacts: 3 }]);
    expectRefusal(await acme.owner.get(`/tags/${source.id}`), 404);
    const { tags } = dataOf(await acme.owner.get(`/contacts/${contacts[2].id}`));
    expect(tags.map((tag: Loose) => tag.name)).toEqual(['Target', 'x']);
  });

  it('refuses one tag twice, and a tag that nobody has', async () => {
    const { id } = await acme.tag();
    await expectNothingWritten(api, async () => {
      expectRefusal(await merge(id, id), 400, 'sourceId');
      expectRefusal(await merge(id, crypto.randomUUID()), 404);
      expectRefusal(await merge(crypto.randomUUID(), id), 404);
      expectRefusal(await merge('x', id), 400, 'sourceId');
      expectRefusal(await merge(id, undefined), 400, 'targetId');
    });
  });
});

onPostgres(describe)('many writers at once', () => {
  it('make one tag of one name', async () => {
    const other = await api.seed.account();
    const posts = Array.from({ length: 12 }, (_, i) =>
      other.owner.post('/contacts', { firstName: `${i}`, tags: ['Race', 'rACE', 'Other'] }),
    );
    expect(new Set((await Promise.all(posts)).map((reply) => reply.status))).toEqual(new Set([201]));
    const { data } = (await other.owner.get('/tags')).body;
    expect(data.map((tag: Loose) => tag._count.contacts)).toEqual([12, 12]);
  });

  it('get one creation and a refusal each for the same new tag', async () => {
    const other = await api.seed.account();
    const replies = await Promise.all(Array.from({ length: 12 }, () => other.owner.post('/tags', { name: 'Only one' })));
    expect(replies.filter((reply) => reply.status === 201)).toHaveLength(1);
    for (const reply of replies.filter((r) => r.status !== 201)) expectRefusal(reply, 400, 'name');
  });

  it('get one renaming and a refusal each for the same new name', async () => {
    const other = await api.seed.account();
    const tags = await Promise.all(Array.from({ length: 8 }, () => other.tag()));
    const replies = await Promise.all(tags.map(({ id }) => other.owner.patch(`/tags/${id}`, { name: 'Wanted' })));
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
    for (const reply of replies.filter((r) => r.status !== 200)) expectRefusal(reply, 400, 'name');
  });
});
