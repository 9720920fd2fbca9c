import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { pathOf } from '../support/callFlows.js';
import { whileLocked } from '../support/heldUp.js';
import {
  type Account,
  type Client,
  dataOf,
  type KeyClient,
  type Loose,
  minute,
  onPostgres,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';
import { whileReadOnly } from '../support/readOnly.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
  expect((await key.get('/tags')).status).toBe(200);
});
afterAll(() => api.close());

const linesOf = (code: string): Loose[] => api.logs.map((line) => JSON.parse(line)).filter((line) => line.code === code);
const ready = async () => (await api.anybody().raw({ path: '/readyz' })).status;

describe('a database that is read-only', () => {
  it('makes writes 503, answers reads, and is written again once it may be', async () => {
    const list = dataOf(await key.post('/smart-lists', { name: 'All', filters: { field: 'firstName', op: 'is_not_null' } }));
    const tag = await acme.tag('Stays');
    await whileReadOnly(api, async () => {
      // Connections of before may still end under a request.
      await eventually(async () => {
        await key.post('/tags', { name: 'Perhaps' });
        return linesOf('25006').length > 0;
      });
      await eventually(async () => (await key.get('/tags')).status === 200);
      const replies = [
        await key.post('/contacts', { lastName: 'Not now' }),
        await key.post('/contacts', { lastName: 'Not now' }, { 'idempotency-key': 'not-now-1' }),
        await acme.owner.post('/tasks', { title: 'Not now' }),
      ];
      expect(replies.map(({ status, headers, body }) => [status, headers['retry-after'], body.code])).toEqual(
        replies.map(() => [503, '1', 'unavailable']),
      );
      // The database refuses these to their resolvers.
      for (const document of [`deleteSmartList(id: "${list.id}")`, `deleteTag(id: "${tag.id}")`]) {
        const { status, headers, data, errors } = await key.gql(`mutation { ${document} { deletedId } }`);
        expect([status, headers['retry-after'], data, errors?.[0].extensions.code]).toEqual([503, '1', null, 'unavailable']);
      }
      expect((await key.get('/contacts')).body.data.data).toEqual([]);
      expect(await ready()).toBe(200);
    });
    await eventually(async () => (await key.post('/contacts', { lastName: 'Now' }, { 'idempotency-key': 'not-now-1' })).status !== 503);
    expect((await key.get('/contacts')).body.data.data).toHaveLength(1);
  });
});

describe('a form that cannot be kept', () => {
  it('is shown again as it was filled in, and is one submission, however often it is sent until it is', async () => {
    const fields = [
      { key: 'email', type: 'email' },
      { key: 'question', type: 'textarea' },
    ];
    const { id } = dataOf(await acme.owner.post('/forms', { name: 'Ask us', fields }));
    const path = `/f/${id}`;
    const nameIn = (text: string) => /<button name="_once" value="([^"]+)">/.exec(text)?.[1];
    const once = nameIn((await api.anybody().raw({ path })).text)!;
    const payload = new URLSearchParams({ 'data.email': 'kept@example.com', 'data.question': 'Why?', _once: once }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = () => api.anybody().raw({ method: 'POST', path, headers, payload });
    await whileReadOnly(api, async () => {
      // Connections of before may still end under a request.
      const refused: Loose = await eventually(async () => {
        const reply = await send();
        return reply.text.includes('<textarea') && reply;
      });
      expect([refused.status, refused.headers['retry-after'], nameIn(refused.text)]).toEqual([503, '1', once]);
      expect(refused.text).toContain('role="alert">The service is temporarily unavailable: send it once more</p>');
      expect(refused.text).toContain('value="kept@example.com"');
      expect(refused.text).toContain('Why?</textarea>');
    });
    for (let n = 0; n < 2; n++) await eventually(async () => (await send()).status === 200);
    expect(dataOf(await acme.owner.get(`/forms/${id}/submissions`)).data).toHaveLength(1);
  });
});

describe('a mail whose reader cannot be noted', () => {
  /** The link and the pixel of a mail to a new contact, as paths. */
  async function linksOf(email: string): Promise<string[]> {
    const { id } = await acme.contact({ email });
    const bodyHtml = '<a href="https://example.com/offer">Offer</a>';
    dataOf(await acme.owner.post('/email/send-bulk', { contactIds: [id], subject: 'News', body: 'Hello', bodyHtml }));
    const { html }: Loose = await eventually(async () => (await mailsTo(api, email))[0]);
    return [/href="([^"]*\/e\/click\/[^"]*)"/, /src="([^"]*\/e\/open\/[^"]*)"/].map((form) => pathOf(api, form.exec(html)![1]!));
  }
  const noted = (code: string) => linesOf(code).filter(({ msg }) => msg === 'that a mail was read could not be noted');
  const read = async (paths: string[]) => {
    const replies = [];
    for (const path of paths) replies.push(await api.anybody().raw({ path }));
    return replies.map(({ status, headers }) => [status, headers.location]);
  };
  const right = [
    [302, 'https://example.com/offer'],
    [200, undefined],
  ];

  it('leads on while nothing is written', async () => {
    const paths = await linksOf('reader@example.com');
    await whileReadOnly(api, async () => {
      // Connections of before may still end under a request.
      const replies = await eventually(async () => {
        const all = await read(paths);
        return noted('25006').length > 0 && all.every(([status]) => status !== 503) && all;
      });
      expect(replies).toEqual(right);
    });
  });

  onPostgres(it)('leads on while somebody holds the message', async () => {
    const paths = await linksOf('held.reader@example.com');
    const replies = await whileLocked(
      api,
      'select 1 from messages for update',
      () => read(paths),
      () => eventually(() => noted('55P03').length > 0),
    );
    expect(replies).toEqual(right);
  });
});

const tables = ['sessions', 'memberships', 'api_keys'];

/** Whether the last use of sessions, people and keys is noted as after this moment. */
async function isNotedSince(moment: Date): Promise<boolean> {
  const { rows } = await api.app.database.execute(
    `select (select max(last_seen_at) from sessions) >= $1::timestamptz as session,
      (select max(last_active_at) from memberships) >= $1::timestamptz as person,
      (select max(last_used_at) from api_keys) >= $1::timestamptz as key`,
    [moment.toISOString()],
  );
  return Object.values(rows[0] as object).every(Boolean);
}

describe('what only reads', () => {
  /** So that the uses of the session and the key are to be noted anew. */
  const later = () => {
    api.clock.advance(2 * minute);
    return api.clock.now();
  };
  const read = async (caller: Client) => (await caller.get('/tags')).status;

  it('is answered where it cannot be noted that somebody called, which is noted later', async () => {
    const session = await acme.login();
    await api.app.database.execute(`
      create function full_disk() returns trigger language plpgsql as $$ begin
        raise exception 'no room' using errcode = '53100';
      end $$;
      ${tables.map((table) => `create trigger full_disk before update on ${table} for each row execute function full_disk();`).join('\n')}`);
    const moment = later();
    try {
      const reply = await session.get('/tags');
      expect([reply.status, reply.headers['set-cookie']]).toEqual([200, undefined]);
      expect(await read(key)).toBe(200);
    } finally {
      await api.app.database.execute(tables.map((table) => `drop trigger full_disk on ${table};`).join('\n'));
    }
    expect(linesOf('53100')[0]).toMatchObject({ level: 40, msg: 'the use of a session or key could not be noted' });
    await eventually(async () => {
      expect([await read(session), await read(key)]).toEqual([200, 200]);
      return isNotedSince(moment);
    });
  });

  onPostgres(it)('is answered while somebody holds the row of the person, and waits for it no more than once in some seconds', async () => {
    const session = await acme.login();
    const holder = new pg.Client(api.place.databaseUrl);
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select 1 from memberships for update');
      later();
      expect([await read(session), await read(key)]).toEqual([200, 200]);
      // Who calls is looked for anew.
      api.clock.advance(0);
      const begun = performance.now();
      expect([await read(session), await read(key)]).toEqual([200, 200]);
      expect(performance.now() - begun).toBeLessThan(1500);
    } finally {
      await holder.end();
    }
  });
});
