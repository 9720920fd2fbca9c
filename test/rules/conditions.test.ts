import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Context } from '../../src/kernel/context/context.js';
import { uuid } from '../../src/kernel/database/kinds.js';
import { rawSql, sql } from '../../src/kernel/database/sql.js';
import { matcherOf } from '../../src/kernel/matching/matcher.js';
import { recordFields } from '../../src/kernel/model/restRecord.js';
import { operatorsOf } from '../../src/kernel/tables/filterField.js';
import { filterFieldsOf } from '../../src/kernel/tables/filterFields.js';
import { filterSql } from '../../src/kernel/tables/filterSql.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { contactTable } from '../../src/modules/contacts/contact.table.js';
import { dealTable } from '../../src/modules/deals/deal.table.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import fc from '../support/property.js';

let api: TestServer;
let acme: Account;
let ctx: Context;
const records: Record<'Contact' | 'Deal', Loose[]> = { Contact: [], Deal: [] };
const tables = { Contact: contactTable, Deal: dealTable };

const words = ['Ada', 'ada', 'ÄPFEL', 'äpfel', 'z-last', 'Straße', 'new york', '10', '9', '%_'];
const addresses = ['Ada@Example.com', 'ada@example.com', 'z@example.com'];
const numbers = [-3, 0, 9, 10, 12.5, 1200.5, 99999];
const moments = ['2026-03-29', '2026-03-29T00:30:00', '2026-03-28T23:00:00.000Z', '2026-12-05T12:00:00+02:00', '2026-12-05', '2031-01-01'];

const pick = <T>(from: readonly T[], n: number): T => from[n % from.length]!;

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone: 'Europe/Berlin' } });
  ctx = (await actingForAccount(api.app, acme.id))!;
  const pipeline = await acme.pipeline();
  for (let i = 0; i < 24; i++) {
    const maybe = <T>(nth: number, value: T) => ((i * 7 + nth * 5) % 4 === 0 ? undefined : value);
    const contact = await acme.contact({
      ...{
        firstName: pick(words, i),
        lastName: maybe(1, pick(words, i * 3 + 1)),
        city: maybe(2, pick(words, i + 4)),
        source: maybe(3, 'web'),
        email: maybe(9, pick(addresses, i)),
      },
      ...{ tags: words.filter((_word, nth) => (i + nth * i) % 5 === 0).map((word) => `${word.toLowerCase()}!`), doNotContact: i % 3 === 0 },
      ...{ attribution: maybe(4, { utm_source: pick(words, i), clickIds: { g: String(i % 2) } }), assignedTo: maybe(5, acme.ownerId) },
      customFields: {
        ...{
          word: maybe(6, pick(words, i)),
          n: maybe(7, pick(numbers, i)),
          mixed: pick<unknown>([1, '1', true, ['1', 'a'], { a: 1, bb: [2] }], i),
        },
        ...{ list: maybe(8, [pick(words, i), pick(numbers, i)]) },
      },
    });
    await acme.deal({
      ...{
        pipeline,
        title: pick(words, i),
        value: maybe(1, Math.abs(pick(numbers, i))),
        contactId: maybe(2, contact.id),
        source: maybe(3, 'ads'),
      },
      ...{ expectedCloseDate: maybe(4, pick(['2026-03-29', '2026-12-05', '2031-01-01'], i)), priority: pick(['low', 'high'], i) },
      ...{ appointmentAt: maybe(5, pick(['2026-03-28T23:00:00.000Z', '2026-12-05T10:00:00.001Z', '2030-12-31T22:59:59.999Z'], i)) },
      products:
        i % 2 === 0
          ? [
              { name: pick(words, i), unitPrice: 2, quantity: i + 1 },
              { name: 'Wheel', unitPrice: 1, quantity: 1 },
            ]
          : undefined,
    });
  }
  records.Contact = dataOf(await acme.owner.get('/contacts?per_page=200')).data;
  records.Deal = dataOf(await acme.owner.get('/deals?per_page=200&view=list')).data;
});
afterAll(() => api.close());

type Type = keyof typeof tables;

/** The fields that both know: those of the REST record. */
function fieldsOfBoth(type: Type): [string, string][] {
  const shown = new Set(recordFields(api.app.registry.schema().getType(type) as never).map(({ name }) => name));
  const known = Object.entries(filterFieldsOf(tables[type])).filter(([name]) => shown.has(name.split('.')[0]!));
  const custom = ['word', 'n', 'mixed', 'list', 'none'].map((key): [string, string] => [`customFields.${key}`, 'custom']);
  return [...known.map(([name, { kind }]): [string, string] => [name, kind]), ...custom];
}

const valuesOf: Record<string, fc.Arbitrary<unknown>> = {
  text: fc.constantFrom(...words, 'web', 'ads', 'high', 'EUR', 'UTC'),
  name: fc.constantFrom(...words.map((word) => `${word}!`), 'Wheel', ...addresses, 'ADA@example.COM'),
  integer: fc.constantFrom(0, 1, 12),
  numeric: fc.constantFrom(...numbers, '1200.50'),
  boolean: fc.boolean(),
  timestamptz: fc.constantFrom(...moments),
  date: fc.constantFrom(...moments),
};

function valueArbitrary(type: Type, field: string, kind: string): fc.Arbitrary<unknown> {
  const its = records[type].flatMap((record) => record[field] ?? []);
  if (kind === 'uuid') return fc.constantFrom(...its, api.app.clock.id());
  if (kind === 'json') return fc.constantFrom<unknown>(...its, { g: '1' }, { g: '1', x: null });
  if (kind === 'custom') return fc.constantFrom<unknown>(...words, ...numbers, '1', 1, 'true', '["1", "a"]', '{"a": 1, "bb": [2]}');
  return valuesOf[kind]!;
}

/** A condition over one field, as JSON. */
function leaf(type: Type): fc.Arbitrary<object> {
  return fc.constantFrom(...fieldsOfBoth(type)).chain(([field, kind]) => {
    const value = valueArbitrary(type, field, kind);
    // What a custom field is compared with says as what.
    const sameKind =
      kind === 'custom'
        ? fc.oneof(
            fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }),
            fc.array(fc.constantFrom(...numbers), { minLength: 1, maxLength: 3 }),
          )
        : fc.array(value, { minLength: 1, maxLength: 3 });
    const pair =
      kind === 'custom'
        ? fc.oneof(
            fc.tuple(fc.constantFrom(...words), fc.constantFrom(...words)),
            fc.tuple(fc.constantFrom(...numbers), fc.constantFrom(...numbers)),
          )
        : fc.tuple(value, value);
    const ops = kind === 'custom' ? ['eq', 'neq', 'in', 'not_in', 'is_empty', 'gt', 'lte', 'between'] : operatorsOf(kind as never);
    return fc.constantFrom(...ops).chain((op): fc.Arbitrary<object> => {
      if (op === 'is_empty') return fc.boolean().map((is) => ({ field, op, value: is }));
      if (op === 'in' || op === 'not_in')
        return fc
          .tuple(sameKind, fc.boolean())
          .map(([list, withNull]) => ({ field, op, value: withNull && kind !== 'custom' ? [...list, null] : list }));
      if (op === 'between') return pair.map((two) => ({ field, op, value: two }));
      if (['contains', 'starts_with', 'ends_with'].includes(op))
        return fc.constantFrom('a', 'Ä', 'ss', 'ß', '%', '!', 'L').map((part) => ({ field, op, value: part }));
      return value.map((one) => ({ field, op, value: one }));
    });
  });
}

const tree = (type: Type): fc.Arbitrary<object> =>
  fc.letrec<{ node: object; leaf: object }>((tie) => ({
    leaf: leaf(type),
    node: fc.oneof(
      { depthSize: 'small', maxDepth: 3 },
      tie('leaf'),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
      fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
      tie('node').map((not) => ({ not })),
    ),
  })).node;

describe.each(['Contact', 'Deal'] as const)('conditions over a %s', (type) => {
  it('hold for the records that the same filters find', async () => {
    const live = sql`t.account_id = ${acme.id}::uuid and t.deleted_at is null`;
    const property = fc.asyncProperty(tree(type), async (filters) => {
      const rows = await ctx.select(
        { id: uuid },
        sql`select t.id from ${rawSql(tables[type].name)} t where ${live} and ${filterSql(ctx, tables[type], filters)}`,
      );
      const conditions = matcherOf(ctx, type, filters, 'conditions');
      const held = records[type].filter((data) => conditions.evaluate({ data }).holds).map(({ id }) => id);
      expect(held.sort()).toEqual(rows.map(({ id }) => id).sort());
    });
    await fc.assert(property, { numRuns: 300 });
  });
});

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
