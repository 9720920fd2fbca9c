import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Context } from '../../src/kernel/context/context.js';
import { matcherOf } from '../../src/kernel/matching/matcher.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { type Loose, server, type TestServer } from '../support/index.js';
import { serverGlobal } from '../support/serverGlobal.js';

let api: TestServer;
let ctx: Context;
beforeAll(async () => {
  api = await server();
  ctx = (await actingForAccount(api.app, (await api.seed.account()).id))!;
});
afterAll(() => api.close());

const evaluate = (type: string, given: unknown, happened: { data: Loose; changes?: Loose }) =>
  matcherOf(ctx, type, given, 'trigger.conditions').evaluate(happened);

const data = { status: 'won', value: 1200.5, customFields: { tier: 'gold' }, title: 'Machine' };

describe('conditions', () => {
  it('are fields with their values, a list of values or none', () => {
    expect(evaluate('Deal', { status: 'won', value: 1200.5 }, { data }).holds).toBe(true);
    expect(evaluate('Deal', { status: 'won', value: 1 }, { data }).holds).toBe(false);
    expect(evaluate('Deal', { status: ['open', 'won'], 'customFields.tier': 'gold', source: null }, { data }).holds).toBe(true);
    expect(evaluate('Deal', {}, { data }).holds).toBe(true);
    expect(evaluate('Deal', null, { data })).toEqual({ holds: true, conditions: [] });
  });

  it('take an e-mail address for the same whatever its case, and amounts of any size', () => {
    const contact = {
      data: { email: 'Ada@Example.com', createdAt: '2026-01-01T00:00:00.000Z' },
      changes: { email: { from: null, to: 'Ada@Example.com' } },
    };
    for (const email of ['ada@example.com', ['x@example.com', 'ADA@EXAMPLE.COM']]) {
      expect(evaluate('Contact', { email, 'changes.email.to': email }, contact).holds).toBe(true);
      expect(evaluate('Contact', { not: { field: 'email', op: Array.isArray(email) ? 'in' : 'eq', value: email } }, contact).holds).toBe(
        false,
      );
    }
    expect(evaluate('Message', { toEmail: 'ada@example.com' }, { data: { toEmail: 'ADA@example.com' } }).holds).toBe(true);
    expect(evaluate('Deal', { field: 'value', op: 'gte', value: '1000000000000000.5' }, { data: { value: 5e15 } }).holds).toBe(true);
  });

  it('ask what a change was from and to', () => {
    const changes = { status: { from: 'open', to: 'won' }, 'customFields.tier': { from: null, to: 'gold' } };
    const asked = {
      'changes.status.from': 'open',
      'changes.status.to': 'won',
      'changes.customFields.tier.to': 'gold',
    };
    expect(evaluate('Deal', asked, { data, changes }).holds).toBe(true);
    expect(evaluate('Deal', { 'changes.status.to': 'won' }, { data }).holds).toBe(false);
    const tags = { tags: { from: ['new'], to: ['new', 'VIP'] } };
    expect(evaluate('Contact', { 'changes.tags.to': 'vip' }, { data, changes: tags }).holds).toBe(true);
    expect(evaluate('Contact', { 'changes.tags.from': 'vip' }, { data, changes: tags }).holds).toBe(false);
  });

  it('tell what each of them saw', () => {
    const given = { or: [{ field: 'value', op: 'gt', value: 5000 }, { not: { field: 'status', value: 'lost' } }] };
    expect(evaluate('Deal', given, { data })).toEqual({
      holds: true,
      conditions: [
        { at: 'trigger.conditions.or.0.value', field: 'value', operator: 'gt', value: 5000, seen: 1200.5, holds: false },
        { at: 'trigger.conditions.or.1.not.value', field: 'status', operator: 'eq', value: 'lost', seen: 'won', holds: false },
      ],
    });
  });

  it.each([
    [{ colour: 'red' }, 'trigger.conditions.colour'],
    [{ status: { gte: 1 } }, 'trigger.conditions.status'],
    [{ 'changes.colour.to': 'red' }, 'trigger.conditions.changes.colour.to'],
    [{ and: [{ field: 'colour', value: 'red' }] }, 'trigger.conditions.and.0.field'],
    [{ and: [{ field: 'value', op: 'contains', value: 'red' }] }, 'trigger.conditions.and.0.op'],
    [{ field: 'value', op: 'gt', value: 'red' }, 'trigger.conditions.value'],
    [{ field: 'status', op: 'in', value: 'won' }, 'trigger.conditions.value'],
    [{ field: 'contact', op: 'is', value: {} }, 'trigger.conditions.field'],
    [{ value: ['x'] }, 'trigger.conditions.value.0'],
    [{ value: 90071992547409.94 }, 'trigger.conditions.value'],
    [[], 'trigger.conditions'],
    ['status', 'trigger.conditions'],
  ])('refuse %j at %s', (given, field) => {
    expect(() => evaluate('Deal', given, { data })).toThrow(expect.objectContaining({ status: 400, field }));
  });
});

describe('a text of a condition', () => {
  it('is a part of a Greek word wherever that ends', () => {
    const held = (op: string, value: string) =>
      evaluate('Contact', { field: 'lastName', op, value }, { data: { lastName: 'ΑΝΑΣΤΑΣΗΣ' } }).holds;
    for (const part of ['ΑΝΑΣ', 'ανας', 'ανασ'])
      expect([part, held('contains', part), held('starts_with', part)]).toEqual([part, true, true]);
    for (const part of ['ΗΣ', 'ης', 'ησ', 'Σ']) expect([part, held('ends_with', part)]).toEqual([part, true]);
  });

  it('is the same where its marks stand apart, as on a Mac', () => {
    const [name, apart] = ['Zürich', 'Zürich'.normalize('NFD')];
    const contact = (city: string) => ({ firstName: name, tags: [{ name }], customFields: { city, places: [city] } });
    const conditions = { firstName: apart, tags: apart, 'customFields.city': apart, 'customFields.places': apart };
    expect(evaluate('Contact', conditions, { data: contact(name) }).conditions.map(({ holds }) => holds)).toEqual([true, true, true, true]);
    // What was kept before is found as it is.
    expect(evaluate('Contact', conditions, { data: contact(apart) }).holds).toBe(true);
    for (const op of ['contains', 'starts_with', 'ends_with'])
      expect([op, evaluate('Contact', { field: 'customFields.city', op, value: apart }, { data: contact(apart) }).holds]).toEqual([
        op,
        true,
      ]);
    expect(evaluate('Contact', { field: 'firstName', op: 'contains', value: apart }, { data: contact(name) }).holds).toBe(true);
  });
});

describe('JSON of a condition', () => {
  const data = { customFields: { n: 1, list: [1, [2, 'b']], of: { a: 1, b: null, c: { d: [] } }, none: null } };
  const held = (op: string, value: unknown) => evaluate('Contact', { field: 'customFields', op, value }, { data }).holds;
  const [n, list, of] = [1, [1, [2, 'b']], { a: 1, c: { d: [] } }];

  it('is the same whatever the order of its members, with or without those that are null', () => {
    for (const same of [
      { of, list, n },
      { n, of: { c: { d: [], e: null }, a: 1 }, list, more: null },
    ]) {
      expect([held('eq', same), held('neq', same)]).toEqual([true, false]);
      expect([held('in', [{}, same]), held('not_in', [{}, same])]).toEqual([true, false]);
    }
  });

  it.each([
    ['a number as a text', { n: '1', list, of }],
    ['a list in another order', { n, list: [[2, 'b'], 1], of }],
    ['a list in one', { n, list: [1, 2, 'b'], of }],
    ['a list that ends with null', { n, list: [1, [2, 'b'], null], of }],
    ['an empty object for an empty list', { n, list, of: { a: 1, c: { d: {} } } }],
    ['a list as its JSON', { n, list: '[1,[2,"b"]]', of }],
    ['a member less', { list, of }],
    ['a member more', { n, list, of, more: false }],
  ])('is another one with %s', (_what, other) => {
    expect([held('eq', other), held('neq', other), held('in', [other, {}]), held('not_in', [other, {}])]).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });
});

describe('a list of values', () => {
  it('has a number however it is written, a name in any case, a day, and null for none', () => {
    const held = (type: 'Contact' | 'Deal', field: string, its: Loose, ...value: unknown[]) =>
      evaluate(type, { field, op: 'in', value }, { data: its }).holds;
    for (const value of [10.5, '10.50', '10.5']) expect(held('Deal', 'value', { value: 10.5 }, 3, value)).toBe(true);
    for (const value of [0, -0, '-0', '0.0']) expect(held('Deal', 'value', { value: 0 }, 3, value)).toBe(true);
    expect(held('Deal', 'value', { value: 10.5 }, 10, '10.49')).toBe(false);
    expect(held('Contact', 'tags', { tags: [{ name: 'New' }, { name: 'ÄPFEL' }] }, 'old', 'äpfel')).toBe(true);
    const expectedCloseDate = '2026-12-05';
    expect(held('Deal', 'expectedCloseDate', { expectedCloseDate }, '2026-12-04', '2026-12-05')).toBe(true);
    expect(held('Deal', 'source', { source: null }, 'web', null)).toBe(true);
    expect(held('Deal', 'source', { source: 'ads' }, 'web', null)).toBe(false);
    expect(held('Deal', 'source', { source: 'ads' })).toBe(false);
  });

  it('has what a custom field holds, and the items of one that is a list, as what they are', () => {
    const held = (its: unknown, ...value: unknown[]) =>
      evaluate('Contact', { field: 'customFields.x', op: 'in', value }, { data: { customFields: { x: its } } }).holds;
    expect([held(['a', 2, null], 'b', 'a'), held(['a', 2], 1, 2), held('a', 'b', 'a'), held(2, 1, 2)]).toEqual([true, true, true, true]);
    expect([held(['a', '2'], 1, 2), held([['a']], 'a'), held([null], 'null'), held({ a: 1 }, 'a')]).toEqual([false, false, false, false]);
    expect([held('2', 1, 2), held(2, '1', '2'), held(['a'], '["a"]')]).toEqual([true, true, true]);
  });
});

/** How often so many conditions read a value: the member of an object in a list. */
function readsBy(conditions: number, condition: (nth: number) => object): number {
  let reads = 0;
  const counting = {
    get plan() {
      reads += 1;
      return 'gold';
    },
  };
  const and = Array.from({ length: conditions }, (_, nth) => condition(nth));
  const customFields = { list: [counting] };
  evaluate('Contact', { and }, { data: { customFields }, changes: { customFields: { from: customFields, to: null } } });
  return reads;
}

describe('199 conditions over one value', () => {
  const among = (nth: number, one: (n: number) => unknown) => Array.from({ length: 200 }, (_, n) => one(200 * nth + n));
  const whole = (n: number) => ({ list: [{ plan: n }] });
  const text = (n: number) => `[{"plan": ${n}}]`;
  it.each<[string, string, (nth: number) => unknown]>([
    ['customFields', 'eq', whole],
    ['customFields', 'neq', whole],
    ['customFields', 'in', (nth) => among(nth, whole)],
    ['customFields', 'not_in', (nth) => among(nth, whole)],
    ['changes.customFields.from', 'in', (nth) => among(nth, whole)],
    ['customFields.list', 'eq', text],
    ['customFields.list', 'in', (nth) => among(nth, text)],
    ['customFields.list', 'in', (nth) => among(nth, (n) => n)],
    ['customFields.list', 'contains', text],
    ['customFields.list', 'gt', text],
    ['customFields.list', 'lt', (nth) => nth],
    ['customFields.list', 'between', (nth) => [text(nth), text(nth + 1)]],
  ])('read it no more often than one does: %s %s', (field, op, wanted) => {
    const condition = (nth: number) => ({ field, op, value: wanted(nth) });
    expect(readsBy(199, condition)).toBe(readsBy(1, condition));
  });
});

describe('199 conditions over one text', () => {
  /** How often conditions over parts of a text make its lower case. */
  function foldsBy(type: 'Contact' | 'Deal', field: string, data: Loose, text: string): number {
    const ops = ['contains', 'starts_with', 'ends_with'];
    const or = Array.from({ length: 199 }, (_, nth) => ({ field, op: ops[nth % ops.length], value: `ΑΝΑΣ ${nth}` }));
    const lowerCased = jest.spyOn(serverGlobal.String.prototype, 'toLowerCase');
    try {
      expect(evaluate(type, { or }, { data }).holds).toBe(false);
      return lowerCased.mock.contexts.filter((its) => String(its) === text).length;
    } finally {
      lowerCased.mockRestore();
    }
  }

  it('make its lower case once', () => {
    const text = 'ÄPFEL '.repeat(1000);
    expect(foldsBy('Deal', 'title', { title: text }, text)).toBe(1);
    expect(foldsBy('Contact', 'customFields.word', { customFields: { word: text } }, text)).toBe(1);
    expect(foldsBy('Contact', 'tags', { tags: [{ name: 'New' }, { name: text }] }, text)).toBe(1);
  });

  it('print no list or object to find that it is no number', () => {
    expect(readsBy(199, (nth) => ({ field: 'customFields.list', op: 'gt', value: nth }))).toBe(0);
  });
});

describe('comparisons of changes', () => {
  it('hold of no change of what did not change, negated or not', () => {
    const changes = { title: { from: 'A', to: 'B' }, source: { from: 'web', to: null } };
    const held = (given: unknown) => evaluate('Deal', given, { data, changes }).holds;
    const comparisons = [
      { field: 'value', op: 'eq', value: null },
      { field: 'value', op: 'neq', value: 100 },
      { field: 'value', op: 'not_in', value: [100] },
      { field: 'source', op: 'is_empty', value: true },
      { field: 'customFields.tier', op: 'neq', value: 'gold' },
    ];
    const isOfChanged = (field: string) => field === 'source';
    for (const { field, ...more } of comparisons)
      for (const side of ['from', 'to']) {
        const compared = { field: `changes.${field}.${side}`, ...more };
        const isEmptied = isOfChanged(field) && side === 'to';
        expect([compared, held(compared)]).toEqual([compared, isEmptied]);
        expect([compared, held({ not: compared })]).toEqual([compared, isOfChanged(field) && !isEmptied]);
      }
    const unchanged = { field: 'changes.value.to', op: 'neq', value: 100 };
    expect(held({ 'changes.value.to': null })).toBe(false);
    expect(held({ or: [unchanged, { field: 'changes.title.to', value: 'B' }] })).toBe(true);
    expect(held({ not: { and: [unchanged, { field: 'changes.title.to', value: 'C' }] } })).toBe(true);
    expect(held({ not: { or: [unchanged, { field: 'changes.title.to', value: 'C' }] } })).toBe(false);
    expect(evaluate('Deal', unchanged, { data, changes }).conditions).toMatchObject([{ seen: null, holds: false }]);
    expect(evaluate('Deal', { not: { field: 'changes.value.from', value: 1 } }, { data }).holds).toBe(false);
  });
});

describe('what conditions tell', () => {
  it('is of a long value how it begins, while all of it is compared, and of a list a list', () => {
    const [title, tags] = ['é'.repeat(501), Array.from({ length: 60 }, (_, n) => `Tag number ${n}`)];
    const of = (type: 'Contact' | 'Deal', given: unknown, its: Loose) => evaluate(type, given, { data: its }).conditions;
    const begins = `${'é'.repeat(500)}…`;
    expect(of('Deal', { title }, { title })).toMatchObject([{ value: begins, seen: begins, holds: true }]);
    expect(of('Deal', { title }, { title: title.slice(1) })).toMatchObject([{ seen: title.slice(1), holds: false }]);
    const [{ value, seen, holds }] = of('Contact', { tags }, { tags: tags.map((name) => ({ name })) }) as [Loose];
    expect([holds, seen.slice(0, 20), seen.at(-1), value]).toEqual([true, tags.slice(0, 20), '…', seen]);
  });
});
