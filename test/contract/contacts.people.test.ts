import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
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

const read = async (id: string) => dataOf(await acme.owner.get(`/contacts/${id}`));
const tagNames = (contact: Loose) => contact.tags.map((tag: Loose) => tag.name);

describe('POST /contacts/{id}/tags', () => {
  it('takes tagIds or tagId, is idempotent, and answers all tags of the contact', async () => {
    const { id } = await acme.contact({ firstName: 'Ada', tags: ['first'] });
    const [a, b] = [await acme.tag('a'), await acme.tag('b')];
    const reply = await acme.owner.post(`/contacts/${id}/tags`, { tagIds: [b.id, a.id, a.id] });
    expect(reply.status).toBe(201);
    const [first] = dataOf(await acme.owner.get('/tags?search=first'));
    expect(reply.body.data).toEqual([a, b, first].map(({ id, name, color }: Loose) => ({ id, name, color })));
    const again = await acme.owner.post(`/contacts/${id}/tags`, { tagId: a.id.toUpperCase() });
    expect([again.status, again.body]).toEqual([201, reply.body]);
    expect(tagNames(await read(id))).toEqual(['a', 'b', 'first']);
  });

  it('makes no tag, and puts none on where one of them is unknown', async () => {
    const { id } = await acme.contact();
    const tag = await acme.tag();
    const post = (body: object) => acme.owner.post(`/contacts/${id}/tags`, body);
    await expectNothingWritten(api, async () => {
      for (const body of [{}, { tagIds: [] }, { tagIds: null }]) expectRefusal(await post(body), 400);
      expectRefusal(await post({ tagIds: [tag.id, crypto.randomUUID()] }), 400, 'tagIds.1');
      expectRefusal(await post({ tagId: crypto.randomUUID() }), 400, 'tagId');
      expectRefusal(await post({ tagIds: [tag.id], tagId: crypto.randomUUID() }), 400, 'tagId');
      const { body } = await post({ tagIds: [crypto.randomUUID(), tag.id, crypto.randomUUID()], tagId: tag.id });
      expect(body.details.map(({ field }: Loose) => field)).toEqual(['tagIds.0', 'tagIds.2']);
      expectRefusal(await post({ tagIds: ['a new one'] }), 400, 'tagIds.0');
      expectRefusal(await acme.owner.post(`/contacts/${crypto.randomUUID()}/tags`, { tagId: tag.id }), 404);
    });
  });
});

describe('DELETE /contacts/{id}/tags/{tagId}', () => {
  it('takes the tag off and answers those that are left', async () => {
    const { id, tags } = await acme.contact({ firstName: 'Ada', tags: ['left', 'taken'] });
    const taken = tags.find((tag: Loose) => tag.name === 'taken');
    const reply = await acme.owner.del(`/contacts/${id}/tags/${taken.id}`);
    expect([reply.status, reply.body.data.map((tag: Loose) => tag.name)]).toEqual([200, ['left']]);
    expectRefusal(await acme.owner.del(`/contacts/${id}/tags/${taken.id}`), 404);
    expectRefusal(await acme.owner.del(`/contacts/${id}/tags/x`), 404);
    expect((await acme.owner.get(`/tags/${taken.id}`)).status).toBe(200);
  });
});

it('POST /contacts/merge keeps a score for all that now is the contact’s, and the later of each moment', async () => {
  const [primary, secondary] = [await acme.contact({ firstName: 'a' }), await acme.contact({ firstName: 'b' })];
  api.clock.advance(minute);
  const pipeline = await acme.pipeline();
  for (const stage of [pipeline.stages[0], pipeline.stages[3]]) {
    await acme.deal({ pipeline: { ...pipeline, stages: [stage] }, contactId: secondary.id });
  }
  const { leadScore, lastActivityAt } = dataOf(await acme.owner.get(`/contacts/${secondary.id}`));
  expect([leadScore, typeof lastActivityAt]).toEqual([30, 'string']);
  const { lastContactedAt } = dataOf(await acme.owner.get(`/contacts/${primary.id}`));
  api.clock.advance(minute);
  const merged = dataOf(await acme.owner.post('/contacts/merge', { primaryId: primary.id, secondaryId: secondary.id }));
  expect(merged).toMatchObject({ leadScore, lastActivityAt, lastContactedAt });
  expect(dataOf(await acme.owner.get(`/contacts/${primary.id}`))).toEqual(merged);
  expect(dataOf(await acme.owner.get(`/contacts/${primary.id}/score`)).score).toBe(leadScore);
  const other = await acme.contact({ firstName: 'c' });
  const again = dataOf(await acme.owner.post('/contacts/merge', { primaryId: primary.id, secondaryId: other.id }));
  expect(again).toMatchObject({ leadScore, lastActivityAt });
  api.clock.reset();
});

describe('merged contacts', () => {
  const merged = (one: Loose, other: Loose) => acme.owner.post('/contacts/merge', { primaryId: one.id, secondaryId: other.id });
  const landlineOf = async ({ id }: Loose) => (await api.app.database.prisma.contact.findFirstOrThrow({ where: { accountId: acme.id, id } })).landline; // biome-ignore format: one line

  it('keep what a vendor found out about the number that is kept', async () => {
    const [number, mobile] = ['+14155550190', '+14155550191'];
    const landline = async (fields: object) => {
      const contact = await acme.contact({ firstName: 'a', ...fields });
      await api.app.database.prisma.contact.updateMany({ where: { accountId: acme.id, id: contact.id }, data: { landline: number } });
      return contact;
    };
    const [filled, own] = [await acme.contact({ firstName: 'a' }), await acme.contact({ firstName: 'a', phone: mobile })];
    dataOf(await merged(filled, await landline({ phone: number })));
    expect(await landlineOf(filled)).toBe(number);
    dataOf(await merged(own, await landline({ phone: number })));
    expect(await landlineOf(own)).toBeNull();
  });

  it('hold no more custom fields than a contact may, else nothing is merged', async () => {
    const large = (key: string) => acme.contact({ firstName: 'a', customFields: { [key]: 'x'.repeat(40 * 1024) } });
    const [one, other, same] = [await large('one'), await large('other'), await large('one')];
    await expectNothingWritten(api, async () => expectRefusal(await merged(one, other), 413, 'customFields'));
    dataOf(await merged(one, same));
  });
});

describe('POST /contacts/merge', () => {
  const merge = (primaryId: unknown, secondaryId: unknown) => acme.owner.post('/contacts/merge', { primaryId, secondaryId });

  it('keeps the primary, fills its gaps from the secondary and deletes that', async () => {
    const primary = await acme.contact({ firstName: 'Ada', city: 'London', customFields: { a: 1, both: 'kept' }, tags: ['x', 'y'] });
    const fields = {
      firstName: 'A.',
      lastName: 'Lovelace',
      email: 'ada@example.com',
      doNotContact: true,
      customFields: { b: 2, both: 'lost' },
    };
    const secondary = await acme.contact({ ...fields, tags: ['y', 'z'] });
    const reply = await merge(primary.id, secondary.id);
    expect(reply.status).toBe(200);
    expect(reply.body.data).toMatchObject({
      id: primary.id,
      ...{ firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', city: 'London', doNotContact: true },
      customFields: { a: 1, b: 2, both: 'kept' },
    });
    expect(tagNames(reply.body.data)).toEqual(['x', 'y', 'z']);
    expect(await read(primary.id)).toEqual(reply.body.data);
    expectRefusal(await acme.owner.get(`/contacts/${secondary.id}`), 404);
    expectRefusal(await acme.owner.post(`/contacts/${secondary.id}/restore`), 400);
  });

  it('refuses one id twice, and an id that nobody has', async () => {
    const { id } = await acme.contact();
    const nobody = crypto.randomUUID();
    await expectNothingWritten(api, async () => {
      expectRefusal(await merge(id, id), 400, 'secondaryId');
      expectRefusal(await merge(id, id.toUpperCase()), 400, 'secondaryId');
      expectRefusal(await merge(id, nobody), 404);
      expectRefusal(await merge(nobody, id), 404);
      expectRefusal(await merge(id, undefined), 400, 'secondaryId');
      expectRefusal(await merge(null, id), 400, 'primaryId');
    });
  });
});

describe('GET /contacts/duplicates', () => {
  it('groups contacts by e-mail address, phone number, and name with company', async () => {
    const other = await api.seed.account();
    const make = (fields: Record<string, unknown>) => other.contact(fields);
    await make({ email: 'Same@example.com' });
    await make({ email: 'same@EXAMPLE.com', phone: '(415) 555-0199' });
    await make({ firstName: 'P', phone: '+14155550199' });
    await make({ firstName: 'Ada', lastName: 'King', company: 'Acme' });
    await make({ firstName: 'ADA', lastName: 'king', company: 'ACME' });
    await make({ firstName: 'Ada', lastName: 'King' });
    await make({ firstName: 'Zoë', company: 'Ünal' });
    await make({ firstName: 'ZOË', company: 'ünal' });
    await make({ email: 'nameless1@example.com', company: 'Acme' });
    await make({ email: 'nameless2@example.com', company: 'Acme' });
    const reply = await other.owner.get('/contacts/duplicates');
    expect(reply.headers).toMatchObject({ 'x-per-page': '200', 'x-total-count': '4' });
    const groups = dataOf(reply);
    expect(groups.map(({ matchOn, value, count }: Loose) => [matchOn, value, count])).toEqual([
      ['email', 'same@example.com', 2],
      ['name_company', 'ada king @ acme', 2],
      ['name_company', 'zoë @ ünal', 2],
      ['phone', '+14155550199', 2],
    ]);
    expect(groups[0].contacts).toHaveLength(2);
  });
});

describe('the pages of GET /contacts/duplicates', () => {
  it('show the largest groups first, with their exact total', async () => {
    const other = await api.seed.account();
    const hidden = await api.seed.account();
    await hidden.contact({ email: 'a3@example.com' });
    for (const [i, n] of [2, 3, 2, 41].entries()) {
      for (let k = 0; k < n; k++) await other.contact({ email: `a${i}@example.com`, firstName: `n${i}`, company: i === 1 ? 'Acme' : null });
    }
    const gone = await other.contact({ email: 'gone@example.com' });
    await other.contact({ email: 'gone@example.com' });
    await other.owner.del(`/contacts/${gone.id}`);
    const shown = ({ matchOn, value, count, contacts }: Loose) => [matchOn, value, count, contacts.length];
    const all = [
      ['email', 'a3@example.com', 41, 40],
      ['email', 'a1@example.com', 3, 3],
      ['name_company', 'n1 @ acme', 3, 3],
      ['email', 'a0@example.com', 2, 2],
      ['email', 'a2@example.com', 2, 2],
    ];
    for (const [page, expected] of [all.slice(0, 2), all.slice(2, 4), all.slice(4), []].entries()) {
      const reply = await other.owner.get(`/contacts/duplicates?per_page=2&page=${page + 1}`);
      expect(dataOf(reply).map(shown)).toEqual(expected);
      expect(reply.headers).toMatchObject({ 'x-total-count': '5', 'x-page': String(page + 1), 'x-per-page': '2' });
    }
    const [largest] = dataOf(await other.owner.get('/contacts/duplicates?per_page=1'));
    const ids = largest.contacts.map(({ id }: Loose) => id);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(40);
    expectRefusal(await other.owner.get('/contacts/duplicates?page=0'), 400, 'page');
    expectRefusal(await other.owner.get('/contacts/duplicates?page=2000000000'), 400, 'page');
  });

  it('go on after a cursor, and what is none of the list is refused', async () => {
    const other = await api.seed.account();
    for (const value of ['b', 'a', 'c', 'b', 'a', 'c', 'c']) await other.contact({ email: `${value}@example.com` });
    const Groups = `query ($after: String) { duplicateContacts(first: 1, after: $after) {
      totalCount nodes { value count contacts { id } } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;
    const found: string[] = [];
    for (let after: string | null = null, i = 0; i === 0 || after; i++) {
      const { duplicateContacts: page }: Loose = (await other.owner.gql(Groups, { after })).data;
      found.push(...page.nodes.map(({ value, count, contacts }: Loose) => `${value} ${count} ${contacts.length}`));
      expect([page.totalCount, page.pageInfo.hasPreviousPage, page.edges[0].cursor]).toEqual([3, i > 0, page.pageInfo.endCursor]);
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    }
    expect(found).toEqual(['c@example.com 3 3', 'a@example.com 2 2', 'b@example.com 2 2']);
    const cursors = [
      ['contacts', 1, 'email', 'a'],
      ['duplicates', '1', 'email', 'a'],
      ['duplicates', 1, 'toString', 'a'],
      ['duplicates', 1, 'email', 'a\0'],
    ];
    for (const after of ['x', ...cursors.map((cursor) => Buffer.from(JSON.stringify(cursor)).toString('base64url'))]) {
      const { errors } = await other.owner.gql(Groups, { after });
      expect(errors![0].extensions).toMatchObject({ status: 400, details: [{ field: 'after', code: 'invalid_format' }] });
    }
  });
});

describe('POST /contact', () => {
  it('makes a contact where none has the address, with 201', async () => {
    const reply = await acme.owner.post('/contact', { firstName: 'New', email: 'new@example.com' });
    expect([reply.status, reply.body.created, reply.body.data.email]).toEqual([201, true, 'new@example.com']);
  });

  it('updates the contact of the e-mail address before that of the phone number, with 200', async () => {
    const byEmail = await acme.contact({ firstName: 'E', email: 'Up@Example.com' });
    const byPhone = await acme.contact({ firstName: 'P', phone: '+14155550177' });
    const both = await acme.owner.post('/contact', { email: 'up@example.com', phone: '(415) 555-0177', city: 'Rome' });
    expect([both.status, both.body.created, both.body.data.id, both.body.data.city]).toEqual([200, false, byEmail.id, 'Rome']);
    const phone = await acme.owner.post('/contact', { email: 'other@example.com', phone: '+14155550177', lastName: 'Q' });
    expect([phone.status, phone.body.data.id === byPhone.id || phone.body.data.id === byEmail.id]).toEqual([200, true]);
  });

  it('takes nothing away by null, "" or an empty list, as a creation says nothing by them', async () => {
    const email = 'kept@example.com';
    const known = await acme.contact({ email, firstName: 'Ann', jobTitle: 'Pilot', country: 'IT', tags: ['a', 'b'] });
    for (const nothing of [null, '', '  ']) {
      const tags = { tags: nothing === null ? null : [] };
      const reply = await acme.owner.post('/contact', { email, firstName: nothing, jobTitle: nothing, country: nothing, ...tags });
      expect([reply.status, reply.body.data]).toEqual([200, known]);
    }
  });

  it('takes nothing away by members of attribution and custom fields that say nothing', async () => {
    const email = 'source@example.com';
    const attribution = { utm_source: 'news', utm_medium: 'mail', clickIds: { gclid: 'g1' } };
    const known = await acme.contact({ email, attribution, customFields: { tier: 'gold', seats: 3, interests: ['a'] } });
    for (const nothing of [null, '', ' ']) {
      const click = { clickIds: { gclid: nothing } };
      const none = {
        attribution: { utm_source: nothing, ...click },
        customFields: { tier: nothing, interests: nothing === null ? [] : [nothing] },
      };
      expect((await acme.owner.post('/contact', { email, ...none })).body.data).toEqual(known);
    }
    const more = { attribution: { utm_source: null, utm_term: 'crm' }, customFields: { tier: '', seats: 4 } };
    expect((await acme.owner.post('/contact', { email, ...more })).body.data).toMatchObject({
      attribution: { ...attribution, utm_term: 'crm' },
      customFields: { tier: 'gold', seats: 4 },
    });
  });

  it('needs what a creation needs', async () => {
    await expectNothingWritten(api, async () => expectRefusal(await acme.owner.post('/contact', { city: 'Rome' }), 400));
  });
});

describe('GET /contacts/{id}/score', () => {
  it('tells the score and what it is made of', async () => {
    const { id } = await acme.contact();
    const score = dataOf(await acme.owner.get(`/contacts/${id}/score`));
    expect(score).toMatchObject({ contactId: id, score: 0, maxScore: 100, updatedAt: expect.any(String) });
    for (const factor of score.factors) expect(Object.keys(factor).sort()).toEqual(['detail', 'key', 'label', 'points']);
  });
});
