import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectRefusal, type Loose, least, processorTime, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

it('thousands of choices that are none cost what one does', async () => {
  const choices = Array.from({ length: 300 }, (_, n) => `${n}`.padEnd(190, '_'));
  const field = { entityType: 'contact', fieldKey: 'sizes', label: 'Sizes', fieldType: 'multiselect', options: { choices } };
  dataOf(await acme.owner.post('/custom-fields', field));
  const sizes = Array.from({ length: 12_000 }, (_, n) => n);
  const send = async () => {
    const reply = await acme.owner.post('/contacts', { firstName: 'Ada', customFields: { sizes } });
    expectRefusal(reply, 400, 'customFields.sizes');
    expect(reply.body.error).toContain(`must be one of ${choices.join(', ')}`);
  };
  await send();
  expect(await least(3, () => processorTime(send))).toBeLessThan(100);
});

it('a date-time of sixty thousand Ts costs what any other wrong one does', async () => {
  dataOf(await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey: 'when', label: 'When', fieldType: 'datetime' }));
  const send = (when: string) => async () => {
    const reply = await acme.owner.post('/contacts', { firstName: 'Ada', customFields: { when: `${when}x` } });
    expectRefusal(reply, 400, 'customFields.when');
  };
  await send('T')();
  const spent = (letter: string) => least(3, () => processorTime(send(letter.repeat(60_000))));
  const usual = await spent('x');
  for (const letter of ['T', ' ']) expect(await spent(letter)).toBeLessThan(usual * 5 + 100);
});

describe('a text whose marks stand apart, as on a Mac', () => {
  const [choice, apart] = ['Grün', 'Grün'.normalize('NFD')];
  const define = async (fieldKey: string, fieldType: string, choices: unknown[]) =>
    dataOf(await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey, label: fieldKey, fieldType, options: { choices } }));
  const found = async (query: string) => dataOf(await acme.owner.get(`/contacts?${query}`)).data.map(({ id }: Loose) => id);
  const byFilters = (field: string, value: string) => found(`filters=${encodeURIComponent(JSON.stringify({ field, value }))}`);

  it('is the choice that looks the same, and the same choice twice', async () => {
    const { options } = await define('colour', 'select', [apart, { value: 'Rot', label: apart }]);
    expect(options).toEqual({ choices: [choice, { value: 'Rot', label: choice }] });
    await define('shades', 'multiselect', [choice]);
    const { customFields } = await acme.contact({ firstName: 'Ada', customFields: { colour: apart, shades: [apart] } });
    expect(customFields).toEqual({ colour: choice, shades: [choice] });
    const twice = { firstName: 'Ada', customFields: { shades: [choice, apart] } };
    expectRefusal(await acme.owner.post('/contacts', twice), 400, 'customFields.shades');
  });

  it('stays as it is where it was kept so before, and is found as it is', async () => {
    const { prisma } = api.app.database;
    await define('tone', 'select', [choice]);
    await prisma.customField.updateMany({ where: { fieldKey: 'tone' }, data: { options: { choices: [apart] } } });
    const { id, customFields } = await acme.contact({ firstName: 'Ada', customFields: { tone: choice } });
    expect(customFields).toEqual({ tone: apart });
    expect(await byFilters('customFields.tone', apart)).toEqual([id]);
    await prisma.contact.updateMany({ where: { id }, data: { customFields: { tone: apart, city: apart } } });
    expect(await found(`cf[city]=${encodeURIComponent(apart)}`)).toEqual([id]);
    for (const op of ['contains', 'starts_with', 'ends_with']) {
      const part = { field: 'customFields.city', op, value: apart };
      expect([op, await found(`filters=${encodeURIComponent(JSON.stringify(part))}`)]).toEqual([op, [id]]);
    }
    const before = dataOf(await acme.owner.get(`/contacts/${id}`));
    dataOf(await acme.owner.patch(`/contacts/${id}`, { customFields: { city: apart } }));
    expect(dataOf(await acme.owner.get(`/contacts/${id}`))).toEqual(before);
    expect(dataOf(await acme.owner.patch(`/contacts/${id}`, { customFields: { city: choice } })).customFields.city).toBe(choice);
  });
});

describe('the domain of a URL or of an e-mail address', () => {
  const unicode = { url: 'https://shop.Müller.de/a', email: 'a@Shop.müller.de' };
  const punycode = { url: 'https://shop.xn--mller-kva.de./a', email: 'a@shop.XN--MLLER-KVA.de' };
  const define = async (fieldKey: string, fieldType: string, options: object) =>
    dataOf(await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey, label: fieldKey, fieldType, options }));
  let n = 0;
  const create = (fieldKey: string, value: string) =>
    acme.owner.post('/contacts', { firstName: 'Ada', customFields: { [fieldKey]: value } });

  it.each(['müller.de', 'MÜLLER.de', 'xn--mller-kva.de'])(
    'is %s in letters and in Punycode, with the dot of the root too',
    async (domain) => {
      for (const type of ['url', 'email'] as const) {
        const [allowed, blocked] = [`${type}_of_${++n}`, `${type}_but_${n}`];
        await define(allowed, type, { allowedDomains: [domain] });
        await define(blocked, type, { blockedDomains: [domain] });
        for (const value of [unicode[type], punycode[type]]) {
          expect(dataOf(await create(allowed, value)).customFields).toEqual({ [allowed]: value });
          expectRefusal(await create(blocked, value), 400, `customFields.${blocked}`);
        }
      }
    },
  );

  it('is not another for the dot at its end', async () => {
    await define('site', 'url', { blockedDomains: ['bad.example'] });
    for (const url of ['https://bad.example.', 'https://x.BAD.example./a'])
      expectRefusal(await create('site', url), 400, 'customFields.site');
  });

  it('may have letters with marks, and is told as it was defined', async () => {
    await define('mail', 'email', { allowedDomains: ['उदाहरण.भारत'] });
    expect(dataOf(await create('mail', 'संपर्क@उदाहरण.भारत')).customFields).toEqual({ mail: 'संपर्क@उदाहरण.भारत' });
    const reply = await create('mail', 'a@example.com');
    expectRefusal(reply, 400, 'customFields.mail');
    expect(reply.body.error).toContain('must be of उदाहरण.भारत');
  });
});

it('a URL is taken in a custom field as in any other: with blanks or line breaks within it is none', async () => {
  dataOf(await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey: 'link', label: 'Link', fieldType: 'url' }));
  const create = (link: string) => acme.owner.post('/contacts', { firstName: 'Ada', customFields: { link } });
  for (const link of ['https://example.com/a b', 'https://exam\nple.com', 'ht\ttps://example.com'])
    expectRefusal(await create(link), 400, 'customFields.link');
  for (const link of ['https://example.com/dänke', ' https://example.com '])
    expect(dataOf(await create(link)).customFields).toEqual({ link });
});
