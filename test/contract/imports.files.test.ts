import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { importsBy } from '../support/imports.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const { create, made, imported, errorsOf, contactsOf } = importsBy(() => acme.owner);

describe('the lines of a CSV file', () => {
  it.each([
    ['firstName\r\nAda\nBea\r\n"C\nD"\rEve\n', ['Ada', 'Bea', 'C\nD', 'Eve']],
    ['firstName,lastName\nAda,\r\nBea,\rCleo,\n', ['Ada', 'Bea', 'Cleo']],
  ])('may end in several ways: %j', async (csv, names) => {
    const { preview, totalRows } = await made({ csv });
    expect([totalRows, preview.map((row: Loose) => row.fields.firstName)]).toEqual([names.length, names]);
  });
});

describe('a CSV file of another program', () => {
  it('that exports as this one does has every tag under its own name, whatever signs are in it', async () => {
    const [source, target] = [await api.seed.account(), await api.seed.account()];
    const lists = [['Smith, John', 'VIP'], ['a; b'], ['["x"]'], ['[y', 'z'], ['plain', 'other'], ['\uFF1Dsum']];
    for (const [n, tags] of lists.entries()) await source.contact({ firstName: `P${n}`, tags });
    const import_ = await imported({ csv: (await source.owner.get('/contacts/export')).text }, target.owner);
    expect(await errorsOf(import_, target.owner)).toEqual([]);
    const names = (await contactsOf(import_, target.owner)).map((contact) => contact.tags.map((tag: Loose) => tag.name).sort());
    expect(names).toEqual(lists.map((tags) => [...tags].sort()));
  });

  it('with tabs may begin with a column that has no name, and end with an empty cell', async () => {
    const { mapping, preview } = await made({ csv: '\tfirstName\tlastName\tcity\n0\tAda\tLovelace\t\n1\tBea\tB\tRome\n\n' });
    expect(mapping).toEqual({ firstName: 'firstName', lastName: 'lastName', city: 'city' });
    expect(preview.map((row: Loose) => [row.fields, row.error])).toEqual([
      [{ firstName: 'Ada', lastName: 'Lovelace' }, null],
      [{ firstName: 'Bea', lastName: 'B', city: 'Rome' }, null],
    ]);
    expectRefusal(await create({ csv: ' \n\t ' }), 400);
  });

  it('may call a column as people call a custom field', async () => {
    const field = { entityType: 'contact', fieldKey: 'tier', label: 'Contract Tier', fieldType: 'text' };
    dataOf(await acme.owner.post('/custom-fields', field));
    const { mapping } = await made({ csv: 'firstName,contract tier,Nonsense\nAda,gold,x\n' });
    expect(mapping).toEqual({ firstName: 'firstName', 'contract tier': 'customFields.tier' });
  });

  it('may name choices with separators in them, one alone or several as a JSON list', async () => {
    const choices = ['Paris, France', 'Rome', 'a; b'];
    const field = { entityType: 'contact', fieldKey: 'cities', label: 'Cities', fieldType: 'multiselect', options: { choices } };
    dataOf(await acme.owner.post('/custom-fields', field));
    const cells = ['"Paris, France"', '"[""Paris, France"", ""Rome""]"', '"Rome, Rome"', 'a; b', '"Rome,"'];
    const import_ = await imported({ csv: `firstName,Cities\n${cells.map((cell, n) => `C${n},${cell}`).join('\n')}\n` });
    expect((await errorsOf(import_)).map(({ row, field }) => [row, field])).toEqual([[3, 'customFields.cities']]);
    const found = (await contactsOf(import_)).map(({ customFields }) => customFields.cities);
    expect(found).toEqual([['Paris, France'], ['Paris, France', 'Rome'], ['a; b'], ['Rome']]);
  });

  it('may have quotation marks inside its cells', async () => {
    const titles = [`5' 10" tall`, 'said "hi" to me', 'an "open one'];
    const lines = [...titles, '"with, a separator, and ""marks""!"'].map((title, n) => `Q${n},q${n}@example.com,${title}`);
    const import_ = await imported({ csv: `firstName,email,jobTitle\n${lines.join('\n')}\n` });
    expect(import_).toMatchObject({ createdCount: titles.length + 1, errorCount: 0 });
    const found = await contactsOf(import_);
    expect(found.map(({ jobTitle }) => jobTitle).sort()).toEqual([...titles, 'with, a separator, and "marks"!'].sort());
    for (const [cell, told] of [
      ['"never closed', 'not closed'],
      ['"Al"x', 'behind a closing quotation mark'],
    ]) {
      const reply = await create({ csv: `firstName,jobTitle\nA,${cell}\nB,C\n` });
      expectRefusal(reply, 400, 'csv');
      expect(reply.body.error).toContain(told);
    }
  });
});

describe('a column that is called as a field', () => {
  it('is that field’s, whatever column before it has another word for the field', async () => {
    const { mapping } = await made({ csv: 'Title,First Name,Job Title,E-mail Address\nMr.,Ada,Engineer,ada@x.example\n' });
    expect(mapping).toEqual({ 'First Name': 'firstName', 'Job Title': 'jobTitle', 'E-mail Address': 'email' });
    const numbers = { Mobile: '+14155550100', Phone: '+14155550101' };
    const others = { Account: 'Old', Company: 'New', Address: 'a', addressline1: 'b', addressLine1: 'c' };
    const [contact] = await contactsOf(await imported({ rows: [{ firstName: 'Ada', ...numbers, ...others }] }));
    expect(contact).toMatchObject({ firstName: 'Ada', phone: numbers.Phone, company: 'New', addressLine1: 'c' });
  });

  it('is a custom field’s before it is another word for a field', async () => {
    const other = await api.seed.account();
    for (const [fieldKey, label] of [['mobile', 'Mobile'], ['rank', 'Position']]) // biome-ignore format: one line
      dataOf(await other.owner.post('/custom-fields', { entityType: 'contact', fieldKey, label, fieldType: 'text' }));
    const row = { firstName: 'Ada', Title: 'Countess', Position: 'first', mobile: '+14155550101' };
    for (const more of [{}, { phone: '+14155550100' }]) {
      const import_ = await imported({ rows: [{ ...row, ...more }] }, other.owner);
      const [contact] = await contactsOf(import_, other.owner);
      expect(contact).toMatchObject({ phone: null, ...more, jobTitle: 'Countess', customFields: { mobile: row.mobile, rank: 'first' } });
    }
  });

  it('leaves the field to the first of several other words where there is none', async () => {
    expect((await made({ csv: 'firstName,Cell,Mobile\nAda,1,2\n' })).mapping).toEqual({ firstName: 'firstName', Cell: 'phone' });
  });
});

describe('a row in error', () => {
  it('is one with JSON whose member would be the prototype of an object', async () => {
    const other = await api.seed.account();
    const cells = ['{""a"":{""__proto__"":{""b"":1}}}', '{""constructor"":{""prototype"":1}}', '{""constructor"":""Kahn""}'];
    const csv = `firstName,customFields\n${cells.map((cell) => `Ada,"${cell}"`).join('\n')}\n`;
    const import_ = await imported({ csv }, other.owner);
    expect(import_).toMatchObject({ createdCount: 1, errorCount: 2 });
    const error = 'customFields must not have a member called __proto__, or a constructor with a prototype';
    expect(await errorsOf(import_, other.owner)).toMatchObject([1, 2].map((row) => ({ row, field: 'customFields', error })));
    expect((await contactsOf(import_, other.owner)).map(({ customFields }) => customFields)).toEqual([{ constructor: 'Kahn' }]);
  });

  it('has a message that ends with a whole character, however long it would be', async () => {
    const other = await api.seed.account();
    // Of two messages that are cut, one is cut where half of a character would be left.
    const choices = Array.from({ length: 400 }, (_, n) => `\u{1F600}\u{1F600}\u{1F600}\u{1F600} ${n}`);
    for (const fieldKey of ['size', 'sizes']) {
      dataOf(
        await other.owner.post('/custom-fields', {
          entityType: 'contact',
          fieldKey,
          label: 'Size',
          fieldType: 'select',
          options: { choices },
        }),
      );
    }
    const rows = ['size', 'sizes'].map((key) => ({ firstName: 'Ada', [key]: 'none' }));
    const import_ = await imported({ rows: [...rows, { firstName: 'Bea' }] }, other.owner);
    expect(import_).toMatchObject({ status: 'completed', createdCount: 1, errorCount: 2 });
    expect((await errorsOf(import_, other.owner)).map(({ error }) => [...error].length)).toEqual([2000, 2000]);
  });
});
