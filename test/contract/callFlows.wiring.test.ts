import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aFlow, placeCall, publish, simulatorOf } from '../support/callFlows.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const pbx = 'https://pbx.example.com/voice';
/** As a number is routed that was wired while the service had another address. */
const atOldAddress = {
  voice_url: 'https://old.example.com/webhooks/twilio/voice',
  status_callback: 'https://old.example.com/webhooks/twilio/voice/status',
};
const routed = (number: string) => simulatorOf(api).numbers.find(number)!;
const unpublish = async ({ id }: Loose) => dataOf(await acme.owner.post(`/call-flows/${id}/unpublish`));
const wire = async ({ id }: Loose) => dataOf(await acme.owner.post(`/call-flows/${id}/wiring`));

async function published(routing: object = { voice_url: pbx }): Promise<Loose> {
  const phoneNumber = await freeNumber(acme);
  Object.assign(routed(phoneNumber), routing);
  return dataOf(await publish(acme, await aFlow(acme, { phoneNumber })));
}

describe('a number after the address of the service has changed', () => {
  it('is given back to what handled it before, wired again or not', async () => {
    for (const again of [true, false]) {
      const flow = await published();
      const number = routed(flow.phoneNumber);
      Object.assign(number, atOldAddress);
      expect(dataOf(await acme.owner.get(`/call-flows/${flow.id}/wiring`)).wired).toBe(false);
      if (again) expect((await wire(flow)).wired).toBe(true);
      await unpublish(flow);
      expect(number.voice_url).toBe(pbx);
      expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber: flow.phoneNumber }), 404);
    }
  });

  it('is not given back to the old address', async () => {
    const flow = await published(atOldAddress);
    const { wiring, phoneNumber } = flow;
    await unpublish(flow);
    expect(routed(phoneNumber).voice_url).toBe(wiring.inboundUrl);
    expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber }), 409);
  });

  it('may be given up where all that is kept of it is the old address', async () => {
    const { id: flow, phoneNumber } = await published(atOldAddress);
    await unpublish({ id: flow });
    const { voice_url: voiceUrl, status_callback: statusCallback } = atOldAddress;
    const kept = { voiceUrl, voiceMethod: 'POST', voiceApplicationSid: '', statusCallback, statusCallbackMethod: 'POST' };
    await api.app.database.prisma.callFlowTombstone.updateMany({
      where: { accountId: acme.id, phoneNumber },
      data: { priorConfig: kept },
    });
    const { id } = await api.app.database.prisma.phoneNumber.findFirstOrThrow({ where: { accountId: acme.id, number: phoneNumber } });
    dataOf(await acme.owner.del(`/settings/numbers/${id}`));
    expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber }), 404);
  });
});

describe('a number that a flow has left and that could not be given back', () => {
  const again = async (flow: Loose) => dataOf(await publish(acme, dataOf(await acme.owner.get(`/call-flows/${flow.id}`))));

  it.each([
    ['is given back to what it was routed to meanwhile', { voice_url: 'https://new.example.com/voice' }, 'https://new.example.com/voice'],
    ['is given back to what handled it before, if it stayed with the service', {}, pbx],
  ])('%s, once a flow has left it again', async (_what, meanwhile, last) => {
    const flow = await published();
    const number = routed(flow.phoneNumber);
    simulatorOf(api).numbers.fail(1);
    await unpublish(flow);
    expect(number.voice_url).toBe(flow.wiring.inboundUrl);
    Object.assign(number, meanwhile);
    expect((await again(flow)).wiring.wired).toBe(true);
    await unpublish(flow);
    expect(number.voice_url).toBe(last);
    expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber: flow.phoneNumber }), 404);
  });
});

describe('a flow that is unpublished while the vendor is asked how its number is routed', () => {
  it('takes nothing of that along to another number', async () => {
    const flow = await aFlow(acme, { phoneNumber: await freeNumber(acme) });
    routed(flow.phoneNumber).voice_url = pbx;
    const { sms } = api.app.vendors;
    // Publishing asks before the flow is published, and again to wire it.
    let left = 2;
    const number = async (wanted: string) => {
      if (--left === 0) Reflect.deleteProperty(sms, 'number');
      const listed = await Object.getPrototypeOf(sms).number.call(sms, wanted);
      if (left === 0) await unpublish(flow);
      return listed;
    };
    Object.assign(sms, { number });
    expect(dataOf(await publish(acme, flow)).wiring.error).toBe('The flow was unpublished meanwhile');
    expect(routed(flow.phoneNumber).voice_url).toBe(pbx);
    const kept = () => api.app.database.prisma.callFlow.findFirstOrThrow({ where: { accountId: acme.id, id: flow.id } });
    expect((await kept()).priorConfig).toBeNull();

    const phoneNumber = await freeNumber(acme);
    routed(phoneNumber).voice_url = 'https://other.example.com/voice';
    const moved = dataOf(await acme.owner.patch(`/call-flows/${flow.id}`, { phoneNumber }));
    expect(dataOf(await publish(acme, moved)).wiring.wired).toBe(true);
    await unpublish(flow);
    expect(routed(phoneNumber).voice_url).toBe('https://other.example.com/voice');
  });
});

describe('a number whose calls something else takes, whatever its address', () => {
  const trunk = 'TK00000000000000000000000000000001';

  it.each([
    ['trunk_sid', trunk],
    ['voice_application_sid', 'AP00000000000000000000000000000001'],
  ] as const)('(%s) is taken from it, is called, and is given back', async (name, sid) => {
    const flow = await published({ voice_url: pbx, [name]: sid });
    const number = routed(flow.phoneNumber);
    expect([flow.wiring.wired, number[name]]).toEqual([true, '']);
    expect((await placeCall(api, flow.phoneNumber)).log.at(-1)).toEqual({ end: 'completed' });
    await unpublish(flow);
    expect([number[name], number.voice_url]).toEqual([sid, pbx]);
    expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber: flow.phoneNumber }), 404);
  });

  it('is not wired while it is on a trunk, and says so', async () => {
    const flow = await published();
    const number = routed(flow.phoneNumber);
    Object.assign(number, { trunk_sid: trunk });
    const { wired, error } = dataOf(await acme.owner.get(`/call-flows/${flow.id}/wiring`));
    expect([wired, error]).toEqual([false, 'The number is on a SIP trunk of the vendor, which takes its calls']);
    expect((await wire(flow)).wired).toBe(true);
    expect(number.trunk_sid).toBe('');
    await unpublish(flow);
    expect([number.trunk_sid, number.voice_url]).toEqual(['', pbx]);
  });

  it('is given back to a trunk that it was on when a release published its flow that knew of none', async () => {
    const flow = await published();
    await api.app.database.execute(`update call_flows set prior_config = prior_config - 'trunkSid' where id = '${flow.id}'`);
    const number = routed(flow.phoneNumber);
    Object.assign(number, { trunk_sid: trunk });
    expect((await wire(flow)).wired).toBe(true);
    expect(number.trunk_sid).toBe('');
    await unpublish(flow);
    expect([number.trunk_sid, number.voice_url]).toEqual([trunk, pbx]);
  });

  it('leads no call to that address until it is given back', async () => {
    const { id, phoneNumber } = await published({ voice_url: pbx, trunk_sid: trunk });
    simulatorOf(api).numbers.fail(1);
    await unpublish({ id });
    expect((await placeCall(api, phoneNumber)).log).toContainEqual({ say: 'Nobody answers calls to this number.' });
    dataOf(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber }));
    expect(routed(phoneNumber).trunk_sid).toBe(trunk);
  });
});

describe('POST /call-flows/{id}/wiring', () => {
  it('keeps what is known of before, whatever the vendor says since', async () => {
    const flow = await published();
    routed(flow.phoneNumber).voice_url = 'https://elsewhere.example.com/voice';
    expect((await wire(flow)).wired).toBe(true);
    await unpublish(flow);
    expect(routed(flow.phoneNumber).voice_url).toBe(pbx);
  });

  it('has the vendor ask by POST alone, and gives back what was before that', async () => {
    const flow = await published();
    const number = routed(flow.phoneNumber);
    Object.assign(number, { voice_method: 'GET' });
    const { wired, error } = dataOf(await acme.owner.get(`/call-flows/${flow.id}/wiring`));
    expect([wired, error]).toEqual([false, 'The vendor does not ask the service by POST']);
    const listed = dataOf(await acme.owner.get(`/call-flows/numbers?number=${encodeURIComponent(flow.phoneNumber)}`)).data;
    expect((listed as Loose[]).map((one) => one.wired)).toEqual([false]);
    expect((await wire(flow)).wired).toBe(true);
    expect(number.voice_method).toBe('POST');
    Object.assign(number, { status_callback_method: 'GET' });
    expect((await wire(flow)).wired).toBe(true);
    expect(number.status_callback_method).toBe('POST');
    Object.assign(number, { voice_method: 'GET' });
    await unpublish(flow);
    expect(number.voice_url).toBe(pbx);
  });

  it('takes no routing to the service by another method for one of before', async () => {
    const inboundUrl = `${api.app.config.publicUrl}/webhooks/twilio/voice`;
    const flow = await published({ voice_url: inboundUrl, voice_method: 'GET' });
    expect([flow.wiring.wired, routed(flow.phoneNumber).voice_method]).toEqual([true, 'POST']);
    await unpublish(flow);
    expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber: flow.phoneNumber }), 409);
  });

  it('tells the words of the vendor, and none of the database', async () => {
    const { prisma } = api.app.database;
    await prisma.$executeRawUnsafe(`create function unkept() returns trigger language plpgsql as
      $$ begin raise exception 'disk of %', new.name; end $$`);
    await prisma.$executeRawUnsafe(`create trigger unkept before update of prior_config on call_flows for each row
      when (new.name = 'Unkept' and new.prior_config is not null) execute function unkept()`);
    const phoneNumber = await freeNumber(acme);
    routed(phoneNumber).voice_url = pbx;
    const { wiring, id } = dataOf(await publish(acme, await aFlow(acme, { phoneNumber, name: 'Unkept' })));
    expect(wiring).toMatchObject({ wired: false, error: 'The service is temporarily unavailable' });
    const refused = await acme.owner.post(`/call-flows/${id}/wiring`);
    expectRefusal(refused, 502);
    expect(refused.text).not.toContain('disk');
    simulatorOf(api).numbers.fail(3);
    expect(dataOf(await acme.owner.get(`/call-flows/${id}/wiring`)).error).toContain('simulator');
    simulatorOf(api).numbers.fail(0);
    await prisma.$executeRawUnsafe('drop trigger unkept on call_flows');
    expect((await wire({ id })).wired).toBe(true);
  });
});

// Last, since the vendor has very many numbers from here on.
describe('GET /call-flows/numbers', () => {
  it('knows how every number is routed, however many the account of the vendor has', async () => {
    const many = Array.from({ length: 1030 }, (_, n) => `+1415666${String(n).padStart(4, '0')}`);
    simulatorOf(api).numbers.add(many);
    const [phoneNumber, ...others] = many.slice(-25) as [string, ...string[]];
    dataOf(await publish(acme, await aFlow(acme, { phoneNumber })));
    for (const number of others) dataOf(await acme.owner.post('/settings/numbers', { number }));
    const { data } = dataOf(await acme.owner.get('/call-flows/numbers?per_page=200'));
    const wired = (data as Loose[]).filter((one) => many.includes(one.number) && one.wired);
    expect(wired.map(({ number }) => number)).toEqual([phoneNumber]);
  });
});
