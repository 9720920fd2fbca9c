import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { type Account, dataOf } from '../support/index.js';
import type { MakeSample } from './samples.js';
import { aNumber, freeNumber } from './samples.talk.js';

const aCall = async (account: Account, fields: Record<string, unknown> = {}) =>
  dataOf(await account.owner.post('/calls', { source: 'manual_log', direction: 'inbound', duration: 60, ...fields })).id as string;
const onCall: MakeSample = async (account) => ({ params: { id: await aCall(account) } });

const aCaller = async (account: Account) => (await account.contact({ email: 'caller@example.com' })).id as string;

const graph = {
  entryId: 'in',
  nodes: [
    { id: 'in', kind: 'entry', next: 'bye' },
    { id: 'bye', kind: 'hangup', message: 'Nobody is here' },
  ],
};

const aFlow = async (account: Account, n: number, fields: Record<string, unknown> = {}) =>
  dataOf(await account.owner.post('/call-flows', { name: `Flow ${n}`, ...fields }));
const onFlow: MakeSample = async (account, n) => ({ params: { id: (await aFlow(account, n)).id } });

const aPublished = async (account: Account, n: number) => {
  const { id, updatedAt } = await aFlow(account, n, { phoneNumber: await freeNumber(account) });
  return dataOf(await account.owner.post(`/call-flows/${id}/publish`, { expectedUpdatedAt: updatedAt })) as {
    id: string;
    phoneNumber: string;
  };
};
const onPublished: MakeSample = async (account, n) => ({ params: { id: (await aPublished(account, n)).id } });

/** A number that a flow has left while the vendor did not answer. */
async function aTombstone(account: Account, n: number): Promise<string> {
  const { id, phoneNumber } = await aPublished(account, n);
  const { simulator } = account.seed.app.vendors.sms as SimulatedSms;
  simulator.numbers.fail(1);
  dataOf(await account.owner.post(`/call-flows/${id}/unpublish`));
  return phoneNumber;
}

/** Samples of calls and call flows. */
export const callSamples: Record<string, MakeSample> = {
  'GET /calls': async (account) => {
    const contactId = await aCaller(account);
    await aCall(account, { contactId });
    return { query: `contact_id=${contactId}&user_id=${account.ownerId}&direction=inbound&status=completed&date_from=2000-01-01` };
  },
  'POST /calls': async (account, n) => ({
    body: {
      ...{ contactId: await aCaller(account), direction: 'outbound', status: 'no_answer', duration: n, notes: 'Nobody there' },
      ...{ disposition: 'retry', source: 'dialer', fromNumber: '+14155550100', toNumber: '+14155550199' },
    },
  }),
  'GET /calls/{id}': onCall,
  'PATCH /calls/{id}': async (account, n) => ({
    ...(await onCall(account, n)),
    body: { notes: 'Called back', duration: 90, status: 'voicemail', contactId: await aCaller(account) },
  }),

  'GET /call-flows': async (account, n) => {
    await aFlow(account, n);
    return { query: 'is_published=false' };
  },
  'POST /call-flows': async (account, n) => ({
    body: { name: `Made ${n}`, phoneNumber: await freeNumber(account), draftGraph: graph },
  }),
  'GET /call-flows/roster': () => ({ query: 'presence=off' }),
  'GET /call-flows/numbers': async (account) => ({ params: await aNumber(account).then(() => ({})) }),
  'PUT /call-flows/presence': (_account, n) => ({ body: { presence: n % 2 ? 'on' : 'off', phone: '+14155550177' } }),
  'POST /call-flows/tombstones/release': async (account, n) => ({ body: { phoneNumber: await aTombstone(account, n) } }),
  'GET /call-flows/{id}': onFlow,
  'PATCH /call-flows/{id}': async (account, n) => ({
    ...(await onFlow(account, n)),
    body: { name: `Changed ${n}`, phoneNumber: await freeNumber(account), draftGraph: graph, expectedDraftRevision: 1 },
  }),
  'GET /call-flows/{id}/validate': onFlow,
  'POST /call-flows/{id}/publish': async (account, n) => {
    const { id, updatedAt } = await aFlow(account, n, { phoneNumber: await freeNumber(account), draftGraph: graph });
    return { params: { id }, body: { expectedUpdatedAt: updatedAt } };
  },
  'POST /call-flows/{id}/unpublish': onPublished,
  'POST /call-flows/{id}/simulate': async (account, n) => ({
    ...(await onFlow(account, n)),
    body: { digits: ['1'], at: '2030-01-01T10:00:00Z' },
  }),
  'GET /call-flows/{id}/wiring': onPublished,
  'POST /call-flows/{id}/wiring': onPublished,
};
