import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aFlow, bye, entry, graph, publish, simulatorOf } from '../support/callFlows.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
let ours: string;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  ours = `${api.app.config.publicUrl}/webhooks/twilio/sms`;
});
afterAll(() => api.close());

const elsewhere = 'https://desk.example.com/sms';
const demo = 'https://demo.twilio.com/welcome/sms/reply';

/** A number that nobody has claimed, and that is routed so at the vendor. */
async function routed(texts: object = {}) {
  const number = simulatorOf(api).numbers.find(await freeNumber(acme))!;
  return Object.assign(number, { sms_url: '', sms_method: 'POST', sms_application_sid: '' }, texts);
}
const claim = async ({ phone_number: number }: { phone_number: string }): Promise<Loose> =>
  dataOf(await acme.owner.post('/settings/numbers', { number }));

describe('the texts to a number that is claimed', () => {
  it.each([
    ['has no address', {}],
    ['has that of the demo', { sms_url: demo }],
    ['asks the service by another method', { sms_method: 'GET', ours: true }],
  ])('come to the service where it %s, and both doors say so', async (_what, { ours: isOurs, ...texts }: Loose) => {
    const number = await routed({ ...texts, ...(isOurs && { sms_url: ours }) });
    const { id, textsCome } = await claim(number);
    expect([textsCome, number.sms_url, number.sms_method]).toEqual([true, ours, 'POST']);
    const listed: Loose[] = dataOf(await acme.owner.get('/settings/numbers?per_page=200')).data;
    expect(listed.find((one) => one.id === id)).toMatchObject({ textsCome: true });
    const { data } = await acme.owner.gql('{ phoneNumbers(first: 200) { nodes { id textsCome } } }');
    expect((data as Loose).phoneNumbers.nodes).toContainEqual({ id, textsCome: true });
  });

  it.each([
    ['an address', { sms_url: elsewhere }],
    ['an application', { sms_application_sid: 'AP00000000000000000000000000000001' }],
  ])('go on to another system where it has %s of that', async (_what, texts) => {
    const number = await routed(texts);
    expect(await claim(number)).toMatchObject({ textsCome: false });
    expect(number).toMatchObject({ sms_url: '', sms_application_sid: '', ...texts });
  });

  it('keep nobody from claiming it where the vendor does not take that', async () => {
    const number = await routed();
    const { sms } = api.app.vendors;
    Object.assign(sms, { routeTexts: () => Promise.reject(new Error('Told to by the test')) });
    const claimed = await claim(number);
    Reflect.deleteProperty(sms, 'routeTexts');
    expect([claimed.number, claimed.textsCome, number.sms_url]).toEqual([number.phone_number, false, '']);
  });

  it('are none where it takes calls alone', async () => {
    const number = await routed();
    number.capabilities.sms = false;
    expect(await claim(number)).toMatchObject({ hasSms: false, textsCome: null });
    expect(number.sms_url).toBe('');
    number.capabilities.sms = true;
  });
});

describe('the texts to a number that is claimed with a call flow', () => {
  it('come to the service once its flow is published, and not where that is refused', async () => {
    const number = await routed({ sms_url: demo });
    const { phone_number: phoneNumber } = number;
    const faulty = await aFlow(acme, { phoneNumber, draftGraph: graph(entry(null)) });
    expectRefusal(await publish(acme, faulty), 422);
    expect(number.sms_url).toBe(demo);
    const change = { draftGraph: graph(entry('bye'), bye), expectedDraftRevision: faulty.draftRevision };
    const mended = dataOf(await acme.owner.patch(`/call-flows/${faulty.id}`, change));
    expect(dataOf(await publish(acme, mended)).wiring.wired).toBe(true);
    expect(number.sms_url).toBe(ours);
    const listed: Loose[] = dataOf(await acme.owner.get('/settings/numbers?per_page=200')).data;
    expect(listed.find((one) => one.number === phoneNumber)).toMatchObject({ textsCome: true });
  });
});

describe('a number that somebody has claimed already', () => {
  it('is routed as it was by whoever tries', async () => {
    const number = await routed();
    await claim(number);
    number.sms_url = demo;
    const other = await api.seed.account();
    expectRefusal(await other.owner.post('/settings/numbers', { number: number.phone_number }), 409, 'number');
    expect(number.sms_url).toBe(demo);
  });
});
