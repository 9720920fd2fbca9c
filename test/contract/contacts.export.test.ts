import { type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { importsBy } from '../support/imports.js';
import { type Account, dataOf, expectRefusal, type KeyClient, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());

/** Many contacts that are each large, so that nobody takes them all before they are asked for. Answers how many. */
async function manyLarge(account = acme, pages = 40): Promise<number> {
  const { id } = await account.contact({ firstName: 'Large' });
  // Not in one statement: beside other tests it would take longer than a statement may.
  for (let page = 0; page < pages; page += 4) {
    await api.app.database.execute(`
      insert into contacts (account_id, id, first_name, custom_fields, created_at, updated_at)
      select account_id, gen_random_uuid(), first_name, jsonb_build_object('text', repeat('x', 20000)), created_at, updated_at
      from contacts, generate_series(1, 800) where id = '${id}'`);
  }
  return pages * 200 + 1;
}

/** The export as a client reads it who stops after the first bytes. */
async function begun({ secret } = key, query = ''): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${secret}` };
  const outgoing = request({ host: '127.0.0.1', port: api.wire.port, path: `/api/v1/contacts/export?${query}`, headers });
  outgoing.end();
  const incoming = await new Promise<IncomingMessage>((resolve) => outgoing.once('response', resolve));
  const first = await new Promise<Buffer>((resolve) => {
    incoming.once('data', (chunk: Buffer) => {
      incoming.pause();
      resolve(chunk);
    });
  });
  incoming.unshift(first);
  return incoming;
}

/** First and last names of all its rows. Throws where it breaks. */
async function namesIn(incoming: IncomingMessage): Promise<string[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const [, ...rows] = Buffer.concat(chunks).toString().trimEnd().split('\r\n');
  return rows.map((row) => row.split(',', 2).join(' '));
}

describe('GET /contacts/export', () => {
  it.each([
    ['a filter about a field that is none', `filters=${encodeURIComponent('{"field":"password","op":"eq","value":"x"}')}`, 'filters'],
    ['a filter that is no JSON', 'filters=%7B', 'filters'],
    ['a saved list that is none', 'smart_list_id=nonsense', 'smart_list_id'],
    ['a sort that is none', 'sort=password', 'sort'],
    ['a date that is none', 'created_from=yesterday', 'created_from'],
  ])('refuses %s before the first byte', async (_what, query, field) => {
    const reply = await key.get(`/contacts/export?${query}`);
    expectRefusal(reply, 400);
    expect(reply.body.details?.[0].field).toMatch(new RegExp(`^${field}`));
  });

  it('that breaks on the way does not look complete', async () => {
    await manyLarge();
    const incoming = await begun();
    expect(incoming.statusCode).toBe(200);
    let end = '';
    incoming.once('end', () => (end = 'complete'));
    incoming.once('error', ({ message }) => (end = message));
    await api.app.database.execute('alter table contacts rename to contacts_away');
    try {
      incoming.resume();
      await eventually(() => end, 60_000);
      expect({ end, complete: incoming.complete }).toEqual({ end: 'aborted', complete: false });
      expect(incoming.readableDidRead).toBe(true);
    } finally {
      await api.app.database.execute('alter table contacts_away rename to contacts');
    }
  });

  it.each([
    ['revoked', (id: string) => acme.owner.del(`/api-keys/${id}`)],
    ['kept to other scopes', (id: string) => acme.owner.patch(`/api-keys/${id}`, { scopes: ['tags'] })],
  ])('reads on no more, and does not look complete, when its key is %s', async (_what, change) => {
    const short = await acme.key();
    const incoming = await begun(short);
    dataOf(await change(short.record.id));
    // What was known of the key holds for a second.
    await delay(1100);
    await expect(namesIn(incoming)).rejects.toThrow('aborted');
    expect(incoming.complete).toBe(false);
  });

  it('reads on no more when the client is gone', async () => {
    const incoming = await begun();
    incoming.destroy();
    const alone = 1;
    await eventually(async () => (await api.statements(() => key.get('/tags'))) === alone);
  });
});

describe('an export that is on its way', () => {
  let home: Account;
  let reader: KeyClient;
  let changing: string;
  let all: number;
  beforeAll(async () => {
    home = await api.seed.account();
    reader = await home.key();
    changing = (await home.contact({ firstName: 'Ada', lastName: 'Lovelace' })).id;
    all = (await manyLarge(home, 12)) + 1;
  });

  const savedList = async (fields: object = {}): Promise<string> => {
    const filters = { field: 'firstName', op: 'in', value: ['Ada', 'Large'] };
    return dataOf(await home.owner.post('/smart-lists', { name: 'All', filters, ...fields })).id;
  };

  it.each([
    ['the last one by the latest change', async () => 'sort=updatedAt'],
    [
      'the first one of a saved list by the first change',
      async () => `smart_list_id=${await savedList({ sort: 'updatedAt', order: 'asc' })}`,
    ],
  ])('has a contact once that is changed meanwhile: %s', async (what, query) => {
    await api.app.database.execute(`update contacts set updated_at = '2020-01-01' where id = '${changing}'`);
    const incoming = await begun(reader, await query());
    dataOf(await home.owner.patch(`/contacts/${changing}`, { jobTitle: what }));
    const names = await namesIn(incoming);
    expect(names.filter((name) => name === 'Ada Lovelace')).toHaveLength(1);
    expect(names).toHaveLength(all);
  });

  it.each([
    ['deleted', (id: string) => home.owner.del(`/smart-lists/${id}`)],
    ['about others', (id: string) => home.owner.patch(`/smart-lists/${id}`, { filters: { field: 'firstName', value: 'Nobody' } })],
  ])('is whole where its saved list is %s meanwhile', async (_what, replace) => {
    const id = await savedList();
    const incoming = await begun(reader, `smart_list_id=${id}`);
    dataOf(await replace(id));
    expect(await namesIn(incoming)).toHaveLength(all);
  });

  it('leaves out who is deleted before their row is read, whatever the order', async () => {
    await api.app.database.execute(`update contacts set updated_at = '2020-01-01' where id = '${changing}'`);
    const incoming = await begun(reader, 'sort=updatedAt');
    dataOf(await home.owner.del(`/contacts/${changing}`));
    const names = await namesIn(incoming);
    expect([names.includes('Ada Lovelace'), names.length]).toEqual([false, all - 1]);
  });
});

describe('the CSV', () => {
  it('of the export is streamed with the template’s columns, filters honoured and formulas disarmed', async () => {
    const other = await api.seed.account();
    await other.contact({ firstName: '=1+1', lastName: '@SUM(A1)', company: 'a "quoted", company', city: '-2', tags: ['x', 'y'] });
    await other.contact({ firstName: 'Left out', source: 'elsewhere' });
    const reply = await other.owner.get('/contacts/export?tag=x');
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(reply.headers['content-disposition']).toMatch(/^attachment; filename="/);
    const [header, row, ...rest] = reply.text.trimEnd().split('\r\n');
    expect(row).toMatch(/^'=1\+1,'@SUM\(A1\),,,"a ""quoted"", company",.*'-2/);
    expect(row).toContain('"x, y"');
    expect(rest).toEqual([]);
    const template = await other.owner.get('/contacts/import/template');
    expect(template.text.split('\r\n')[0]).toBe(header);
  });

  it('begins with a byte order mark where that is asked for, and comes back as it was', async () => {
    const other = await api.seed.account();
    const { id } = await other.contact({ firstName: 'Jürgen', lastName: 'Müller', email: 'juergen@bom.example', city: 'a, "b"' });
    for (const path of ['/contacts/export', '/contacts/import/template']) {
      const plain = (await other.owner.get(path)).text;
      expect(plain).toMatch(/^firstName,/);
      expect((await other.owner.get(`${path}?bom=true`)).text).toBe(`\uFEFF${plain}`);
      expect((await other.owner.get(`${path}?bom=false`)).text).toBe(plain);
      expectRefusal(await other.owner.get(`${path}?bom=perhaps`), 400, 'bom');
    }
    const before = dataOf(await other.owner.get(`/contacts/${id}`));
    const csv = (await other.owner.get('/contacts/export?bom=1&search=juergen')).text;
    const { imported } = importsBy(() => other.owner);
    expect(await imported({ csv, mode: 'update' })).toMatchObject({ totalRows: 1, updatedCount: 1, errorCount: 0 });
    expect(dataOf(await other.owner.get(`/contacts/${id}`))).toEqual(before);
  });

  it('has one row of a contact whose texts have line breaks of any kind, and none begins with what stands behind one', async () => {
    const other = await api.seed.account();
    const texts = {
      addressLine1: '12 Main St\nApt 4',
      addressLine2: 'Back\rdoor',
      city: 'Rome\r\nLazio',
      source: "web\n=cmd|'/C calc'!A0",
    };
    const { id } = await other.contact({ firstName: 'Bea', email: 'bea@breaks.example', ...texts, tags: ['one\nmore'] });
    const before = dataOf(await other.owner.get(`/contacts/${id}`));
    expect(before).toMatchObject(texts);
    const csv = (await other.owner.get('/contacts/export')).text;
    for (const cell of [...Object.values(texts), 'one\nmore']) expect(csv).toContain(`,"${cell}",`);
    const { imported } = importsBy(() => other.owner);
    expect(await imported({ csv, mode: 'update' })).toMatchObject({ totalRows: 1, updatedCount: 1, errorCount: 0 });
    expect(dataOf(await other.owner.get(`/contacts/${id}`))).toEqual(before);
  });
});
