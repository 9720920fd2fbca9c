import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { wordPattern } from '../../src/kernel/tables/searchPatterns.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import fc from '../support/property.js';

let api: TestServer;
let acme: Account;
let pipeline: Loose;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  pipeline = await acme.pipeline();
});
afterAll(() => api.close());

const words = ['Mill', 'mild', 'Öl', 'oil', 'x_y', '100%', 'Ada', 'da', 'Lace & Co', ''];
const word = fc.constantFrom(...words);
const phrase = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' ').trim());
const person = fc.record({ firstName: phrase, lastName: fc.option(phrase), company: fc.option(phrase), isDeleted: fc.boolean() });
const firm = fc.record({ name: phrase, isDeleted: fc.boolean() });
const deal = fc.record({
  title: phrase,
  person: fc.option(fc.nat(3)),
  firm: fc.option(fc.nat(2)),
  isDeleted: fc.constantFrom(false, false, false, true),
  status: fc.constantFrom('open', 'won'),
});
const world = fc.record({
  people: fc.array(person, { minLength: 4, maxLength: 4 }),
  firms: fc.array(firm, { minLength: 3, maxLength: 3 }),
  deals: fc.array(deal, { minLength: 1, maxLength: 15 }),
});

type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

/** Replaces what the account has. */
async function fill({ people, firms, deals }: World): Promise<void> {
  const { prisma } = api.app.database;
  const gone = ({ isDeleted }: { isDeleted: boolean }) => (isDeleted ? new Date() : null);
  const now = new Date();
  const own = () => ({ accountId: acme.id, id: crypto.randomUUID(), createdAt: now, updatedAt: now });
  const contacts = people.map((p) => ({ ...own(), firstName: p.firstName, lastName: p.lastName, company: p.company, deletedAt: gone(p) }));
  const companies = firms.map((f) => ({ ...own(), name: f.name, deletedAt: gone(f) }));
  const rows = deals.map((d, i) => ({
    ...{ ...own(), title: d.title, status: d.status, deletedAt: gone(d), position: i },
    ...{ pipelineId: pipeline.id, stageId: pipeline.stages[i % 2].id },
    contactId: d.person === null ? null : contacts[d.person]!.id,
    companyId: d.firm === null ? null : companies[d.firm]!.id,
  }));
  const where = { accountId: acme.id };
  await prisma.$transaction([
    ...[prisma.deal.deleteMany({ where }), prisma.contact.deleteMany({ where }), prisma.company.deleteMany({ where })],
    ...[
      prisma.contact.createMany({ data: contacts }),
      prisma.company.createMany({ data: companies }),
      prisma.deal.createMany({ data: rows }),
    ],
  ]);
}

/** What a search means, said of each deal by itself. */
const meaning = `select d.id from deals d
  left join contacts c on c.account_id = d.account_id and c.id = d.contact_id and c.deleted_at is null
  left join companies f on f.account_id = d.account_id and f.id = d.company_id and f.deleted_at is null
  where d.account_id = $1 and d.deleted_at is null and (
    ' ' || lower(d.title collate "und-x-icu") like $2
    or ' ' || lower(concat_ws(' ', c.first_name, c.last_name) collate "und-x-icu") like $2
    or ' ' || lower(f.name collate "und-x-icu") like $2)`;

it('A search of deals finds what bears the term in its title or in the name of its live contact or company, and nothing else', async () => {
  const term = fc.oneof(word, phrase, fc.constantFrom('il', 'mil', 'ADA', '%', '_', 'öl')).filter((text) => text.trim().length > 0);
  const property = fc.asyncProperty(world, fc.array(term, { minLength: 5, maxLength: 5 }), async (given, terms) => {
    await fill(given);
    for (const text of terms) {
      const { rows } = await api.app.database.execute(meaning, [acme.id, wordPattern(text)]);
      const expected = (rows as { id: string }[]).map(({ id }) => id).sort();
      const query = `search=${encodeURIComponent(text)}&per_page=200`;
      const { data, meta } = dataOf(await acme.owner.get(`/deals?${query}`));
      expect([text, data.map((found: Loose) => found.id).sort(), meta.total]).toEqual([text, expected, expected.length]);
      const board = dataOf(await acme.owner.get(`/deals?pipelineId=${pipeline.id}&${query}`));
      expect(board.data.map((found: Loose) => found.id).sort()).toEqual(expected);
    }
  });
  await fc.assert(property, { numRuns: 20 });
});
