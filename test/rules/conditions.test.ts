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
import { type Account, dataOf, type Loose, second, server, type TestServer } from '../support/index.js';
import fc from '../support/property.js';

let api: TestServer;
let acme: Account;
let ctx: Context;
const records: Record<'Contact' | 'Deal', Loose[]> = { Contact: [], Deal: [] };
const tables = { Contact: contactTable, Deal: dealTable };

const words = ['Ada', 'ada', 'ÄPFEL', 'äpfel', 'z-last', 'Straße', 'new york', '10', '9', '%_'];
const addresses = ['Ada@Example.com', 'ada@example.com', 'z@example.com'];
const numbers = [-3, 0, 9, 10, 12.5, 1200.5, 99999];
/** What a custom field takes besides: more digits than amounts have, before or behind the point. */
const measures = [...numbers, 1 / 3, 5.5e-17, 1e21, 1234567890123456];
const moments = [
  ...['2026-03-29', '2026-03-29T00:30:00', '2026-03-28T23:00:00.000Z', '2026-12-05T12:00:00+02:00', '2026-12-05', '2031-01-01'],
  // Skipped, and shown twice, by the clocks of New York; of Berlin.
  ...['2026-03-08T02:30:00', '2026-11-01T01:30:00', '2026-03-29T02:30:00', '2026-10-25T02:30:00'],
  // More places than are kept.
  ...['2026-12-05T10:00:00.0014Z', '2026-12-05T11:00:00.0014'],
];
/** On both sides of what these moments may be taken for. */
const appointments = [
  ...['2026-03-28T23:00:00.000Z', '2026-12-05T10:00:00.001Z', '2030-12-31T22:59:59.999Z'],
  ...['2026-03-08T06:45:00.000Z', '2026-03-08T07:15:00.000Z', '2026-11-01T05:45:00.000Z', '2026-11-01T06:15:00.000Z'],
  ...['2026-03-29T00:45:00.000Z', '2026-03-29T01:15:00.000Z', '2026-10-25T00:45:00.000Z', '2026-10-25T01:15:00.000Z'],
];
const zones = ['Europe/Berlin', 'America/New_York'];

const pick = <T>(from: readonly T[], n: number): T => from[n % from.length]!;

/** Sets the clocks of the workspace to those of a zone. */
async function movedTo(timezone: string): Promise<void> {
  await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone } });
  api.clock.advance(second);
  ctx = (await actingForAccount(api.app, acme.id))!;
}

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  await movedTo(zones[0]!);
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
          n: maybe(7, pick(measures, i)),
          mixed: pick<unknown>([1, '1', true, ['1', 'a'], { a: 1, bb: [2] }], i),
        },
        ...{ list: maybe(8, [pick(words, i), pick(measures, i)]) },
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
      ...{ appointmentAt: maybe(5, pick(appointments, i)) },
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
  if (kind === 'custom') return fc.constantFrom<unknown>(...words, ...measures, '1', 1, 'true', '["1", "a"]', '{"a": 1, "bb": [2]}');
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
            fc.array(fc.constantFrom(...measures), { minLength: 1, maxLength: 3 }),
          )
        : fc.array(value, { minLength: 1, maxLength: 3 });
    const pair =
      kind === 'custom'
        ? fc.oneof(
            fc.tuple(fc.constantFrom(...words), fc.constantFrom(...words)),
            fc.tuple(fc.constantFrom(...measures), fc.constantFrom(...measures)),
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

/** The records that a filter finds, and those for which the same conditions hold. */
async function bothOf(type: Type, filters: object): Promise<[found: string[], held: string[]]> {
  const live = sql`t.account_id = ${acme.id}::uuid and t.deleted_at is null`;
  const rows = await ctx.select(
    { id: uuid },
    sql`select t.id from ${rawSql(tables[type].name)} t where ${live} and ${filterSql(ctx, tables[type], filters)}`,
  );
  const conditions = matcherOf(ctx, type, filters, 'conditions');
  const held = records[type].filter((data) => conditions.evaluate({ data }).holds).map(({ id }) => id as string);
  return [rows.map(({ id }) => id).sort(), held.sort()];
}

describe.each(zones)('by the clocks of %s conditions', (zone) => {
  beforeAll(() => movedTo(zone));

  it.each(['Contact', 'Deal'] as const)('over a %s hold for the records that the same filters find', async (type) => {
    const property = fc.asyncProperty(tree(type), async (filters) => {
      const [found, held] = await bothOf(type, filters);
      expect(held).toEqual(found);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it.each(moments)('take %s for the moment that filters take it for', async (value) => {
    for (const field of ['appointmentAt', 'expectedCloseDate'])
      for (const op of ['eq', 'gt', 'gte', 'lt', 'lte', 'in']) {
        const [found, held] = await bothOf('Deal', { field, op, value: op === 'in' ? [value, '2001-01-01'] : value });
        expect([field, op, held]).toEqual([field, op, found]);
      }
  });
});
