import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, expectRefusal, type KeyClient, server, type TestServer } from '../support/index.js';
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

const pages = 40;

/** Many contacts that are each large, so that nobody takes them all before they are asked for. */
async function manyLarge(): Promise<void> {
  const { id } = await acme.contact({ firstName: 'Large' });
  // Not in one statement: beside other tests it would take longer than a statement may.
  for (let page = 0; page < pages; page += 4) {
    await api.app.database.execute(`
      insert into contacts (account_id, id, first_name, custom_fields, created_at, updated_at)
      select account_id, gen_random_uuid(), first_name, jsonb_build_object('text', repeat('x', 20000)), created_at, updated_at
      from contacts, generate_series(1, 800) where id = '${id}'`);
  }
}

/** The export as a client reads it who stops after the first bytes. */
async function begun(): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${key.secret}` };
  const outgoing = request({ host: '127.0.0.1', port: api.wire.port, path: '/api/v1/contacts/export', headers });
  outgoing.end();
  const incoming = await new Promise<IncomingMessage>((resolve) => outgoing.once('response', resolve));
  await new Promise<void>((resolve) => incoming.once('data', () => resolve()));
  incoming.pause();
  return incoming;
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

  it('reads on no more when the client is gone', async () => {
    const incoming = await begun();
    incoming.destroy();
    const alone = 1;
    await eventually(async () => (await api.statements(() => key.get('/tags'))) === alone);
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
});
