import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contract } from '../../src/app.js';
import { bigint, day, decimal, type Kind } from '../../src/kernel/database/kinds.js';
import { type Statement, statements } from '../../src/kernel/database/statement.js';
import { stepOf } from '../../src/kernel/events/readers.js';
import { registryOf } from '../../src/kernel/module/module.js';
import { lookupOf } from '../../src/kernel/operations/references.js';
import type { AnyTable } from '../../src/kernel/tables/table.js';
import { modules } from '../../src/modules.js';
import { type Account, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

class Undone extends Error {}

/** What a statement answers in a transaction that is taken back. */
async function tried<Row>(text: string, values: unknown[]): Promise<Row[]> {
  let rows: Row[] = [];
  const work = api.app.database.prisma.$transaction(async (tx) => {
    rows = await tx.$queryRawUnsafe<Row[]>(text, ...values);
    throw new Undone();
  });
  await work.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });
  return rows;
}

const nobody = '00000000-0000-7000-8000-000000000000';
const samples: Record<string, unknown> = { uuid: nobody, text: 'active', integer: 1, timestamptz: new Date(), boolean: false, json: {} };

/** A value of a parameter's kind. */
function sampleOf(kind: Kind<unknown>): unknown {
  const { sql, nullable, isJson } = kind;
  if (kind === bigint || kind === decimal) return '1';
  if (kind === day) return '2026-01-01';
  if (nullable) return null;
  if (isJson) return '[]';
  if (sql.endsWith('[]')) return [];
  if (samples[sql] === undefined) throw new Error(`The test knows no value of ${sql}`);
  return samples[sql];
}

const samplesOf = ({ takes }: Statement<object, never>) =>
  Object.fromEntries(Object.entries(takes).map(([name, kind]) => [name, sampleOf(kind)])) as never;

/** PostgreSQL's names of a kind's type. */
const typesOf: Record<string, string[]> = {
  uuid: ['uuid'],
  text: ['text', 'character varying', 'name'],
  integer: ['integer', 'smallint'],
  'double precision': ['double precision'],
  boolean: ['boolean'],
  timestamptz: ['timestamp with time zone'],
  json: ['json', 'jsonb'],
};

const isOf = (type: string, { sql }: Kind<unknown>) =>
  sql.endsWith('[]') ? type.endsWith('[]') && typesOf[sql.slice(0, -2)]!.includes(type.slice(0, -2)) : typesOf[sql]!.includes(type);

// A clause that changes rows stands at the top of a statement alone, so these cannot be looked at from outside.
const nested = /^\s*with\s[\s\S]*\b(insert|update|delete)\b[\s\S]*\)\s*(insert|update|delete|select)\b/i;

/** All of the server: those that are made when a kind is first asked for or a reader first reads are made here, and what other test files declared is left out. */
function allOfTheServer(): Statement<object, never>[] {
  const { references, readers } = registryOf(modules, () => contract().schema);
  const lookups = [...references].map(([kind, reference]) => lookupOf(kind, reference));
  const steps = [...readers].map(([name, { wanted }]) => stepOf(name, wanted));
  const others = [...statements.values()].filter(({ name }) => !/^(existing|read) /.test(name));
  return [...others, ...lookups, ...steps] as unknown as Statement<object, never>[];
}

const all = allOfTheServer();

describe('a statement', () => {
  it('is there to be described', () => {
    expect(all.length).toBeGreaterThan(60);
  });

  it.each(all.map((statement) => [statement.name, statement] as const))(
    '%s looks at the account, and at all that it takes',
    (_, statement) => {
      const account = statement.acrossAccounts ? [] : ['account'];
      expect(new Set(statement.parameters)).toEqual(new Set([...account, ...Object.keys(statement.takes)]));
    },
  );

  it('is about all accounts where two of them could have the same number, and nowhere else', () => {
    expect(
      all
        .filter(({ acrossAccounts }) => acrossAccounts)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['lockPublications', 'takenNumbers']);
  });

  it.each(all.map((statement) => [statement.name, statement] as const))('%s answers the columns of its row', async (_, statement) => {
    const names = Object.keys(statement.row);
    const { text, values } = statement.bind(acme.id, samplesOf(statement));
    if (names.length === 0 || nested.test(text)) {
      const rows = await tried<object>(text, values);
      for (const row of rows) expect(Object.keys(row).sort()).toEqual(names.sort());
      return;
    }
    const types = names.map((name) => `pg_typeof(s."${name}")::text as "${name}"`).join(', ');
    const [row] = await tried<Record<string, string>>(
      `with s as (${text}) select ${types} from (select 1) one left join s on true`,
      values,
    );
    expect(names.filter((name) => !isOf(row![name]!, statement.row[name]!)).map((name) => `${name} is ${row![name]}`)).toEqual([]);
    // As many columns as the row has, and no more.
    const tooMany = [...names, 'one_more'].map((_name, i) => `c${i}`).join(', ');
    const refusal = await tried(`with s (${tooMany}) as (${text}) select 1 from s`, values).catch((error: Error) => error);
    expect(String((refusal as Error).message)).toMatch(/has \d+ columns available but \d+ columns specified/);
  });
});

// What triggers keep is the sum of a handful of rows.
const kept = /sum\((\w+)\.n\), 0\)::int from counts \1 /g;

const isCounting = (text: string) => /\b(count|sum)\(/.test(text.replace(kept, ''));

describe('what counts records', () => {
  it('says so where it is a statement that others may go with: these would wait for it', () => {
    const others = all.filter(({ shared, counts, template }) => shared && !counts && isCounting(template.text));
    expect(others.map(({ name }) => name)).toEqual([]);
    const counting = all.filter(({ counts }) => counts).map(({ name }) => name);
    expect(counting).toEqual(expect.arrayContaining(['look at companies', 'look at companiesWithDeleted', 'engagementOfContacts']));
  });

  it('says so where it is a field of a record', () => {
    const tables = [...registryOf(modules, () => contract().schema).tables.values()] as AnyTable[];
    const fields = tables.flatMap((table) =>
      Object.entries(table.computed)
        .filter(([, { sql, counts }]) => !counts && typeof sql !== 'function' && isCounting(sql.text))
        .map(([name]) => `${table.name}.${name}`),
    );
    expect(fields).toEqual([]);
  });
});
