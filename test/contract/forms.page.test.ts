import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  type Loose,
  type Reply,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const hostile = `"><script>alert(1)</script>' onx='&amp;`;
const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39; onx=&#39;&amp;amp;';
const fields = [
  { key: 'name', label: 'Your name' },
  { key: 'email', label: 'E-mail', type: 'email', required: true },
  { key: 'tel', label: 'Phone', type: 'phone' },
  { key: 'size', label: 'Size', type: 'select', options: ['small', hostile] },
  { key: 'seats', label: 'Seats', type: 'number' },
  { key: 'question', label: 'Question', type: 'textarea' },
];
const aForm = async (more: object = {}): Promise<Loose> => dataOf(await acme.owner.post('/forms', { name: 'Ask us', fields, ...more }));
const show = (id: string, query = '') => api.anybody().raw({ path: `/f/${id}${query}` });
const urlencoded = 'application/x-www-form-urlencoded';
const send = (id: string, said: Record<string, string>, type = urlencoded) =>
  api.anybody().raw({ method: 'POST', path: `/f/${id}`, headers: { 'content-type': type }, payload: new URLSearchParams(said).toString() });
const kept = async (id: string): Promise<Loose[]> => dataOf(await acme.owner.get(`/forms/${id}/submissions`)).data;

/** The names of the inputs of a page, as a browser would send them. */
const inputsOf = ({ text }: Reply) => [...text.matchAll(/<(?:input|select|textarea)[^>]* ?name="([^"]*)"/g)].map(([, name]) => name);

function expectPage(reply: Reply, status: number, targets = "'self'") {
  expect(reply.status).toBe(status);
  expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
  const policy = reply.headers['content-security-policy'] as string;
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; frame-ancestors 'none'; form-action /);
  expect(policy.endsWith(`form-action ${targets}`)).toBe(true);
  // Quotes of texts are escaped, so that what stands between two of them is the value of an attribute.
  expect(reply.text.replace(/"[^"]*"/g, '""')).not.toMatch(/<script|<[^>]+\s(on\w+|src|href)=/i);
}

describe('GET /f/{id}', () => {
  it('shows the form as plain HTML that needs no script', async () => {
    const { id } = await aForm({ description: 'We answer today', settings: { consent: { required: true, text: 'I agree' } } });
    const reply = await show(id);
    expectPage(reply, 200);
    expect(inputsOf(reply)).toEqual([
      ...['data.name', 'data.email', 'data.tel', 'data.size', 'data.seats', 'data.question', 'consent', '_hp_field', '_asked'],
    ]);
    expect(reply.text).toContain('<h1>Ask us</h1>');
    expect(reply.text).toContain('<form method="post">');
    expect(reply.text).toContain('<input name="data.email" type="email" value="" autocomplete="email" required>');
    expect(reply.text).toContain('type="tel"');
    expect(reply.text).toContain('<input name="data.name" type="text" value="" autocomplete="name">');
    expect(reply.text).toMatch(/<input type="checkbox" name="consent" value="true" required> I agree/);
    expect(reply.text).toMatch(/<div hidden>.*_hp_field.*<\/div>/s);
  });

  it('escapes what the workspace and the visitor wrote, wherever it stands', async () => {
    const { id } = await aForm({
      ...{ name: hostile, description: hostile, settings: { consent: { text: hostile } } },
      fields: [...fields, { key: hostile, label: hostile, type: 'textarea' }],
    });
    const reply = await show(id, `?utm_source=${encodeURIComponent(hostile)}`);
    expectPage(reply, 200);
    expect(reply.text.split(escaped).length - 1).toBe(8);
    const again = await send(id, { 'data.name': hostile, [`data.${hostile}`]: `</textarea>${hostile}` });
    expectPage(again, 400);
    expect(again.text).toContain(`value="${escaped}"`);
    expect(again.text).toContain(`&lt;/textarea&gt;${escaped}</textarea>`);
  });

  it('is 404, as a page, for a form that cannot be submitted', async () => {
    const { id } = await aForm({ isActive: false });
    for (const address of [id, crypto.randomUUID(), 'nothing']) {
      expectPage(await show(address), 404);
      expectPage(await send(address, {}), 404);
    }
  });
});

describe('POST /f/{id}', () => {
  const said = { 'data.name': 'Ada Lovelace', 'data.email': 'page@example.com', 'data.size': 'small', 'data.seats': '3', _hp_field: '' };

  it('makes a contact, and thanks', async () => {
    const { id } = await aForm({ thankYouMessage: `Thanks ${hostile}`, settings: { consent: { text: 'I agree' } } });
    const reply = await send(id, { ...said, 'data.question': 'How\r\nmuch?', consent: 'true', utm_source: 'ads', other: 'x' });
    expectPage(reply, 200);
    expect(reply.text).toContain(`Thanks ${escaped}`);
    const [submission] = await kept(id);
    expect(submission).toMatchObject({
      data: { name: 'Ada Lovelace', email: 'page@example.com', size: 'small', seats: 3, question: 'How\nmuch?' },
      ...{ utm: { utm_source: 'ads' }, consent: { given: true, text: 'I agree' } },
    });
    expect(dataOf(await acme.owner.get(`/contacts/${submission.contactId}`))).toMatchObject({
      ...{ firstName: 'Ada', lastName: 'Lovelace', attribution: { utm_source: 'ads' } },
    });
  });

  it('takes an option as it is, however many blanks are between its words', async () => {
    const option = 'Gold  plan';
    const { id } = await aForm({ fields: [...fields, { key: 'plan', type: 'select', options: ['Silver plan', option], required: true }] });
    const { text } = await show(id);
    expect(text).toContain(`<option value="${option}">${option}</option>`);
    expect(text).toContain('<option>Silver plan</option>');
    expectPage(await send(id, { ...said, 'data.plan': option }), 200);
    expect(await kept(id)).toMatchObject([{ data: { plan: option } }]);
  });

  it('sends the browser on where the form says so, and lets it go there', async () => {
    const { id } = await aForm({ redirectUrl: 'https://example.com:8443/dänke?a=1' });
    expectPage(await show(id), 200, "'self' https://example.com:8443");
    const reply = await send(id, said);
    expect(reply.status).toBe(303);
    expect(reply.headers.location).toBe('https://example.com:8443/d%C3%A4nke?a=1');
  });

  it('shows the form again with what is wrong, as it was filled in, and keeps nothing', async () => {
    const { id } = await aForm({ settings: { consent: { required: true, text: 'I agree' } } });
    await expectNothingWritten(api, async () => {
      const reply = await send(id, { ...said, 'data.email': 'nobody', 'data.question': 'Why?', consent: 'true' });
      expectPage(reply, 400);
      expect(reply.text).toContain('role="alert">E-mail must be an e-mail address</p>');
      expect(reply.text).toContain('value="Ada Lovelace"');
      expect(reply.text).toContain('<option selected>small</option>');
      expect(reply.text).toContain('Why?</textarea>');
      expect(reply.text).toContain('value="true" checked required');
      expectPage(await send(id, said), 400);
      expectPage(await send(id, { ...said, _hp_field: 'x', consent: 'true' }), 200);
    });
  });

  it('takes nothing but what a form sends', async () => {
    const { id } = await aForm();
    await expectNothingWritten(api, async () => {
      expectPage(await send(id, said, 'application/json'), 400);
      expectPage(await send(id, { 'data.question': 'x'.repeat(129 * 1024) }), 413);
      expectPage(await send(id, Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, '']))), 400);
      expectPage(await send(id, { ...said, 'data.name': 'a\0b' }), 400);
      expectPage(await send(id, { ...said, utm_source: 'x'.repeat(501) }), 400);
    });
  });
});

describe('the fields of a form', () => {
  it('tell a browser which of them it may fill in: those that go into the contact', async () => {
    const { id } = await aForm({
      fields: [
        ...[{ key: 'first_name' }, { key: 'Last name' }, { key: 'email' }, { key: 'tel', type: 'phone' }, { key: 'company' }],
        ...[{ key: 'Job title' }, { key: 'addressLine1' }, { key: 'addressLine2' }, { key: 'city' }, { key: 'zip' }],
        ...[
          { key: 'state', type: 'select', options: ['Bremen', 'Hamburg'] },
          { key: 'question', type: 'textarea' },
        ],
      ],
    });
    const inputs = (await show(id)).text.matchAll(/name="data\.([^"]*)"[^>]*? autocomplete="([^"]*)"/g);
    expect(Object.fromEntries([...inputs].map(([, key, purpose]) => [key, purpose]))).toEqual({
      ...{ first_name: 'given-name', 'Last name': 'family-name', email: 'email', tel: 'tel', company: 'organization' },
      ...{ 'Job title': 'organization-title', addressLine1: 'address-line1', addressLine2: 'address-line2' },
      ...{ city: 'address-level2', zip: 'postal-code', state: 'address-level1' },
    });
    const asNumber = await aForm({ fields: [{ key: 'zip', type: 'number' }] });
    expect((await show(asNumber.id)).text).toContain('<input name="data.zip" type="number" step="any" value="">');
  });
});

describe('a form that is sent too often', () => {
  it('says that loading its page again sends it once more', async () => {
    const strict = await server({ limits: { form: 1 } });
    const { owner } = await strict.seed.account();
    const { id } = dataOf(await owner.post('/forms', { name: 'Ask us', fields }));
    const headers = { 'content-type': urlencoded };
    const payload = new URLSearchParams({ 'data.email': 'often@example.com' }).toString();
    const post = () => strict.anybody().raw({ method: 'POST', path: `/f/${id}`, headers, payload });
    expectPage(await post(), 200);
    const refused = await post();
    expectPage(refused, 429);
    expect(refused.text).toContain('<p>Load this page again to send it once more.</p>');
    await strict.close();
  });
});

describe('a page that is sent twice', () => {
  const said = { 'data.name': 'Ada Lovelace', 'data.email': 'double@example.com', _hp_field: '' };
  const pageIn = ({ text }: Reply) => /<button name="_once" value="([^"]+)">Send</.exec(text)![1]!;
  const filledIn = async (id: string): Promise<Record<string, string>> => ({ ...said, _once: pageIn(await show(id)) });

  it('by a double click, and where its thanks are loaded again, is one submission, and thanks each time', async () => {
    const { id } = await aForm({ thankYouMessage: 'We call you' });
    const filled = await filledIn(id);
    const told = await toldIn(acme, async () => {
      const clicked = await Promise.all([send(id, filled), send(id, filled)]);
      for (const reply of [...clicked, await send(id, filled)]) {
        expectPage(reply, 200);
        expect(reply.text).toContain('We call you');
      }
    });
    expect(await kept(id)).toHaveLength(1);
    const names = told.rows.map(({ name }) => name).filter((name) => /^(contact|submission)\.|^form\.submitted$/.test(name));
    expect(names.sort()).toEqual(['contact.created', 'form.submitted', 'submission.created']);
  });

  it('goes on twice where the form sends it on', async () => {
    const { id } = await aForm({ redirectUrl: 'https://example.com/thanks' });
    const filled = await filledIn(id);
    const replies = [await send(id, filled), await send(id, filled)];
    expect(replies.map(({ status, headers }) => [status, headers.location])).toEqual(Array(2).fill([303, 'https://example.com/thanks']));
    expect(await kept(id)).toHaveLength(1);
  });

  it('is two submissions with other words, as another page, without its name, and as a copy that is older than a day', async () => {
    const { id } = await aForm();
    const filled = await filledIn(id);
    const old = `${api.clock.now().getTime() - day}.copy`;
    const others = [
      { 'data.name': 'Bob' },
      { _once: pageIn(await show(id)) },
      { _once: '' },
      { _once: '' },
      { _once: old },
      { _once: old },
    ];
    for (const other of [{}, ...others]) expectPage(await send(id, { ...filled, ...other }), 200);
    expect(await kept(id)).toHaveLength(7);
  });

  it('is kept once it is put right, of a page that was refused', async () => {
    const { id } = await aForm();
    const refused = await send(id, { ...(await filledIn(id)), 'data.email': 'nobody' });
    expectPage(refused, 400);
    for (let n = 0; n < 2; n++) expectPage(await send(id, { ...said, _once: pageIn(refused) }), 200);
    expect(await kept(id)).toHaveLength(1);
  });
});
