import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const fields = [
  { key: 'name', label: 'Your name' },
  { key: 'email', label: 'Your e-mail', type: 'email', required: true },
  { key: 'phone', label: 'Your phone', type: 'phone' },
  { key: 'job_title', label: 'Job' },
  { key: 'size', label: 'Company size', type: 'select', options: ['small', 'large'] },
  { key: 'seats', label: 'Seats', type: 'number' },
  { key: 'question', label: 'Question', type: 'textarea' },
];
const aForm = async (more: object = {}, account = acme): Promise<Loose> =>
  dataOf(await account.owner.post('/forms', { name: 'Contact us', fields, ...more }));
const submit = (id: string, body: object) => api.anybody().post(`/forms/${id}/submit`, body);
const submitted = async (id: string, body: object) => dataOf(await submit(id, body));
const contact = async (id: string, account = acme) => dataOf(await account.owner.get(`/contacts/${id}`));
const kept = async (id: string, account = acme): Promise<Loose[]> => dataOf(await account.owner.get(`/forms/${id}/submissions`)).data;

let n = 0;
const fresh = () => `visitor${++n}@example.com`;

describe('POST /forms/{id}/submit', () => {
  it('makes a contact of a stranger, with tags and where they came from', async () => {
    const form = await aForm({
      settings: { tags: ['lead', 'Website'] },
      redirectUrl: 'https://example.com/thanks',
      thankYouMessage: 'Thanks',
    });
    const email = fresh();
    const reply = await submit(form.id, {
      data: {
        name: ' Ada King Lovelace ',
        email,
        phone: '(415) 555-0123',
        job_title: 'Mathematician',
        seats: '12.5',
        size: 'large',
        other: 1,
      },
      attribution: { utm_source: 'ads', landingUrl: 'https://example.com/', clickIds: { gclid: 'x' } },
      source: 'pricing page',
      utm: { utm_campaign: 'spring', medium: 'cpc', source: 'ignored' },
    });
    expect(reply.status).toBe(201);
    const { id, contactId } = reply.body.data;
    expect(reply.body).toEqual({
      data: { id, contactId, redirectUrl: 'https://example.com/thanks', thankYouMessage: 'Thanks' },
    });
    const made = await contact(contactId);
    expect(made).toMatchObject({
      ...{ firstName: 'Ada King', lastName: 'Lovelace', email, phone: '+14155550123', jobTitle: 'Mathematician' },
      ...{ source: 'pricing page', optedOutEmail: false, leadScore: 5 },
      attribution: {
        ...{ utm_source: 'ads', utm_campaign: 'spring', utm_medium: 'cpc', landingUrl: 'https://example.com/', clickIds: { gclid: 'x' } },
      },
    });
    expect(made.tags.map((tag: Loose) => tag.name)).toEqual(['lead', 'Website']);
    expect(await kept(form.id)).toEqual([
      {
        ...{ id, formId: form.id, contactId, source: 'pricing page', consent: null, ip: '127.0.0.1' },
        data: { ...{ name: 'Ada King Lovelace', email, phone: '+14155550123', job_title: 'Mathematician' }, seats: 12.5, size: 'large' },
        attribution: { utm_source: 'ads', landingUrl: 'https://example.com/', clickIds: { gclid: 'x' } },
        utm: { utm_campaign: 'spring', medium: 'cpc', source: 'ignored' },
        submittedAt: expect.stringMatching(/Z$/),
      },
    ]);
    expect(dataOf(await acme.owner.get(`/forms/${form.id}`)).submissionCount).toBe(1);
  });
});

describe('texts of a form and of its page whose marks stand apart, as on a Mac', () => {
  const [word, apart] = ['Größe', 'Größe'.normalize('NFD')];

  it('are kept as all texts are: the tags, the wording of the consent and the campaign', async () => {
    const form = await aForm({ settings: { tags: [` ${apart} `], consent: { text: apart }, other: apart } });
    expect(form.settings).toEqual({ tags: [word], consent: { required: false, text: word }, other: apart });
    const known = await acme.contact({ firstName: 'Ada', tags: [word] });
    const { contactId } = await submitted(form.id, { data: { email: fresh() }, utm: { utm_source: ` ${apart} `, medium: apart } });
    const made = await contact(contactId);
    expect(made).toMatchObject({ attribution: { utm_source: word, utm_medium: word }, tags: known.tags });
  });

  it('are measured as they are kept', async () => {
    const [long, tooLong] = [500, 501].map((length) => 'é'.repeat(length).normalize('NFD'));
    const { id } = await aForm({ settings: { tags: ['é'.repeat(100).normalize('NFD')] } });
    const { contactId } = await submitted(id, { data: { email: fresh() }, utm: { source: long } });
    expect((await contact(contactId)).attribution).toMatchObject({ utm_source: 'é'.repeat(500) });
    expectRefusal(await submit(id, { data: { email: fresh() }, utm: { source: tooLong } }), 400, 'utm.source');
  });
});

describe('a submission of somebody who is known', () => {
  it('knows a contact by the e-mail address in any case, then by the number; fills what is empty and overwrites nothing', async () => {
    const form = await aForm({ settings: { tags: ['LEAD', 'new one'] } });
    const email = fresh();
    const known = await acme.contact({ firstName: 'Grace', email: email.toUpperCase(), tags: ['lead'], source: 'fair' });
    dataOf(await acme.owner.post('/bulk/contacts/update', { updates: [{ id: known.id, optedOutEmail: true, optedOutSms: true }] }));
    const data = { name: 'Mallory Hopper', email, phone: '+14155550177', job_title: 'Admiral' };
    const reply = await submitted(form.id, { data, source: 'website', attribution: { utm_source: 'ads' } });
    expect(reply.contactId).toBe(known.id);
    const filled = await contact(known.id);
    expect(filled).toMatchObject({
      ...{ firstName: 'Grace', lastName: 'Hopper', email: email.toUpperCase(), phone: '+14155550177', jobTitle: 'Admiral' },
      ...{ source: 'fair', attribution: { utm_source: 'ads' }, optedOutEmail: true, optedOutSms: true, leadScore: 5 },
    });
    expect(filled.tags.map((tag: Loose) => tag.name)).toEqual(['lead', 'new one']);
    const again = await submitted(form.id, { data: { ...data, email: fresh(), name: 'Somebody Else' } });
    expect(again.contactId).toBe(known.id);
    expect(await contact(known.id)).toMatchObject({ firstName: 'Grace', lastName: 'Hopper', email: email.toUpperCase() });
  });

  it('keeps a submission that names nobody without a contact', async () => {
    const form = await aForm({ fields: [{ key: 'name' }, { key: 'rating', type: 'number', required: true }] });
    expect(await submitted(form.id, { data: { name: 'Ada', rating: 0 } })).toMatchObject({ contactId: null });
    expect(await kept(form.id)).toMatchObject([{ contactId: null, data: { name: 'Ada', rating: 0 } }]);
  });
});

describe('a select', () => {
  const kinds = (key: string, ...options: string[]) => ({ key, label: `Kind of ${key}`, type: 'select', options });

  it('stands for no phone number: who choose the same are two contacts', async () => {
    const { id } = await aForm({ fields: [{ key: 'email', type: 'email' }, kinds('phone', 'Mobile', 'Landline')] });
    const visitors = [fresh(), fresh()];
    const contacts: Loose[] = [];
    for (const email of visitors) contacts.push(await contact((await submitted(id, { data: { email, phone: 'Mobile' } })).contactId));
    expect(contacts.map(({ email, phone }) => ({ email, phone }))).toEqual(visitors.map((email) => ({ email, phone: null })));
    expect((await kept(id)).map(({ data }) => data.phone)).toEqual(['Mobile', 'Mobile']);
  });

  it('stands for no address either: nobody is known by it', async () => {
    const { id } = await aForm({ fields: [kinds('email', 'sales', 'support'), kinds('Phone', 'Mobile')] });
    expect(await submitted(id, { data: { email: 'sales', Phone: 'Mobile' } })).toMatchObject({ contactId: null });
  });

  it('says of a contact what fits there, and the rest only in the submission', async () => {
    const [zip, city] = ['z'.repeat(30), 'Porto'];
    const { id } = await aForm({ fields: [{ key: 'email', type: 'email' }, kinds('zip', zip), kinds('city', city)] });
    const { contactId } = await submitted(id, { data: { email: fresh(), zip, city } });
    expect(await contact(contactId)).toMatchObject({ zip: null, city });
    expect(await kept(id)).toMatchObject([{ data: { zip, city } }]);
  });
});

describe('a number that goes into a contact', () => {
  it('goes as it was written', async () => {
    const { id } = await aForm({
      fields: [
        { key: 'zip', type: 'number' },
        { key: 'phone', type: 'number' },
      ],
    });
    const { contactId } = await submitted(id, { data: { zip: ' 02139 ', phone: '+442079460018' } });
    expect(await contact(contactId)).toMatchObject({ zip: '02139', phone: '+442079460018' });
  });
});

describe('a submission', () => {
  it("acts for the form's account, whoever calls, and names the form in the log and the events", async () => {
    const form = await aForm({ name: 'Ask us' });
    const stranger = await api.seed.account();
    const { contactId } = dataOf(await stranger.owner.post(`/forms/${form.id}/submit`, { data: { email: fresh() } }));
    expect((await contact(contactId)).id).toBe(contactId);
    const log: Loose[] = dataOf(await acme.owner.get(`/activities?contact_id=${contactId}`)).data;
    expect(log.map(({ type, action, userId, userName }) => ({ type, action, userId, userName }))).toEqual([
      { type: 'form.submitted', action: 'created', userId: null, userName: 'Ask us' },
      { type: 'contact.created', action: 'created', userId: null, userName: 'Ask us' },
    ]);
  });

  it('is 404 for a form that is inactive, archived, of a suspended account or unknown', async () => {
    const other = await api.seed.account();
    const [inactive, archived, suspended] = [await aForm({ isActive: false }), await aForm(), await aForm({}, other)];
    dataOf(await acme.owner.del(`/forms/${archived.id}`));
    const { prisma } = api.app.database;
    await prisma.account.update({ where: { id: other.id }, data: { suspendedAt: new Date() } });
    await expectNothingWritten(api, async () => {
      for (const id of [inactive.id, archived.id, suspended.id, crypto.randomUUID(), 'nothing'])
        expectRefusal(await submit(id, { data: { email: fresh() } }), 404);
    });
  });

  it('answers a machine that fills in what is hidden as it answers everybody, and keeps nothing', async () => {
    const form = await aForm({ thankYouMessage: 'Thanks' });
    await expectNothingWritten(api, async () => {
      const reply = await submit(form.id, { data: { email: fresh() }, _hp_field: 'x' });
      expect(reply.status).toBe(201);
      expect(reply.body.data).toEqual({
        ...{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), contactId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
        ...{ redirectUrl: null, thankYouMessage: 'Thanks' },
      });
      for (const _hp_field of [' ', 0, false, {}, ['x'], 'a\0b'])
        expect((await submit(form.id, { data: { email: fresh() }, _hp_field })).status).toBe(201);
      expectRefusal(await submit(form.id, { data: {}, _hp_field: 'x' }), 400, 'data.email');
    });
  });
});
