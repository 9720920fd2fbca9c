import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone: 'America/New_York' } });
  const custom: Loose[] = [
    { tier: 'gold', seats: 3 },
    { tier: ['gold', 'new'], seats: [3, 4] },
    { tier: 'v7', seats: 7.5 },
    {},
    { tier: true },
  ];
  for (const [i, customFields] of custom.entries()) {
    const attribution = [{ utm_source: 'ads' }, { utm_source: 'mail', utm_medium: 'x' }, null][i % 3];
    await acme.contact({ firstName: ['Ada', 'Bob', 'Cid'][i % 3], email: `P${i}@example.com`, tags: [`T${i}`], customFields, attribution });
    await acme.appointment({ metadata: [{ room: 1 }, { room: 2, seats: { n: 3 } }, null][i % 3] });
    await acme.invoice({ dueDate: `2031-01-0${i + 1}` });
    api.clock.advance(26 * 60 * 60 * 1000);
  }
});
afterAll(async () => {
  api.clock.reset();
  await api.close();
});

const found = async (list: string, where: object): Promise<string[]> => {
  const type = { contacts: 'ContactWhere', invoices: 'InvoiceWhere', appointments: 'AppointmentWhere' }[list]!;
  const { data, errors } = await acme.owner.gql(`query ($w: ${type}) { ${list}(where: $w, first: 50) { nodes { id } totalCount } }`, {
    w: where,
  });
  expect(errors).toBeUndefined();
  expect(data[list].totalCount).toBe(data[list].nodes.length);
  return data[list].nodes.map(({ id }: Loose) => id).sort();
};

/** A comparison under a path of members. */
const under = (path: string[], comparison: object): object => path.reduceRight<object>((inner, name) => ({ [name]: inner }), comparison);

const made = async (list: string, field: string): Promise<string[]> => {
  const { data } = await acme.owner.gql(`{ ${list}(first: 50, sort: createdAt, order: asc) { nodes { ${field} } } }`);
  return data[list].nodes.map((node: Loose) => node[field]);
};

const day = (moment: string) => new Date(Date.parse(moment) - 5 * 60 * 60 * 1000).toISOString().slice(0, 10);
const clock = { dateStyle: 'short', timeStyle: 'medium' } as const;
const local = (moment: string) => new Intl.DateTimeFormat('sv-SE', { ...clock, timeZone: 'America/New_York' }).format(Date.parse(moment));

describe('one of several values', () => {
  it('is found as each of them alone is', async () => {
    const [first, second, third] = await made('contacts', 'createdAt');
    const cases: [list: string, path: string[], values: unknown[]][] = [
      ['contacts', ['firstName'], ['Ada', 'bob', 'Cid']],
      ['contacts', ['tags'], ['t0', 'T1', 'none']],
      ['contacts', ['createdAt'], [day(first!), second, '2001-01-01']],
      ['contacts', ['createdAt'], [third, local(second!).replace(' ', 'T'), '2001-01-01T00:00:00']],
      ['contacts', ['attribution', 'utm_source'], ['ads', 'mail', 'other']],
      ['contacts', ['customFields', 'tier'], ['gold', 'v7', 'none']],
      ['contacts', ['customFields', 'tier'], ['new', 'none']],
      ['contacts', ['customFields', 'tier'], ['v7', true]],
      ['contacts', ['customFields', 'seats'], [3, 7.5]],
      ['contacts', ['customFields', 'seats'], [4, 99]],
      ['appointments', ['metadata'], [{ room: 1 }, { seats: { n: 3 }, room: 2, other: null }, { room: 3 }]],
      ['invoices', ['dueDate'], ['2031-01-01', '2031-01-03', '2031-02-01']],
    ];
    for (const [list, path, values] of cases) {
      const alone = (operator: string) => values.map((value) => under(path, { [operator]: value }));
      const any = await found(list, { or: alone('eq') });
      expect([path, values, await found(list, under(path, { in: values }))]).toEqual([path, values, any]);
      expect([path, values, await found(list, under(path, { not_in: values }))]).toEqual([
        path,
        values,
        await found(list, { and: alone('neq') }),
      ]);
      if (path[0] !== 'firstName') expect([values, any.length > 0]).toEqual([values, true]);
    }
  });

  it('is found among many moments as among few', async () => {
    const others = Array.from({ length: 150 }, (_, n) => new Date(Date.UTC(2001, 0, n)).toISOString());
    const [first, second, third] = await made('contacts', 'createdAt');
    for (const few of [
      [day(first!), second],
      [day(third!), local(second!).replace(' ', 'T')],
    ]) {
      const any = await found('contacts', { createdAt: { in: few } });
      expect(any.length).toBeGreaterThan(0);
      expect(
        await found('contacts', { createdAt: { in: [...few, ...others, ...others.map((at) => at.slice(0, 10))].slice(0, 200) } }),
      ).toEqual(any);
    }
    const due = ['2031-01-01', '2031-01-03'];
    const many = [...due, ...others.map((at) => at.slice(0, 10))];
    expect(await found('invoices', { dueDate: { in: many } })).toEqual(await found('invoices', { dueDate: { in: due } }));
  });
});

describe('as much as a condition may hold', () => {
  const lists = 199;
  const kinds: [string, (i: number, j: number) => object][] = [
    ['custom fields', (i, j) => ({ customFields: { tier: { in: values(i, j, (k) => (k === 0 ? 'v7' : `w${k}`)) } } })],
    ['names', (i, j) => ({ tags: { in: values(i, j, (k) => `t${k}`) } })],
    ['moments', (i, j) => ({ createdAt: { in: values(i, j, (k) => new Date(Date.UTC(2000, 0, k % 9000)).toISOString().slice(0, 10)) } })],
    ['texts', (i, j) => ({ firstName: { in: values(i, j, (k) => `name ${k}`) } })],
  ];
  const values = <V>(from: number, count: number, value: (k: number) => V): V[] =>
    Array.from({ length: count }, (_, k) => value(from * count + k));
  const widest = (make: (i: number, j: number) => object) => ({ or: Array.from({ length: lists }, (_, i) => make(i, 200)) });

  it.each(kinds)('is answered: %s', async (_kind, make) => {
    const where = widest(make);
    const begun = performance.now();
    const { data, errors } = await acme.owner.gql('query ($w: ContactWhere) { contacts(where: $w) { totalCount } }', { w: where });
    expect(errors).toBeUndefined();
    expect(data.contacts.totalCount).toBe({ 'custom fields': 1, names: 5 }[_kind] ?? 0);
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  it('is answered in twenty lists of a document, which hold up nobody for long', async () => {
    const roots = Array.from({ length: 20 }, (_, i) => `a${i}: contacts(where: $w) { totalCount }`).join(' ');
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const { data, errors } = await acme.owner.gql(`query ($w: ContactWhere) { ${roots} }`, { w: widest(kinds[0]![1]) });
    clearInterval(timer);
    expect(errors).toBeUndefined();
    expect(data.a19.totalCount).toBe(1);
    expect(longest).toBeLessThan(1000);
  });
});
