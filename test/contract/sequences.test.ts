import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

let made = 0;
const template = async (fields: Loose = {}) =>
  dataOf(await acme.owner.post('/emails/templates', { name: `Template ${++made}`, channel: 'email', body: 'Hello', ...fields }))
    .id as string;
const sequence = async (fields: Loose = {}) =>
  dataOf(
    await acme.owner.post('/emails/sequences', {
      ...{ name: `Sequence ${++made}`, steps: [{ templateId: await template(), delayDays: 1 }] },
      ...fields,
    }),
  );
const reader = async (fields: Loose = {}) => (await acme.contact({ email: `reader${++made}@example.com`, ...fields })).id as string;
const enroll = async (id: string, ...contactIds: string[]) =>
  dataOf(await acme.owner.post(`/emails/sequences/${id}/enroll`, { contactIds }));
const runs = async (id: string, query = '') => dataOf(await acme.owner.get(`/emails/sequences/${id}/enrollments${query}`)).data as Loose[];
const toldOf = async (id: string) =>
  (await api.app.database.prisma.outboxEvent.findMany({ where: { accountId: acme.id, entityId: id }, orderBy: { seq: 'asc' } })).map(
    ({ name }) => name,
  );

describe('POST /emails/sequences', () => {
  it('keeps the steps in their order, numbered from 1, and the flags by their defaults', async () => {
    const templateId = await template();
    const steps = [
      { templateId, delayDays: 0, subject: 'Welcome' },
      { delayDays: 3, subject: 'Well?', body: 'Hello again' },
    ];
    const one = await sequence({ name: 'Welcome', steps });
    expect(one).toMatchObject({
      ...{ name: 'Welcome', description: null, isActive: true, status: 'active', version: 1, createdBy: acme.ownerId },
      ...{ autoUnenrollOnBounce: true, autoUnenrollOnMeeting: false, autoUnenrollOnReply: true, autoUnenrollOnUnsubscribe: true },
      ...{ enrolledCount: 0, completedCount: 0, activeCount: 0 },
      steps: [
        { order: 1, templateId, delayDays: 0, subject: 'Welcome', body: null },
        { order: 2, templateId: null, delayDays: 3, subject: 'Well?', body: 'Hello again' },
      ],
    });
    expect(await toldOf(one.id)).toEqual(['sequence.created']);
  });

  it('answers 422 to whatever is wrong, and names the field and the step', async () => {
    const [templateId, sms] = [await template(), await template({ channel: 'sms' })];
    const good = { name: 'Good', steps: [{ templateId, delayDays: 1 }] };
    const step = (fields: Loose) => ({ steps: [good.steps[0], { ...good.steps[0], ...fields }] });
    const bad: [string, Loose][] = [
      ['name', { name: ' ' }],
      ['name', { name: 'x'.repeat(201) }],
      ['steps', { steps: undefined }],
      ['steps', { steps: [] }],
      ['steps', { steps: Array.from({ length: 51 }, () => good.steps[0]) }],
      ['steps.1.templateId', step({ templateId: v4() })],
      ['steps.1.templateId', step({ templateId: sms })],
      ['steps.1.templateId', step({ templateId: 'none' })],
      ['steps.1.subject', step({ templateId: null, body: 'Hello' })],
      ['steps.1.body', step({ templateId: null, subject: 'Hello' })],
      ['steps.1.subject', step({ subject: 'x'.repeat(501) })],
      ['steps.1.delayDays', step({ delayDays: -1 })],
      ['steps.1.delayDays', step({ delayDays: 3651 })],
      ['steps.1.delayDays', step({ delayDays: 0.5 })],
      ['steps.1.delayDays', step({ delayDays: undefined })],
    ];
    await expectNothingWritten(api, async () => {
      for (const [field, change] of bad) expectRefusal(await acme.owner.post('/emails/sequences', { ...good, ...change }), 422, field);
    });
  });
});

describe('PATCH /emails/sequences/{id}', () => {
  it('makes a new version of changed steps, for enrollments to come', async () => {
    const one = await sequence();
    const [before, after] = [await reader(), await reader()];
    await enroll(one.id, before);
    const steps = [...one.steps, { delayDays: 9, subject: 'Later', body: 'Hello' }].map(({ id: _id, order: _order, ...step }) => step);
    const changed = dataOf(await acme.owner.patch(`/emails/sequences/${one.id}`, { steps }));
    expect([changed.version, changed.steps.length, changed.activeCount]).toEqual([2, 2, 1]);
    await enroll(one.id, after);
    const versions = (await runs(one.id)).map(({ contactId, version, totalSteps }) => [contactId, version, totalSteps]);
    expect(versions.sort()).toEqual(
      [
        [before, 1, 1],
        [after, 2, 2],
      ].sort(),
    );
  });

  it('changes nothing where the steps say the same', async () => {
    const one = await sequence();
    await expectNothingWritten(api, async () => {
      const steps = one.steps.map(({ templateId, delayDays }: Loose) => ({ templateId, delayDays }));
      expect(dataOf(await acme.owner.patch(`/emails/sequences/${one.id}`, { name: one.name, steps, isActive: true }))).toEqual(one);
    });
  });
});

describe('POST /emails/sequences/{id}/enroll', () => {
  it('enrolls whom mail may go to, and says why it skips the others', async () => {
    const one = await sequence();
    const [good, already, nowhere, silent, out] = [
      ...[await reader(), await reader(), (await acme.contact({ firstName: 'Nowhere' })).id as string],
      ...[await reader({ doNotContact: true }), await reader()],
    ] as string[];
    await api.app.database.prisma.contact.updateMany({ where: { id: out }, data: { optedOutEmail: true } });
    await enroll(one.id, already!);
    const nobody = v4();
    const asked = [good!, good!.toUpperCase(), already!, nowhere!, silent!, out!, nobody, 'nothing'];
    const { enrolled, skipped, details } = await enroll(one.id, ...asked);
    expect([enrolled, skipped]).toEqual([1, 7]);
    expect(details.map(({ contactId, status, reason }: Loose) => [contactId, status, reason])).toEqual([
      [good, 'enrolled', null],
      [good!.toUpperCase(), 'skipped', 'already_enrolled'],
      [already, 'skipped', 'already_enrolled'],
      [nowhere, 'skipped', 'no_email'],
      [silent, 'skipped', 'do_not_contact'],
      [out, 'skipped', 'opted_out'],
      [nobody, 'skipped', 'not_found'],
      ['nothing', 'skipped', 'not_found'],
    ]);
    const [run] = await runs(one.id, `?contact_id=${good}`);
    expect(run).toMatchObject({ id: details[0].enrollmentId, contactId: good, status: 'active', currentStep: 0, totalSteps: 1 });
    expect(run!.contact).toEqual({ id: good, firstName: null, lastName: null, email: expect.stringContaining('reader') });
    expect(await toldOf(run!.id)).toEqual(['enrollment.created']);
    expect(dataOf(await acme.owner.get(`/emails/sequences/${one.id}`))).toMatchObject({
      ...{ enrolledCount: 2, activeCount: 2, completedCount: 0 },
      stats: { enrolled: 2, active: 2, sent: 0, openRate: 0, clickRate: 0 },
    });
  });

  it('takes 1 to 100 contacts, and none while the sequence is inactive', async () => {
    const one = await sequence({ isActive: false });
    const to = (body: Loose) => acme.owner.post(`/emails/sequences/${one.id}/enroll`, body);
    const contactId = await reader();
    await expectNothingWritten(api, async () => {
      expectRefusal(await to({}), 422, 'contactIds');
      expectRefusal(await to({ contactIds: [] }), 422, 'contactIds');
      expectRefusal(await to({ contactIds: Array.from({ length: 101 }, () => v4()) }), 422, 'contactIds');
      expectRefusal(await to({ contactIds: [contactId] }), 422, 'id');
      expectRefusal(await acme.owner.post(`/emails/sequences/${v4()}/enroll`, { contactIds: [contactId] }), 404);
    });
  });

  it('may enroll a contact again whose run has ended', async () => {
    const one = await sequence();
    const contactId = await reader();
    await enroll(one.id, contactId);
    expect(dataOf(await acme.owner.post(`/emails/sequences/${one.id}/unenroll`, { contactId })).unenrolled).toBe(1);
    expect((await enroll(one.id, contactId)).enrolled).toBe(1);
    expect((await runs(one.id)).map(({ status }) => status).sort()).toEqual(['active', 'cancelled']);
  });
});

describe('POST /emails/sequences/{id}/unenroll', () => {
  it('ends the runs of many, or of one, and skips who has none', async () => {
    const one = await sequence();
    const [a, b] = [await reader(), await reader()];
    await enroll(one.id, a, b);
    const to = (body: Loose) => acme.owner.post(`/emails/sequences/${one.id}/unenroll`, body);
    expect(dataOf(await to({ contactIds: [a, 'nothing'] }))).toMatchObject({ unenrolled: 1, skipped: 1 });
    expect(dataOf(await to({ contactIds: [a], contactId: b }))).toEqual({
      ...{ unenrolled: 1, skipped: 1 },
      details: [
        { contactId: a, status: 'skipped', reason: 'not_enrolled', enrollmentId: null },
        { contactId: b, status: 'unenrolled', reason: null, enrollmentId: expect.any(String) },
      ],
    });
    const ended = await runs(one.id, '?status=cancelled');
    expect(ended.map(({ endReason, nextEmailAt }) => [endReason, nextEmailAt])).toEqual([
      ['unenrolled', null],
      ['unenrolled', null],
    ]);
    expect(await toldOf(ended[0]!.id)).toEqual(['enrollment.created', 'enrollment.updated']);
    expectRefusal(await to({}), 400, 'contactIds');
    expectRefusal(await to({ contactId: v4() }), 404);
    expectRefusal(await to({ contactIds: Array.from({ length: 101 }, () => v4()) }), 422, 'contactIds');
    const { paths } = (await api.anybody().get('/openapi.json')).body;
    expect(paths['/emails/sequences/{id}/unenroll'].post.responses).toHaveProperty('422');
  });
});

describe('Sequence.stats', () => {
  const document = 'query ($first: Int) { sequences(first: $first) { nodes { id stats { enrolled active sent openRate } } } }';

  it('is as many statements for twenty sequences as for two, each with its own figures', async () => {
    const own = await api.seed.account();
    const contactIds = await Promise.all(Array.from({ length: 3 }, async () => (await own.contact({ email: 'x@example.com' })).id));
    const steps = [{ delayDays: 1, subject: 'Hello', body: 'Hello' }];
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) {
      const { id } = dataOf(await own.owner.post('/emails/sequences', { name: `Figures ${n}`, steps }));
      ids.push(id);
      if (n < 3) dataOf(await own.owner.post(`/emails/sequences/${id}/enroll`, { contactIds: contactIds.slice(n) }));
    }
    const ask = async (first: number) => {
      const { data, errors } = await own.owner.gql(document, { first });
      expect(errors).toBeUndefined();
      expect(data.sequences.nodes).toHaveLength(first);
      return data.sequences.nodes as Loose[];
    };
    const figures = new Map((await ask(20)).map(({ id, stats }) => [id, stats]));
    expect(ids.map((id) => figures.get(id))).toEqual(
      ids.map((_, n) => ({ enrolled: Math.max(3 - n, 0), active: Math.max(3 - n, 0), sent: 0, openRate: 0 })),
    );
    const [few, many] = [await api.statements(() => ask(2)), await api.statements(() => ask(20))];
    expect(many).toBe(few);
    expect(many).toBeLessThanOrEqual(2);
  });
});

describe('POST /emails/templates/test-send', () => {
  it('names a template of the account', async () => {
    expectRefusal(await acme.owner.post('/emails/templates/test-send', { templateId: v4(), toEmail: 'me@example.com' }), 400, 'templateId');
  });
});

describe('DELETE /emails/templates/{id}', () => {
  it('names the sequences that need the template: active ones, and those whose runs still come to it', async () => {
    const templateId = await template();
    const name = `Needs ${templateId}`;
    const { id } = await sequence({ name, steps: [{ templateId, delayDays: 1 }] });
    const uses = [{ type: 'sequence', id, name }];
    const archive = () => acme.owner.del(`/emails/templates/${templateId}`);
    expect((await archive()).body).toMatchObject({ code: 'conflict', uses });
    const contactId = await reader();
    await enroll(id, contactId);
    dataOf(await acme.owner.patch(`/emails/sequences/${id}`, { steps: [{ delayDays: 1, subject: 'Other', body: 'Hello' }] }));
    expect((await archive()).body).toMatchObject({ code: 'conflict', uses });
    dataOf(await acme.owner.post(`/emails/sequences/${id}/unenroll`, { contactId }));
    dataOf(await archive());
  });

  it('lets one go that only inactive sequences name, which cannot become active again without it', async () => {
    const templateId = await template();
    const one = await sequence({ isActive: false, steps: [{ templateId, delayDays: 1 }] });
    dataOf(await acme.owner.del(`/emails/templates/${templateId}`));
    expectRefusal(await acme.owner.patch(`/emails/sequences/${one.id}`, { isActive: true }), 422, 'steps.0.templateId');
  });
});

describe('PATCH /emails/templates/{id}', () => {
  it('makes no text message of what an active sequence mails: 422', async () => {
    const templateId = await template();
    const name = `Mails ${templateId}`;
    const { id } = await sequence({ name, steps: [{ templateId, delayDays: 1 }] });
    const change = (fields: Loose) => acme.owner.patch(`/emails/templates/${templateId}`, fields);
    const refused = await change({ channel: 'sms' });
    expectRefusal(refused, 422, 'channel');
    expect(JSON.stringify(refused.body)).toContain(name);
    expect(dataOf(await change({ channel: 'email', name: 'Renamed' }))).toMatchObject({ channel: 'email', name: 'Renamed' });
    dataOf(await acme.owner.patch(`/emails/sequences/${id}`, { isActive: false }));
    expect(dataOf(await change({ channel: 'sms' })).channel).toBe('sms');
  });
});
