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
const kept = async (id: string, account = acme): Promise<Loose[]> => dataOf(await account.owner.get(`/forms/${id}/submissions`)).data;

let n = 0;
const fresh = () => `visitor${++n}@example.com`;

const wrong: [string, unknown, string][] = [
  ['email', undefined, 'Your e-mail is required'],
  ['email', '  ', 'Your e-mail is required'],
  ['email', null, 'Your e-mail is required'],
  ['email', 'nobody', 'Your e-mail must be an e-mail address'],
  ['email', 'a@example.com\r\nBcc: b@example.com', 'Your e-mail must be an e-mail address'],
  ['email', ['a@example.com'], 'Your e-mail must be text'],
  ['name', { a: 1 }, 'Your name must be text'],
  ['name', true, 'Your name must be text'],
  ['name', 'Ada\r\nBcc: b@example.com', 'Your name must be one line'],
  ['name', 'x'.repeat(1001), 'Your name must be at most 1000 characters'],
  ['name', `${'x'.repeat(101)} y`, 'Your name must be at most 100 characters'],
  ['name', 'a\0b', 'Your name must be valid Unicode text without NUL'],
  ['job_title', 'x'.repeat(151), 'Job must be at most 150 characters'],
  ['phone', 'call me', 'Your phone must be a phone number, best in E.164 form (+15551234567)'],
  ['size', 'huge', 'Company size must be one of small, large'],
  ['seats', 'many', 'Seats must be a number'],
  ['seats', '1e400', 'Seats must be a number'],
  ['seats', '.', 'Seats must be a number'],
  ['seats', 'Infinity', 'Seats must be a number'],
  ['seats', [1], 'Seats must be a number'],
  ['question', 'x'.repeat(10_001), 'Question must be at most 10000 characters'],
];

describe('what is filled in', () => {
  it('is checked by the type of its field: 400 with its label and its key', async () => {
    const { id } = await aForm();
    await expectNothingWritten(api, async () => {
      for (const [key, value, message] of wrong) {
        const reply = await submit(id, { data: { email: 'good@example.com', [key]: value } });
        if (key === 'name' && value === 'a\0b') expectRefusal(reply, 400);
        else {
          expectRefusal(reply, 400, `data.${key}`);
          expect(reply.body.error).toBe(message);
        }
      }
      const many = await submit(id, { data: { seats: 'x', size: 'y' } });
      expect(many.body.details.map((detail: Loose) => detail.field)).toEqual(['data.email', 'data.size', 'data.seats']);
    });
  });

  it('is a number as inputs of browsers send it, and none where it is blank', async () => {
    const { id } = await aForm();
    for (const seats of ['.5', '1e3', ' 2 ', '-1.5E-1', '5.', '+7', 8, '   ', '']) await submitted(id, { data: { email: fresh(), seats } });
    const numbers = (await kept(id)).map(({ data }) => data.seats);
    expect(numbers.reverse()).toEqual([0.5, 1000, 2, -0.15, 5, 7, 8, undefined, undefined]);
  });

  it('is an object of at most 64 KB, whatever else the body is', async () => {
    const { id } = await aForm();
    const data = { email: 'good@example.com' };
    const keys = (many: number) => Object.fromEntries(Array.from({ length: many }, (_, i) => [`key${i}`, 'x']));
    await expectNothingWritten(api, async () => {
      for (const body of [{}, { data: null }, { data: [] }, { data: 'x' }]) expectRefusal(await submit(id, body), 400, 'data');
      expectRefusal(await submit(id, { data: { ...data, ...keys(10_000) } }), 413);
      expectRefusal(await submit(id, { data: { ...data, name: 'x'.repeat(65 * 1024) } }), 413, 'data');
      expectRefusal(await submit(id, { data, note: 'x'.repeat(129 * 1024) }), 413, 'body');
      expectRefusal(await submit(id, { data, utm: { source: 5 } }), 400, 'utm.source');
      expectRefusal(await submit(id, { data, utm: { campaign: 'x'.repeat(501) } }), 400, 'utm.campaign');
      expectRefusal(await submit(id, { data, attribution: { utm_source: 'x'.repeat(501) } }), 400, 'attribution.utm_source');
      expectRefusal(await submit(id, { data, source: 'x'.repeat(101) }), 400, 'source');
      const polluted = '{"data":{"email":"good@example.com","__proto__":{"admin":true}}}';
      const headers = { 'content-type': 'application/json', 'content-length': String(polluted.length) };
      expectRefusal(await api.anybody().raw({ method: 'POST', path: `/api/v1/forms/${id}/submit`, headers, payload: polluted }), 400);
    });
    const { contactId } = await submitted(id, { data: { ...data, ...keys(1000), constructor: 'x', toString: 'y' } });
    expect(await kept(id)).toMatchObject([{ contactId, data }]);
    expect(Object.keys((await kept(id))[0].data)).toEqual(['email']);
  });
});

describe('consent', () => {
  const text = 'I agree that you write to me.';

  it('that is required is missing: 400; given, it is kept with its wording, the time and the address', async () => {
    const { id } = await aForm({ settings: { consent: { required: true, text } } });
    const data = { email: fresh() };
    await expectNothingWritten(api, async () => {
      for (const consent of [undefined, null, false, {}, { email: false }, 'true', 1])
        expectRefusal(await submit(id, { data, consent }), 400, 'consent');
    });
    await submitted(id, { data, consent: true });
    await submitted(id, { data, consent: { email: true, sms: false } });
    const now = api.clock.now().toISOString().slice(0, 10);
    const given = { given: true, text, at: expect.stringContaining(now), ip: '127.0.0.1' };
    expect((await kept(id)).map(({ consent }) => consent)).toEqual([{ ...given, answer: { email: true, sms: false } }, given]);
  });

  it('may be left out where it is not required, and is the wording of then', async () => {
    const { id } = await aForm({ settings: { consent: { required: false, text } } });
    await submitted(id, { data: { email: fresh() } });
    await submitted(id, { data: { email: fresh() }, consent: true });
    dataOf(await acme.owner.patch(`/forms/${id}`, { settings: { consent: { text: 'Another' } } }));
    expect((await kept(id)).map(({ consent }) => consent?.text ?? null)).toEqual([text, null]);
  });
});
