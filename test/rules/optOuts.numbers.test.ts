import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import twilio from 'twilio';
import { v4 } from 'uuid';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { type Account, dataOf, expectNothingWritten, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let other: Account;
beforeAll(async () => {
  api = await server();
  [acme, other] = [await api.seed.account(), await api.seed.account()];
});
afterAll(() => api.close());

let people = 0;
const nextNumber = () => `+1415333${String(++people).padStart(4, '0')}`;

/** A text from one number to another, as the vendor brings it, and what it took it for, if anything. */
async function text(From: string, To: string, Body: string, OptOutType?: string): Promise<void> {
  const { authToken } = await (api.app.vendors.sms as SimulatedSms).simulator.config();
  const [path, form] = ['/webhooks/twilio/sms', { From, To, Body, MessageSid: `SM${v4()}`, ...(OptOutType && { OptOutType }) }];
  const signature = twilio.getExpectedTwilioSignature(authToken, `${api.app.config.publicUrl}${path}`, form);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
  expect((await api.anybody().raw({ method: 'POST', path, headers, payload: new URLSearchParams(form).toString() })).status).toBe(200);
}

const written = (by: Account, contactId: string) => by.owner.post('/messages/sms/send', { contactId, body: 'Hello' });

/** Somebody of an account with a number, whom it has written to, and from where. */
async function reader(by: Account, phone: string): Promise<{ id: string; from: string }> {
  const { id } = await by.contact({ phone });
  return { id, from: dataOf(await written(by, id)).fromNumber };
}

const isOut = async (by: Account, { id }: { id: string }): Promise<boolean> => dataOf(await by.owner.get(`/contacts/${id}`)).optedOutSms;
const outcome = async (sent: Promise<Loose>) => {
  const { status, body } = await sent;
  return body.code ?? status;
};
const messages = async (by: Account, { id }: { id: string }) => dataOf(await by.owner.get(`/messages?contact_id=${id}`)).data;

/** Claims a number, other than the server's own. */
async function claimed(by: Account, number?: string): Promise<{ id: string; number: string }> {
  const free: Loose[] = number ? [] : dataOf(await by.owner.get('/settings/numbers/available'));
  const one = number ?? free.find((each) => each.number !== api.app.vendors.sms.from)!.number;
  return dataOf(await by.owner.post('/settings/numbers', { number: one }));
}

const suspend = (suspendedAt: Date | null) => api.app.database.prisma.account.update({ where: { id: acme.id }, data: { suspendedAt } });

describe('STOP to the server’s own number', () => {
  it('counts for every workspace that wrote from there, whatever number it writes from next', async () => {
    const phone = nextNumber();
    const [mine, theirs] = [await reader(acme, phone), await reader(other, phone)];
    expect([mine.from, theirs.from]).toEqual([api.app.vendors.sms.from, api.app.vendors.sms.from]);
    const third = await api.seed.account();
    const unwritten = await third.contact({ phone });
    await text(phone, mine.from, 'STOP');
    expect([await isOut(acme, mine), await isOut(other, theirs), await isOut(third, unwritten as { id: string })]).toEqual([
      true,
      true,
      false,
    ]);
    const number = await claimed(acme);
    expect(await outcome(written(acme, mine.id))).toBe('recipient_opted_out');
    expect(await outcome(written(acme, (await acme.contact({ phone })).id))).toBe('recipient_opted_out');
    dataOf(await acme.owner.del(`/settings/numbers/${number.id}`));
    expect(await messages(acme, mine)).toMatchObject([{ direction: 'outbound' }]);
  });

  it('is taken while a workspace is suspended', async () => {
    const phone = nextNumber();
    const [mine, theirs] = [await reader(acme, phone), await reader(other, phone)];
    await suspend(api.clock.now());
    await text(phone, mine.from, 'Stop.').finally(() => suspend(null));
    expect([await isOut(acme, mine), await isOut(other, theirs)]).toEqual([true, true]);
  });

  it('says nothing of numbers that nobody wrote to, or from', async () => {
    const phone = nextNumber();
    const { from } = await reader(acme, phone);
    await expectNothingWritten(api, async () => {
      await text(nextNumber(), from, 'STOP');
      await text(phone, nextNumber(), 'STOP');
    });
  });
});

describe('an opt-out at the server’s own number', () => {
  it('is kept of STOP and START alone: neither YES nor any other text is', async () => {
    const phone = nextNumber();
    const [mine, theirs] = [await reader(acme, phone), await reader(other, phone)];
    await text(phone, mine.from, 'STOP');
    await expectNothingWritten(api, async () => {
      for (const words of ['Yes', 'Hello', 'STOP']) await text(phone, mine.from, words);
    });
    expect([await isOut(acme, mine), await isOut(other, theirs)]).toEqual([true, true]);
  });

  it('ends with START', async () => {
    const phone = nextNumber();
    const [mine, theirs] = [await reader(acme, phone), await reader(other, phone)];
    await text(phone, mine.from, 'STOP');
    await text(phone, mine.from, 'START');
    expect([await isOut(acme, mine), await isOut(other, theirs)]).toEqual([false, false]);
    expect(await outcome(written(acme, mine.id))).toBe(201);
  });
});

describe('STOP to a number that was given back', () => {
  it('counts for the workspace that had it', async () => {
    const { id, number } = await claimed(acme);
    const mine = await reader(acme, nextNumber());
    expect(mine.from).toBe(number);
    dataOf(await acme.owner.del(`/settings/numbers/${id}`));
    const [{ toNumber: phone }] = await messages(acme, mine);
    await text(phone, number, 'STOP');
    expect(await isOut(acme, mine)).toBe(true);
  });

  it('counts for the one that has it now, too; START for that one alone', async () => {
    const phone = nextNumber();
    const { id, number } = await claimed(acme);
    const mine = await reader(acme, phone);
    dataOf(await acme.owner.del(`/settings/numbers/${id}`));
    const { id: again } = await claimed(other, number);
    const theirs = await reader(other, phone);
    expect([mine.from, theirs.from]).toEqual([number, number]);
    await text(phone, number, 'STOP');
    expect([await isOut(acme, mine), await isOut(other, theirs)]).toEqual([true, true]);
    await text(phone, number, 'START');
    expect([await isOut(acme, mine), await isOut(other, theirs)]).toEqual([true, false]);
    expect((await messages(other, theirs)).map(({ body }: Loose) => body).sort()).toEqual(['Hello', 'START', 'STOP']);
    expect(await messages(acme, mine)).toHaveLength(1);
    dataOf(await other.owner.del(`/settings/numbers/${again}`));
  });
});

describe('what the vendor took for STOP or START, whatever its words,', () => {
  it('counts at a number of the workspace, and stands in the thread', async () => {
    const { id, number } = await claimed(acme);
    const mine = await reader(acme, nextNumber());
    const [{ toNumber: phone }] = await messages(acme, mine);
    const outAfter = async (words: string, took?: string) => {
      await text(phone, number, words, took);
      return isOut(acme, mine);
    };
    expect(await outAfter('Baja')).toBe(false);
    expect(await outAfter('BAJA', 'STOP')).toBe(true);
    expect(await outAfter('AYUDA', 'HELP')).toBe(true);
    expect(await outAfter('ALTA', 'START')).toBe(false);
    expect((await messages(acme, mine)).map(({ body }: Loose) => body).sort()).toEqual(['ALTA', 'AYUDA', 'BAJA', 'Baja', 'Hello']);
    await suspend(api.clock.now());
    await text(phone, number, 'ARRET', 'STOP').finally(() => suspend(null));
    expect(await isOut(acme, mine)).toBe(true);
    dataOf(await acme.owner.del(`/settings/numbers/${id}`));
  });

  it('counts at the server’s own number for every workspace that wrote from there', async () => {
    const phone = nextNumber();
    const [mine, theirs] = [await reader(acme, phone), await reader(other, phone)];
    const outAfter = async (words: string, took?: string) => {
      await text(phone, mine.from, words, took);
      return [await isOut(acme, mine), await isOut(other, theirs)];
    };
    expect(await outAfter('ARRET')).toEqual([false, false]);
    expect(await outAfter('ARRET', 'STOP')).toEqual([true, true]);
    expect(await outAfter('Yes')).toEqual([true, true]);
    expect(await outAfter('Yes', 'START')).toEqual([false, false]);
  });
});
