import { type Account, dataOf } from '../support/index.js';
import type { MakeSample } from './samples.js';

const aTemplate = async (account: Account, n: number) =>
  dataOf(await account.owner.post('/emails/templates', { name: `Template ${n}`, channel: 'email', body: 'Hello {{contact.firstName}}' }))
    .id as string;
const onTemplate: MakeSample = async (account, n) => ({ params: { id: await aTemplate(account, n) } });

const nothing: MakeSample = () => ({});

let numbers = 0;

/** A number of the simulator that nobody has claimed. */
export async function freeNumber({ owner }: Account): Promise<string> {
  const free = dataOf(await owner.get('/settings/numbers/available'));
  return free[++numbers % free.length].number;
}

export const aNumber = async (account: Account) =>
  dataOf(await account.owner.post('/settings/numbers', { number: await freeNumber(account) })).id as string;

/** A key of the simulator of lines, whose account is this workspace's alone. */
export const lineKey = ({ id }: Account) => `line_${id}.sample`;

/** A connected workspace's line, by its number among three. */
export async function aLine(account: Account, nth = 1): Promise<string> {
  dataOf(await account.owner.put('/settings/vendor-line', { apiKey: lineKey(account) }));
  return `${account.id}-${nth}`;
}

const connected: MakeSample = async (account) => ({ params: await aLine(account).then(() => ({})) });

const aReader = async (account: Account) => (await account.contact({ email: 'reader@example.com' })).id as string;

const aMessage = async (account: Account, n: number, fields: Record<string, unknown> = {}) =>
  dataOf(
    await account.owner.post('/messages', {
      ...{ contactId: await aReader(account), channel: 'sms', direction: 'inbound', body: `Message ${n}` },
      ...fields,
    }),
  ) as { id: string; contactId: string };

const ofContact: MakeSample = async (account, n) => ({ params: { contactId: (await aMessage(account, n)).contactId } });

const aSequence = async (account: Account, n: number) => {
  const steps = [{ templateId: await aTemplate(account, n), delayDays: 1 }];
  return dataOf(await account.owner.post('/emails/sequences', { name: `Sequence ${n}`, steps })).id as string;
};
const onSequence: MakeSample = async (account, n) => ({ params: { id: await aSequence(account, n) } });

const aRun = async (account: Account, n: number) => {
  const [id, contactId] = [await aSequence(account, n), await aReader(account)];
  const { details } = dataOf(await account.owner.post(`/emails/sequences/${id}/enroll`, { contactIds: [contactId] }));
  return { id, contactId, enrollmentId: details[0].enrollmentId as string };
};
const onRun: MakeSample = async (account, n) => ({ params: { id: (await aRun(account, n)).id } });

/** A run by its path, paused first where it is to be resumed. */
const onEnrollment =
  (isPaused: boolean): MakeSample =>
  async (account, n) => {
    const { id, enrollmentId } = await aRun(account, n);
    if (isPaused) dataOf(await account.owner.post(`/emails/sequences/${id}/enrollments/${enrollmentId}/pause`, {}));
    return { params: { id, enrollmentId } };
  };

/** Samples of templates, messages, conversations and sequences. */
export const talkSamples: Record<string, MakeSample> = {
  'GET /emails/templates': async (account, n) => {
    await aTemplate(account, n);
    return { query: 'channel=email&is_active=true&sort=name' };
  },
  'POST /emails/templates': (_account, n) => ({
    body: {
      ...{ name: `Made ${n}`, channel: 'email', subject: 'For {{contact.firstName}}', body: 'Hello {{contact.firstName}}' },
      ...{ bodyHtml: '<p>Hello {{contact.firstName}}</p>', category: 'welcome', provider: 'smtp', isActive: true },
    },
  }),
  'POST /emails/templates/test-send': async (account, n) => ({
    body: { templateId: await aTemplate(account, n), toEmail: `tester${n}@example.com` },
  }),
  'GET /emails/templates/{id}': onTemplate,
  'PATCH /emails/templates/{id}': async (account, n) => ({ ...(await onTemplate(account, n)), body: { body: 'Changed', isActive: false } }),
  'DELETE /emails/templates/{id}': onTemplate,

  'GET /messages': async (account, n) => ({ query: `contact_id=${(await aMessage(account, n)).contactId}&channel=sms&direction=inbound` }),
  'POST /messages': async (account, n) => ({
    body: {
      ...{ contactId: await aReader(account), channel: 'email', direction: 'outbound', subject: `About ${n}`, body: '<p>Hello</p>' },
      ...{ toEmail: 'reader@example.com', cc: ['boss@example.com'], metadata: { thread: n } },
    },
  }),
  'GET /messages/sms/{id}': async (account, n) => ({ params: { id: (await aMessage(account, n)).id } }),
  'POST /messages/{id}/cancel': async (account, n) => ({
    params: { id: (await aMessage(account, n, { direction: 'outbound', status: 'draft' })).id },
  }),
  'POST /email/send': async (account, n) => ({ body: { contactId: await aReader(account), subject: `Offer ${n}`, body: 'Hello' } }),
  'POST /messages/sms/send': async (account, n) => ({
    body: {
      ...{ contactId: (await account.contact({ phone: '+14155550150' })).id, body: `Text ${n}`, transport: 'primary' },
      ...{ idempotencyKey: `sample-${n}`, metadata: { n } },
    },
  }),
  'GET /settings/workspace': nothing,
  'PATCH /settings/workspace': (_account, n) => ({ body: { name: `Acme ${n}` } }),
  'GET /settings/numbers': async (account) => ({ params: await aNumber(account).then(() => ({})) }),
  'GET /settings/numbers/available': nothing,
  'POST /settings/numbers': async (account) => ({ body: { number: await freeNumber(account), label: 'Front desk' } }),
  'DELETE /settings/numbers/{id}': async (account) => ({
    params: { id: await aNumber(account) },
  }),
  'POST /email/send-bulk': async (account, n) => ({
    body: { contactIds: [await aReader(account)], subject: `News ${n}`, body: 'Hello {{contact.firstName}}', bodyHtml: '<p>Hello</p>' },
  }),
  'GET /settings/vendor-line': connected,
  'PUT /settings/vendor-line': (account) => ({ body: { apiKey: lineKey(account) } }),
  'DELETE /settings/vendor-line': connected,
  'GET /settings/vendor-line/lines': connected,
  'PUT /settings/vendor-line/lines/{lineId}': async (account, n) => ({
    params: { lineId: await aLine(account, (n % 3) + 1) },
    body: { userId: (await account.member()).userId },
  }),
  'GET /emails': async (account, n) => {
    await aMessage(account, n, { channel: 'email', subject: 'Hello' });
    return {};
  },

  'GET /conversations': async (account, n) => {
    await aMessage(account, n);
    return {};
  },
  'GET /conversations/{contactId}': ofContact,
  'POST /conversations/{contactId}/read': ofContact,
  'POST /conversations/{contactId}/close': ofContact,

  'GET /emails/sequences': async (account, n) => {
    await aRun(account, n);
    return { query: 'is_active=true&sort=name' };
  },
  'POST /emails/sequences': async (account, n) => ({
    body: {
      ...{ name: `Made ${n}`, description: 'Welcomes', isActive: true, autoUnenrollOnMeeting: true, autoUnenrollOnReply: false },
      ...{ autoUnenrollOnBounce: true, autoUnenrollOnUnsubscribe: true },
      steps: [
        { templateId: await aTemplate(account, n), delayDays: 0, subject: 'Welcome {{contact.firstName}}' },
        { delayDays: 3, subject: 'Well?', body: 'Hello again' },
      ],
    },
  }),
  'GET /emails/sequences/{id}': onRun,
  'PATCH /emails/sequences/{id}': async (account, n) => ({
    ...(await onRun(account, n)),
    body: { name: `Changed ${n}`, isActive: false, steps: [{ delayDays: 2, subject: 'Later', body: 'Hello' }] },
  }),
  'POST /emails/sequences/{id}/enroll': async (account, n) => ({
    ...(await onSequence(account, n)),
    body: { contactIds: [await aReader(account), 'nobody'] },
  }),
  'POST /emails/sequences/{id}/unenroll': async (account, n) => {
    const { id, contactId } = await aRun(account, n);
    return { params: { id }, body: { contactIds: [contactId], contactId } };
  },
  'GET /emails/sequences/{id}/enrollments': async (account, n) => ({ ...(await onRun(account, n)), query: 'status=active' }),
  'POST /emails/sequences/{id}/enrollments/{enrollmentId}/pause': onEnrollment(false),
  'POST /emails/sequences/{id}/enrollments/{enrollmentId}/resume': onEnrollment(true),
  'GET /emails/sequences/{id}/stats': onRun,
};
