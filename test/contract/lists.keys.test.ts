import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GraphQLObjectType } from 'graphql';
import { isObjectType } from 'graphql';
import type { Relation } from '../../src/kernel/tables/relation.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

/*
 * Lists that are narrowed by what other records hold: counted there, and read in their order where many match. What is expected follows
 * from how the rows were made, by their number from the oldest, 1, to the newest, 3,000; every tenth is deleted.
 */
const many = 3000;
const isListed = (n: number) => n % 10 !== 0;
const numbers = Array.from({ length: many }, (_, i) => i + 1).filter(isListed);

let api: TestServer;
let acme: Account;

/** Tags, and who carries them: of which everybody, of the oldest half, of the newest half, and of some. */
const carries: Record<string, (n: number) => boolean> = {
  all: () => true,
  old: (n) => n <= 1500,
  new: (n) => n > 1500,
  some: (n) => n % 100 === 1,
};

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const { prisma } = api.app.database;
  await prisma.$executeRaw`
    insert into contacts (account_id, id, first_name, last_name, created_at, updated_at, deleted_at)
    select ${acme.id}::uuid, gen_random_uuid(), n::text, lpad((n * 7919 % 3001)::text, 4, '0'), now() + make_interval(secs => n), now(),
      case when n % 10 = 0 then now() end from generate_series(1, ${many}::int) n`;
  for (const [name, holds] of Object.entries(carries)) {
    const { id } = dataOf(await acme.owner.post('/tags', { name }));
    const names = Array.from({ length: many }, (_, i) => i + 1)
      .filter(holds)
      .map(String);
    await prisma.$executeRaw`
      insert into contact_tags (account_id, contact_id, tag_id, created_at)
      select account_id, id, ${id}::uuid, now() from contacts where account_id = ${acme.id}::uuid and first_name = any(${names})`;
  }
  // Two deals with each contact whose number is even, one of them won where it is at most 1,000; a lost one that is deleted with every contact.
  const deal = await acme.deal({ title: 'first' });
  await prisma.$executeRaw`
    insert into deals (account_id, id, title, pipeline_id, stage_id, contact_id, status, created_at, updated_at, deleted_at)
    select d.account_id, gen_random_uuid(), 'deal', d.pipeline_id, d.stage_id, c.id, s.status, now(), now(), case when s.status = 'lost' then now() end
    from deals d join contacts c on c.account_id = d.account_id cross join unnest('{open,won,lost}'::text[]) s(status)
    where d.id = ${deal.id}::uuid and case s.status when 'open' then c.first_name::int % 2 = 0 when 'won' then c.first_name::int % 2 = 0
      and c.first_name::int <= 1000 else true end`;
  await prisma.$executeRaw`
    insert into tasks (account_id, id, title, created_by, contact_id, due_date, created_at, updated_at)
    select account_id, gen_random_uuid(), 'Call', ${acme.ownerId}::uuid, id, '2001-01-01', now(), now() from contacts, generate_series(1, 2)
    where account_id = ${acme.id}::uuid and first_name::int % 2 = 1`;
  // So few that they are counted by, while deals are too many for it.
  await prisma.$executeRaw`
    insert into notes (account_id, id, body, contact_id, created_at, updated_at)
    select account_id, gen_random_uuid(), 'Note', id, now(), now() from contacts
    where account_id = ${acme.id}::uuid and first_name::int % 9 in (1, 3, 5, 7)`;
  await prisma.$executeRawUnsafe('analyze');
}, 120_000);
afterAll(() => api.close());

const found = async (query: string): Promise<Loose> => dataOf(await acme.owner.get(`/contacts?${query}`));
const namesOf = (rows: readonly Loose[]) => rows.map(({ firstName }) => Number(firstName));

const even = (n: number) => n % 2 === 0;
const noted = (n: number) => [1, 3, 5, 7].includes(n % 9);
const queries: [string, (n: number) => boolean][] = [
  ['tag=all', () => true],
  ['tag=OLD', carries.old!],
  ['tag=new', carries.new!],
  ['tag=some', carries.some!],
  ['tag=nobody', () => false],
  ['tags=old,some', (n) => n <= 1500 || n % 100 === 1],
  ['deal_context_statuses=open', even],
  ['deal_context_statuses=won', (n) => even(n) && n <= 1000],
  ['deal_context_statuses=open,won', even],
  ['deal_context_statuses=lost', () => false],
  ['smart_view=needs_follow_up', (n) => !even(n)],
  [`filters=${JSON.stringify({ not: { field: 'tags', op: 'eq', value: 'old' } })}`, carries.new!],
  [`filters=${JSON.stringify({ and: [{ field: 'tags', op: 'eq', value: 'new' }] })}`, carries.new!],
  [`filters=${JSON.stringify({ or: [{ field: 'tags', op: 'in', value: ['some', 'new'] }] })}`, (n) => n > 1500 || n % 100 === 1],
  [`filters=${JSON.stringify({ field: 'deals', op: 'none' })}`, (n) => !even(n)],
];

describe('a list that other records narrow', () => {
  it.each(queries)('has its total and its pages: %s', async (query, holds) => {
    const expected = numbers.filter(holds);
    const asked = query.replaceAll('"', '%22').replaceAll('{', '%7B').replaceAll('}', '%7D');
    for (const page of [1, 7, 13, 200]) {
      const { data, meta } = await found(`${asked}&per_page=100&page=${page}`);
      expect([meta.total, namesOf(data)]).toEqual([expected.length, expected.toReversed().slice((page - 1) * 100, page * 100)]);
    }
    const oldest = await found(`${asked}&sort=createdAt&order=asc&per_page=3`);
    expect([oldest.meta.total, namesOf(oldest.data)]).toEqual([expected.length, expected.slice(0, 3)]);
    const byName = expected.toSorted((a, b) => ((a * 7919) % 3001) - ((b * 7919) % 3001));
    expect(namesOf((await found(`${asked}&sort=lastName&order=desc&per_page=9`)).data)).toEqual(byName.toReversed().slice(0, 9));
  });

  it('goes on after a cursor, with the same total', async () => {
    const first = await found('tag=new&per_page=50');
    const next = await found(`tag=new&per_page=50&cursor=${encodeURIComponent(first.meta.next_cursor)}`);
    const expected = numbers.filter(carries.new!).toReversed();
    expect([next.meta.total, namesOf(next.data)]).toEqual([expected.length, expected.slice(50, 100)]);
  });

  it.each([
    ['{ tags: { some: { name: { eq: "old" } } } }', carries.old!],
    ['{ tags: { none: { name: { eq: "old" } } } }', carries.new!],
    ['{ tags: { some: {} } }', () => true],
    ['{ tags: { none: {} } }', () => false],
    ['{ not: { deals: { some: { status: { eq: open } } } } }', (n: number) => !even(n)],
    ['{ deals: { some: {} }, createdAt: { is_empty: false } }', even],
    ['{ deals: { some: { stage: { name: { is_empty: false } } } } }', even],
    ['{ notes: { some: {} } }', noted],
    ['{ notes: { none: { body: { eq: "Note" } } } }', (n: number) => !noted(n)],
    ['{ not: { notes: { none: { contact: { tags: { some: {} } } } } } }', noted],
    ['{ or: [{ deals: { some: {} } }, { tags: { some: {} } }] }', () => true],
  ] as [string, (n: number) => boolean][])('is the same through GraphQL: %s', async (where, holds) => {
    const expected = numbers.filter(holds);
    const document = `{ contacts(where: ${where}, first: 4) { totalCount nodes { firstName } }
      last: contacts(where: ${where}, last: 4) { totalCount nodes { firstName } } }`;
    const { contacts, last } = (await acme.owner.gql(document)).data as Loose;
    expect([contacts.totalCount, namesOf(contacts.nodes)]).toEqual([expected.length, expected.toReversed().slice(0, 4)]);
    expect([last.totalCount, namesOf(last.nodes)]).toEqual([expected.length, expected.toReversed().slice(-4)]);
  });

  it('counts what is deleted no longer, and what is restored again', async () => {
    const [newest] = (await found('tag=all&per_page=1')).data;
    const total = async () => [(await found('tag=all')).meta.total, (await found('deal_context_statuses=open')).meta.total];
    const before = await total();
    await acme.owner.del(`/contacts/${newest.id}`);
    expect(await total()).toEqual([before[0] - 1, before[1]]);
    await acme.owner.post(`/contacts/${newest.id}/restore`);
    expect(await total()).toEqual(before);
  });
});

/** The relations that lead to many records. */
const relationsToMany = () =>
  Object.values(api.app.registry.schema().getTypeMap())
    .filter((type): type is GraphQLObjectType => isObjectType(type))
    .flatMap((type) => Object.values(type.getFields()))
    .flatMap(({ extensions: { relation } }) => ((relation as Relation | undefined)?.kind === 'many' ? [relation as Relation] : []));

describe('what records are counted by', () => {
  it('is held by a foreign key, so that each key is that of a row', async () => {
    const keys = await api.app.database.prisma.$queryRaw<{ key: string }[]>`
      select f.relname || ' ' || pg_get_constraintdef(c.oid) as key from pg_constraint c join pg_class f on f.oid = c.conrelid where c.contype = 'f'`;
    const relations = relationsToMany();
    expect(relations.length).toBeGreaterThan(30);
    const missing = relations.flatMap((relation) => {
      if (relation.kind === 'one' || relation.isLoose) return [];
      const { of, to, held, repeated } = relation;
      const between = /^join (\w+) b/.exec(held?.join ?? '')?.[1];
      const holder = repeated?.table ?? between ?? to.name;
      const column = repeated?.of ?? held!.key.slice(2);
      const wanted = new RegExp(`^${holder} FOREIGN KEY \\(account_id, ${column}\\) REFERENCES ${of.name}\\(account_id, ${of.key}\\)`);
      return !keys.some(({ key }) => wanted.test(key)) ? [`${of.name}.${relation.name}: ${holder}.${column}`] : [];
    });
    expect(missing).toEqual([]);
  });
});
