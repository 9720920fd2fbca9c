import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, day, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const create = (body: unknown) => acme.owner.post('/contacts', body);
const patch = async (id: string, body: unknown) => dataOf(await acme.owner.patch(`/contacts/${id}`, body));
const read = async (id: string) => dataOf(await acme.owner.get(`/contacts/${id}`));
const tagNames = (contact: { tags: { name: string }[] }) => contact.tags.map((tag) => tag.name);

/** Every field that a caller can write, with a value of its greatest length. */
const everything = () => ({
  firstName: 'f'.repeat(100),
  lastName: 'l'.repeat(100),
  email: 'Grace.Hopper@Example.com',
  phone: '+14155550123',
  company: 'c'.repeat(200),
  jobTitle: 'j'.repeat(150),
  source: 's'.repeat(100),
  addressLine1: 'a'.repeat(200),
  addressLine2: 'a'.repeat(200),
  city: 'c'.repeat(100),
  state: 's'.repeat(100),
  zip: 'z'.repeat(20),
  country: 'US',
  timezone: 't'.repeat(64),
  legacyStatus: 'l'.repeat(200),
  masterStatus: 'm'.repeat(40),
  externalBackend: true,
  language: 'l'.repeat(16),
  doNotContact: true,
  doNotContactReason: 'd'.repeat(500),
  assignedTo: acme.ownerId,
  customFields: { plan: 'gold', seats: 5, nested: { deep: [1, null, 'x'] } },
  attribution: { utm_source: 'ads', landingUrl: 'https://example.com/', clickIds: { gclid: 'abc' } },
});

const attributionOf = (given: object) => ({
  ...Object.fromEntries(['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'].map((key) => [key, null])),
  ...{ referrer: null, landingUrl: null, pageTitle: null, clickIds: null },
  ...given,
});

describe('POST /contacts', () => {
  it('needs one of first name, last name, email or phone', async () => {
    await expectNothingWritten(api, async () => {
      for (const body of [{}, { company: 'Acme' }, { firstName: ' ', email: '', phone: null }]) expectRefusal(await create(body), 400);
    });
    for (const body of [{ firstName: 'a' }, { lastName: 'b' }, { email: 'c@example.com' }, { phone: '+14155550100' }]) {
      expect((await create(body)).status).toBe(201);
    }
  });

  it('keeps every field as it was sent', async () => {
    const reply = await create({ ...everything(), tags: ['VIP'] });
    expect(reply.status).toBe(201);
    const { attribution, ...fields } = everything();
    expect(reply.body.data).toMatchObject({ ...fields, attribution: attributionOf(attribution) });
    expect(tagNames(reply.body.data)).toEqual(['VIP']);
    expect(await read(reply.body.data.id)).toEqual(reply.body.data);
  });

  it('fills in the defaults', async () => {
    const { id, createdAt, updatedAt, ...contact } = await acme.contact({ firstName: 'Ada' });
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT.+Z$/);
    expect(updatedAt).toBe(createdAt);
    expect(contact).toMatchObject({ masterStatus: 'lead', doNotContact: false, leadScore: 0, customFields: {}, tags: [] });
    expect(contact).toMatchObject({ optedOutSms: false, optedOutEmail: false, email: null, attribution: null, assignedTo: null });
    const out = { optedOutSms: true, optedOutEmail: true };
    expect(dataOf(await acme.owner.patch(`/contacts/${id}`, out))).toMatchObject(out);
  });

  it('trims text, takes an empty one for null, and counts characters, not code units', async () => {
    const contact = await acme.contact({ firstName: '  Ada ', lastName: '', city: '😀'.repeat(100) });
    expect(contact).toMatchObject({ firstName: 'Ada', lastName: null, city: '😀'.repeat(100) });
    expectRefusal(await create({ firstName: 'Ada', city: '😀'.repeat(101) }), 400, 'city');
  });

  it('keeps a phone number as E.164 and refuses what cannot be one', async () => {
    expect((await acme.contact({ phone: '(415) 555-0123' })).phone).toBe('+14155550123');
    expect((await acme.contact({ phone: '+44 20 7946 0958' })).phone).toBe('+442079460958');
    for (const phone of ['12', 'call me', '+1415555012345678', '+14155550123 ext 5']) expectRefusal(await create({ phone }), 400, 'phone');
  });

  it('names the members that it does not know, and leaves read-only ones as they are', async () => {
    const reply = await create({
      firstName: 'Ada',
      nickname: 'A',
      id: acme.id,
      leadScore: 99,
      accountId: acme.id,
      createdAt: '2020-01-01T00:00:00Z',
    });
    expect(reply.headers['x-ignored-fields']).toBe('nickname, id, leadScore, accountId, createdAt');
    expect(reply.body.data).toMatchObject({ leadScore: 0 });
    expect(reply.body.data.id).not.toBe(acme.id);
    expect(Date.parse(reply.body.data.createdAt)).toBeGreaterThan(Date.parse('2026-01-01'));
  });

  it('allows two contacts of one e-mail address', async () => {
    const twins = [await acme.contact({ email: 'twin@example.com' }), await acme.contact({ email: 'twin@example.com' })];
    expect(twins[0].id).not.toBe(twins[1].id);
  });

  it('stores nothing for a custom field that is null', async () => {
    expect((await acme.contact({ firstName: 'Ada', customFields: { a: 1, b: null } })).customFields).toEqual({ a: 1 });
  });

  it('refuses custom fields over 64 KB with 413', async () => {
    const fill = (bytes: number) => ({ firstName: 'Ada', customFields: { k: 'x'.repeat(bytes - '{"k":""}'.length) } });
    expect((await create(fill(64 * 1024))).status).toBe(201);
    await expectNothingWritten(api, async () => expectRefusal(await create(fill(64 * 1024 + 1)), 413, 'customFields'));
  });
});

describe('the limits of a plan', () => {
  it('answer 402 when the trial has expired, and go on reading', async () => {
    const trial = await api.seed.account({ plan: 'trial' });
    api.clock.advance(15 * day);
    const owner = await trial.login();
    await expectNothingWritten(api, async () => expectRefusal(await owner.post('/contacts', { firstName: 'Ada' }), 402));
    expect((await owner.get('/contacts')).status).toBe(200);
    api.clock.reset();
  });

  it('answer 402 at the last contact of a trial', async () => {
    const trial = await api.seed.account({ plan: 'trial' });
    const data = Array.from({ length: 999 }, () => ({
      accountId: trial.id,
      id: crypto.randomUUID(),
      firstName: 'Ada',
      createdAt: new Date(),
      updatedAt: new Date(),
    }));
    await api.app.database.prisma.contact.createMany({ data });
    const last = await trial.contact();
    expectRefusal(await trial.owner.post('/contacts', { firstName: 'Ada' }), 402);
    expectRefusal(await trial.owner.post('/contact', { firstName: 'Ada' }), 402);
    expect((await trial.owner.del(`/contacts/${last.id}`)).status).toBe(200);
    expect((await trial.owner.post('/contacts', { firstName: 'Ada' })).status).toBe(201);
    expectRefusal(await trial.owner.post(`/contacts/${last.id}/restore`), 402);
  });
});

describe('GET /contacts/{id}', () => {
  it.each([
    ['nobody has', () => crypto.randomUUID()],
    ['is none', () => 'x'],
    ['is a path', () => '..%2f..%2fauth%2fme'],
    ['holds a NUL', () => '%00'],
  ])('answers 404 for an id that %s', async (_what, id) => {
    expectRefusal(await acme.owner.get(`/contacts/${id()}`), 404);
  });

  it('takes an id whatever its case', async () => {
    const { id } = await acme.contact();
    expect((await acme.owner.get(`/contacts/${id.toUpperCase()}`)).body.data.id).toBe(id);
  });
});

describe('PATCH /contacts/{id}', () => {
  it('changes what is sent and keeps the rest', async () => {
    const before = await acme.contact({ ...everything(), tags: ['VIP'] });
    const after = await patch(before.id, { lastName: 'Hopper' });
    expect(after).toEqual({ ...before, lastName: 'Hopper', updatedAt: after.updatedAt });
    expect(Date.parse(after.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt));
    expect(await read(before.id)).toEqual(after);
  });

  it('clears what is null, or an empty text', async () => {
    const { masterStatus, customFields, ...nullable } = everything();
    const before = await acme.contact(everything());
    const after = await patch(before.id, Object.fromEntries(Object.keys(nullable).map((name) => [name, null])));
    for (const name of Object.keys(nullable)) expect({ [name]: after[name] }).toEqual({ [name]: null });
    expect(after).toMatchObject({ masterStatus, customFields });
    expect((await patch(before.id, { masterStatus: 'x', city: 'Paris' })).city).toBe('Paris');
    expect((await patch(before.id, { city: '' })).city).toBeNull();
  });

  it('refuses null and empty where a value is needed', async () => {
    const { id } = await acme.contact();
    await expectNothingWritten(api, async () => {
      for (const masterStatus of [null, '', '  ']) {
        expectRefusal(await acme.owner.patch(`/contacts/${id}`, { masterStatus }), 400, 'masterStatus');
      }
      expectRefusal(await acme.owner.patch(`/contacts/${id}`, { customFields: null }), 400, 'customFields');
    });
  });

  it('merges custom fields key by key; a null removes its key', async () => {
    const { id } = await acme.contact({ firstName: 'Ada', customFields: { keep: 1, change: 'a', drop: true, deep: { a: 1, b: 2 } } });
    const after = await patch(id, { customFields: { change: 'b', drop: null, add: [1], deep: { c: 3 } } });
    expect(after.customFields).toEqual({ keep: 1, change: 'b', add: [1], deep: { c: 3 } });
  });

  it('holds the merged custom fields to 64 KB', async () => {
    const { id } = await acme.contact({ firstName: 'Ada', customFields: { a: 'x'.repeat(40_000) } });
    await expectNothingWritten(api, async () => {
      expectRefusal(await acme.owner.patch(`/contacts/${id}`, { customFields: { b: 'x'.repeat(40_000) } }), 413, 'customFields');
    });
    expect((await acme.owner.patch(`/contacts/${id}`, { customFields: { a: null, b: 'x'.repeat(40_000) } })).status).toBe(200);
  });

  it('changes nothing by an empty body or by the same values', async () => {
    const before = await acme.contact({ ...everything(), tags: ['VIP'] });
    await expectNothingWritten(api, async () => {
      expect(await patch(before.id, {})).toEqual(before);
      expect(await patch(before.id, { ...everything(), tags: ['vip'] })).toEqual(before);
      expect((await acme.owner.patch(`/contacts/${before.id}`)).status).toBe(200);
    });
  });
});

describe('the tags of a contact', () => {
  it('are found or made without regard to case, once each', async () => {
    await acme.tag('Newsletter');
    const { id, tags } = await acme.contact({ firstName: 'Ada', tags: ['newsletter', 'Beta', 'BETA', ' beta '] });
    expect(tags.map((t: { name: string }) => t.name)).toEqual(['Beta', 'Newsletter']);
    expect(await read(id)).toMatchObject({ tags });
  });

  it('are replaced by PATCH, kept when absent, cleared by [] and by null', async () => {
    const { id } = await acme.contact({ firstName: 'Ada', tags: ['a', 'b'] });
    expect(tagNames(await patch(id, { lastName: 'L' }))).toEqual(['a', 'b']);
    expect(tagNames(await patch(id, { tags: ['b', 'c'] }))).toEqual(['b', 'c']);
    expect(tagNames(await patch(id, { tags: [] }))).toEqual([]);
    expect(tagNames(await patch(id, { tags: ['a'] }))).toEqual(['a']);
    expect(tagNames(await patch(id, { tags: null }))).toEqual([]);
    expect(tagNames(await read(id))).toEqual([]);
  });

  it('come in one order, however they are read', async () => {
    const { id, tags } = await acme.contact({ firstName: 'Ada', tags: ['Zoo', 'apple', 'Ärger', '10', '9', 'b-1', 'B 2', '_x'] });
    expect(tagNames(await read(id))).toEqual(tagNames({ tags }));
    expect(tagNames(await patch(id, { tags: tagNames({ tags }).reverse() }))).toEqual(tagNames({ tags }));
  });

  it('keep apart and together what Unicode does', async () => {
    const names = ['İstanbul', 'ΟΔΟΣ', 'straße', 'DŽ', 'ﬁ'];
    const first = await acme.contact({ firstName: 'Ada', tags: names });
    const again = await acme.contact({ firstName: 'Ada', tags: names.map((name) => name.toLowerCase()) });
    expect(again.tags).toEqual(first.tags);
  });

  it('are at most a hundred, of at most a hundred characters', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `${String(i).padStart(3, '0')}${'😀'.repeat(97)}`);
    expect((await acme.contact({ firstName: 'Ada', tags: names })).tags).toHaveLength(100);
    await expectNothingWritten(api, async () => {
      expectRefusal(await create({ firstName: 'Ada', tags: [...names, 'one more'] }), 400, 'tags');
      expectRefusal(await create({ firstName: 'Ada', tags: ['ok', 'x'.repeat(101)] }), 400, 'tags.1');
      expectRefusal(await create({ firstName: 'Ada', tags: ['ok', ' '] }), 400, 'tags.1');
    });
  });
});

describe('DELETE /contacts/{id}', () => {
  it('hides the contact from reads, lists, searches, totals and changes', async () => {
    const { id } = await acme.contact({ firstName: 'Vanishing', tags: ['gone'] });
    expect(dataOf(await acme.owner.del(`/contacts/${id}`))).toEqual({ id, deleted: true });
    expectRefusal(await acme.owner.get(`/contacts/${id}`), 404);
    expectRefusal(await acme.owner.patch(`/contacts/${id}`, { firstName: 'Back' }), 404);
    expectRefusal(await acme.owner.del(`/contacts/${id}`), 404);
    expectRefusal(await acme.owner.post(`/contacts/${id}/tags`, { tagId: (await acme.tag()).id }), 404);
    for (const query of ['search=vanishing', 'tag=gone', 'per_page=200']) {
      const { data } = dataOf(await acme.owner.get(`/contacts?${query}`));
      expect(data.map((contact: { id: string }) => contact.id)).not.toContain(id);
    }
    const [tag] = dataOf(await acme.owner.get('/tags?search=gone'));
    expect(tag._count).toEqual({ contacts: 0 });
  });
});

describe('POST /contacts/{id}/restore', () => {
  it('brings the contact back as it was', async () => {
    const { updatedAt, ...before } = await acme.contact({ ...everything(), tags: ['VIP'] });
    await acme.owner.del(`/contacts/${before.id}`);
    expect(dataOf(await acme.owner.post(`/contacts/${before.id}/restore`))).toMatchObject(before);
    expect(await read(before.id)).toMatchObject(before);
  });
});
