import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, day, type Loose, onPostgres, server, type TestServer } from '../support/index.js';
import { Socket } from '../support/live.js';
import { toldIn } from '../support/told.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const fields = [{ key: 'email', type: 'email' }, { key: 'phone', type: 'phone' }, { key: 'city' }];
const aForm = async (more: object = {}, account = acme): Promise<Loose> =>
  dataOf(await account.owner.post('/forms', { name: 'Ask us', fields, ...more }));
const submit = (id: string, data: object) => api.anybody().post(`/forms/${id}/submit`, { data });
const submitted = async (id: string, data: object) => dataOf(await submit(id, data));
const formOf = async (id: string, account = acme) => dataOf(await account.owner.get(`/forms/${id}`));
const submissionsOf = async (id: string, account = acme) => dataOf(await account.owner.get(`/forms/${id}/submissions?per_page=200`));

let n = 0;
const fresh = () => `rule${++n}@example.com`;
const many = <T>(times: number, make: (i: number) => T): T[] => Array.from({ length: times }, (_, i) => make(i));

describe('submissions at once', () => {
  it('are all counted, whoever sends them and whoever changes the form meanwhile', async () => {
    const [{ id }, other] = [await aForm({ settings: { tags: ['crowd'] } }), await aForm()];
    const work = [
      ...many(50, (i) => submit(id, i % 2 ? { email: fresh() } : {})),
      ...many(10, () => submit(other.id, {})),
      ...many(5, (i) => acme.owner.patch(`/forms/${id}`, { description: `Change ${i}` })),
    ];
    const statuses = (await Promise.all(work)).map(({ status }) => status);
    expect(statuses).toEqual([...many(60, () => 201), ...many(5, () => 200)]);
    expect((await formOf(id)).submissionCount).toBe(50);
    expect((await submissionsOf(id)).meta.total).toBe(50);
    expect((await formOf(other.id)).submissionCount).toBe(10);
  });

  it('of one new person make one contact', async () => {
    const { id } = await aForm({ settings: { tags: ['once'] } });
    for (const same of [{ email: fresh() }, { phone: '+14155550188' }, { email: fresh(), phone: '+14155550189' }]) {
      const replies = await Promise.all(many(8, (i) => submitted(id, { ...same, city: `City ${i}` })));
      expect(new Set(replies.map(({ contactId }) => contactId)).size).toBe(1);
    }
  });
});

describe('a plan that is full', () => {
  it('keeps the submission without a contact, and still knows the contacts that are there', async () => {
    const small = await api.seed.account({ plan: 'trial' });
    const known = await small.contact({ email: fresh() });
    const { id } = await aForm({ settings: { tags: ['late'] } }, small);
    const [at, accountId] = [api.clock.now(), small.id];
    const data = many(999, (i) => ({ accountId, id: api.clock.id(), firstName: `C${i}`, createdAt: at, updatedAt: at }));
    await api.app.database.prisma.contact.createMany({ data });
    expect((await submit(id, { email: fresh() })).body.data).toMatchObject({ id: expect.any(String), contactId: null });
    expect(await submitted(id, { email: known.email, city: 'Porto' })).toMatchObject({ contactId: known.id });
    const filled = dataOf(await small.owner.get(`/contacts/${known.id}`));
    expect([filled.city, filled.tags.map((tag: Loose) => tag.name)]).toEqual(['Porto', ['late']]);
    expect((await submissionsOf(id, small)).data.map(({ contactId }: Loose) => contactId)).toEqual([known.id, null]);
    expect((await formOf(id, small)).submissionCount).toBe(2);
  });

  it('that has ended lets nothing be made but the submission', async () => {
    const late = await api.seed.account({ plan: 'trial' });
    const known = await late.contact({ email: fresh() });
    const { id } = await aForm({ settings: { tags: ['never made'] } }, late);
    api.clock.advance(15 * day);
    try {
      expect(await submitted(id, { email: fresh() })).toMatchObject({ contactId: null });
      expect(await submitted(id, { email: known.email })).toMatchObject({ contactId: known.id });
      expect(await api.app.database.prisma.tag.count({ where: { accountId: late.id } })).toBe(0);
    } finally {
      api.clock.reset();
    }
  });
});

describe('what is told of a submission', () => {
  it('is that it was made, of which form and by whom; the log has one entry', async () => {
    const { id } = await aForm({ name: 'Told' });
    const email = fresh();
    let reply: Loose;
    const { events, entries, rows } = await toldIn(acme, async () => {
      reply = await submitted(id, { email });
    });
    const [of, made] = [reply.contactId, reply.id];
    expect(events).toEqual([`contact.created ${of}`, `form.submitted ${made}`, `submission.created ${made}`]);
    expect(entries).toEqual([`contact.created ${of}`, `form.submitted ${made}`]);
    const told = rows.find((row) => row.name === 'form.submitted');
    expect(told).toMatchObject({
      ...{ entityType: 'submission', actorKind: 'form', actorId: id, actorName: 'Told' },
      data: { id: made, formId: id, contactId: of, data: { email } },
    });
    expect(told.data).toEqual((await submissionsOf(id)).data[0]);
  });

  it('comes to who watches the form or the contact', async () => {
    const [{ id }, other] = [await aForm({ name: 'Watched' }), await aForm()];
    const { secret } = await acme.key();
    const socket = await Socket.open(api.wire.port, { init: { authorization: `Bearer ${secret}` } });
    try {
      const feed = socket.run(
        `subscription ($formId: ID) { submissionEvents(formId: $formId, kinds: [form_submitted], after: "0") {
          name kind names actor { kind name } submission { data form { name } contact { city } } } }`,
        { formId: id },
      );
      await submitted(other.id, { city: 'Elsewhere' });
      await submitted(id, { email: fresh(), city: 'Lisbon' });
      expect(await feed.nth(1)).toEqual([
        {
          ...{ name: 'form.submitted', kind: 'form_submitted', names: ['submission.created', 'form.submitted'] },
          actor: { kind: 'form', name: 'Watched' },
          submission: {
            ...{ data: { email: expect.any(String), city: 'Lisbon' }, form: { name: 'Watched' }, contact: { city: 'Lisbon' } },
          },
        },
      ]);
    } finally {
      socket.cut();
    }
  });

  it('of a form is every change of it, the archiving by both of its names', async () => {
    const { id } = await aForm();
    const { rows } = await toldIn(acme, async () => {
      dataOf(await acme.owner.patch(`/forms/${id}`, { name: 'Changed' }));
      dataOf(await acme.owner.del(`/forms/${id}`));
    });
    expect(rows.map(({ name, changes }) => [name, Object.keys(changes ?? {})])).toEqual([
      ['form.updated', ['name']],
      ['form.deleted', ['isActive', 'archivedAt']],
      ['form.archived', ['isActive', 'archivedAt']],
    ]);
  });
});

describe('the contact of a submission', () => {
  it('that is merged into another hands it over, and tells so', async () => {
    const { id } = await aForm();
    const [kept, { id: made, contactId }] = [await acme.contact(), await submitted(id, { email: fresh() })];
    const { events } = await toldIn(acme, () => acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: contactId }));
    expect(events).toContain(`submission.updated ${made}`);
    expect((await submissionsOf(id)).data).toMatchObject([{ id: made, contactId: kept.id }]);
    expect(dataOf(await acme.owner.get(`/contacts/${kept.id}`)).leadScore).toBe(5);
  });

  it('that was deleted is nobody: the next submission makes another', async () => {
    const { id } = await aForm();
    const email = fresh();
    const first = await submitted(id, { email });
    dataOf(await acme.owner.del(`/contacts/${first.contactId}`));
    expect((await submitted(id, { email })).contactId).not.toBe(first.contactId);
  });

  it('keeps the tags that it can carry', async () => {
    const full = await acme.contact({ email: fresh(), tags: many(99, (i) => `full ${i}`) });
    const { id } = await aForm({ settings: { tags: ['full 1', 'one more', 'too many'] } });
    await submitted(id, { email: full.email });
    const { tags } = dataOf(await acme.owner.get(`/contacts/${full.id}`));
    expect([tags.length, tags.some((tag: Loose) => tag.name === 'one more')]).toEqual([100, true]);
  });
});

onPostgres(describe)('a form that is archived while it is filled in', () => {
  it('has every submission that was answered with 201, and no other', async () => {
    const { id } = await aForm();
    const replies = await Promise.all([
      ...many(10, () => submit(id, {})),
      acme.owner.del(`/forms/${id}`),
      ...many(10, () => submit(id, {})),
    ]);
    const taken = replies.filter(({ status }) => status === 201).length;
    expect((await formOf(id)).submissionCount).toBe(taken);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([...(taken < 20 ? [404] : []), ...(taken ? [201] : []), 200]));
  });
});
