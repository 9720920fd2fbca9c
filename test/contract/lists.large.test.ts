import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allPlaced, aTask } from '../support/automations.js';
import { aFlow, graph } from '../support/callFlows.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { whenever } from '../support/largePages.js';

let api: TestServer;
let acme: Account;
/** What a list of call flows shows of them, the newest first. */
let flows: Loose[];
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  // Sizes that no portion fits twice in the same way: from 40 KB to 900 KB.
  for (let n = 1; n <= 17; n++) {
    await aFlow(acme, {
      name: `Flow ${n}`,
      draftGraph: graph({ id: 'in', kind: 'hangup', message: 'é'.repeat((n % 4) * 144_000 + 20_000) }),
    });
    api.clock.advance(1000);
  }
  flows = (await page('page=1&per_page=2', 9)).flatMap(({ data }) => data);
});
afterAll(() => api.close());

const list = async (query: string): Promise<Loose> => dataOf(await acme.owner.get(`/call-flows?${query}`));
/** So many pages, the first of them by the query. */
async function page(query: string, pages: number): Promise<Loose[]> {
  const all = [await list(query)];
  while (all.length < pages) all.push(await list(`per_page=2&cursor=${encodeURIComponent(all.at(-1)!.meta.next_cursor)}`));
  return all;
}

const largest = 4 * 1024 * 1024;

/** The bytes that each statement prints meanwhile. */
async function printedBy(work: () => Promise<unknown>): Promise<number[]> {
  const printed: number[] = [];
  const note = (answer: string) => printed.push(Buffer.byteLength(answer)) > 0;
  await whenever(api, note, () => undefined, work);
  return printed;
}

describe('a page of large records', () => {
  it('is whole, with its total and the cursor after its last record', async () => {
    expect(flows.map(({ name }) => name)).toEqual(Array.from({ length: 17 }, (_, n) => `Flow ${17 - n}`));
    const whole = await acme.owner.get('/call-flows?per_page=200');
    expect(Buffer.byteLength(whole.text)).toBeGreaterThan(1.5 * largest);
    expect(whole.body.data).toEqual({ data: flows, meta: { page: 1, per_page: 200, total: 17, totalPages: 1, next_cursor: null } });
    const first = await list('per_page=12');
    expect(first).toEqual({ data: flows.slice(0, 12), meta: { ...first.meta, total: 17, totalPages: 2, next_cursor: expect.any(String) } });
    expect((await list(`per_page=12&cursor=${encodeURIComponent(first.meta.next_cursor)}`)).data).toEqual(flows.slice(12));
  });

  it.each([11, 6, 10])('may be any page, of %i records', async (size) => {
    for (let nth = 1; (nth - 1) * size < 17; nth++) {
      const { data, meta } = await list(`page=${nth}&per_page=${size}&count=none`);
      expect(data).toEqual(flows.slice((nth - 1) * size, nth * size));
      expect(meta).toMatchObject({ page: nth, per_page: size, total: null, next_cursor: nth * size < 17 ? expect.any(String) : null });
    }
  });

  it('takes filters and refusals as any other', async () => {
    expect((await list('per_page=200&is_published=false')).data).toEqual(flows);
    expect((await list('per_page=200&is_published=true')).data).toEqual([]);
    expect((await acme.owner.get('/call-flows?per_page=200&cursor=nonsense')).status).toBe(400);
  });

  it('is read as the client takes it: no statement prints all of it', async () => {
    const printed = await printedBy(() => list('per_page=200'));
    expect(printed.filter((bytes) => bytes > largest / 2).length).toBeGreaterThan(1);
    expect(Math.max(...printed)).toBeLessThanOrEqual(largest);
  });

  it('is read no further than its first records where HEAD asks for it', async () => {
    const printed = await printedBy(async () => {
      const head = await acme.owner.raw({ method: 'HEAD', path: '/api/v1/call-flows?per_page=200' });
      expect([head.status, head.text]).toEqual([200, '']);
      // What is asked after it comes after whatever it left running.
      for (let n = 0; n < 20; n++) await list('per_page=1&is_published=true');
    });
    expect(printed.filter((bytes) => bytes > 100_000)).toHaveLength(1);
  });
});

describe('a page of large records whose end its headers tell', () => {
  it('is followed by the page after the cursor of its last record', async () => {
    const { owner } = await api.seed.account();
    for (let n = 1; n <= 7; n++) {
      const nodes = [aTask('one', undefined, 'é'.repeat(350_000))];
      dataOf(await owner.post('/automations', { name: `Automation ${n}`, graph: { startNodeId: 'one', nodes } }));
      api.clock.advance(1000);
    }
    const read = async (query: string) => {
      const { body, headers } = await owner.get(`/automations?${query}`);
      return { names: body.data.map(({ name }: Loose) => name.at(-1)).join(''), cursor: headers['x-next-cursor'] as string, headers };
    };
    expect((await read('per_page=7')).names).toBe('7654321');
    const first = await read('per_page=6');
    expect([first.names, first.headers['x-total-count'], typeof first.cursor]).toEqual(['765432', '7', 'string']);
    const last = await read(`cursor=${encodeURIComponent(first.cursor)}`);
    expect([last.names, last.cursor]).toEqual(['1', undefined]);
    const all = await read('sort=name&order=asc');
    expect([all.names, all.cursor]).toEqual(['1234567', undefined]);
    // The cursor is told when two portions were read, the second of which is read once more.
    let portion = 0;
    const make = () => owner.post('/automations', { name: 'Automation 55' });
    await whenever(
      api,
      (answer) => answer.length > 100_000 && ++portion === 2,
      make,
      () => expect(read('per_page=6&sort=name&order=asc')).rejects.toThrow(),
    );
    expect((await read('per_page=6&sort=name&order=asc')).names).toBe('123455');
  });
});

describe('a page of large records whose last ones go while it is read', () => {
  const text = 'é'.repeat(350_000);
  const makers = {
    '/call-flows': (account: Account, name: string) =>
      aFlow(account, { name, draftGraph: graph({ id: 'in', kind: 'hangup', message: text }) }),
    // Its headers tell where it ends, so its last portion is read twice.
    '/automations': async ({ owner }: Account, name: string) =>
      dataOf(await owner.post('/automations', { name, graph: { startNodeId: 'one', nodes: [aTask('one', undefined, text)] } })),
  };

  it.each([
    ['/call-flows', 1],
    ['/automations', 2],
  ] as const)('ends with the one before: %s', async (path, portions) => {
    const account = await api.seed.account();
    const made: Loose[] = [];
    for (let n = 1; n <= 7; n++) {
      made.push(await makers[path](account, `${n}`));
      api.clock.advance(1000);
    }
    const read = async () => {
      const { body } = await account.owner.get(`${path}?per_page=7`);
      return (Array.isArray(body.data) ? body.data : body.data.data).map(({ name }: Loose) => name).join('');
    };
    expect(await read()).toBe('7654321');
    let portion = 0;
    const isSo = (answer: string) => answer.length > 100_000 && ++portion === portions;
    const remove = async () => {
      const ids = made.slice(0, 5).map(({ id }) => id);
      await api.app.database.execute(`delete from ${path.slice(1).replace('-', '_')} where id = any($1::uuid[])`, [ids]);
    };
    let names = '';
    await whenever(api, isSo, remove, async () => {
      names = await read();
    });
    expect(await read()).toBe('76');
    expect('7654321'.startsWith(names) && names.length < 7).toBe(true);
  });
});

describe('a page of large events', () => {
  const read = async ({ owner }: Account, query: string): Promise<Loose> => dataOf(await owner.get(`/events?${query}`));

  /** A workspace with twelve events, of sizes from 100 KB to 1 MB, and what the feed shows of them. */
  async function told() {
    const account = await api.seed.account();
    await api.app.database.execute(
      `insert into outbox_events (account_id, id, name, entity_type, entity_id, data, actor_kind, created_at)
      select $1::uuid, gen_random_uuid(), 'contact.updated', 'contact', gen_random_uuid(),
        json_build_object('city', repeat(chr(96 + n), n % 4 * 300000 + 100000)), 'system', $2::timestamptz
      from generate_series(1, 12) n`,
      [account.id, api.clock.now().toISOString()],
    );
    api.app.eventsWritten();
    await allPlaced(account);
    const events: Loose[] = [];
    for (let n = 0; n < 12; n += 2) events.push(...(await read(account, `per_page=2&after=${n}`)).data);
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 12 }, (_, n) => String(n + 1)));
    return { account, events };
  }

  it('is whole and told the position of its end, and no statement answers all of it', async () => {
    const { account, events } = await told();
    const pages: Loose[] = [];
    const printed = await printedBy(async () => {
      for (const query of ['', '&names=contact.updated']) pages.push(await read(account, `per_page=200${query}`));
    });
    const meta = { page: 1, per_page: 200, total: 12, totalPages: 1, next_cursor: null, position: '12' };
    for (const page of pages) expect(page).toEqual({ data: events, meta });
    expect(printed.filter((bytes) => bytes > largest / 2).length).toBeGreaterThan(2);
    expect(Math.max(...printed)).toBeLessThanOrEqual(largest);
  });

  it('is followed by the page after the position that it tells', async () => {
    const { account, events } = await told();
    const first = await read(account, 'per_page=7');
    expect(first).toEqual({ data: events.slice(0, 7), meta: expect.objectContaining({ total: 12, next_cursor: '7', position: '7' }) });
    const last = await read(account, `per_page=7&after=${first.meta.position}`);
    expect(last).toEqual({ data: events.slice(7), meta: expect.objectContaining({ next_cursor: null, position: '12' }) });
  });
});

describe('a page of the large records of another', () => {
  const execute = (text: string, values: unknown[]) => api.app.database.execute(text, values);
  /** Of what makes twelve rows: how large each is, from 100 KB to 1 MB, and when it was made, the newest first. */
  const [value, at] = ["json_build_object('city', repeat(chr(96 + n), n % 4 * 300000 + 100000))", 'now() - make_interval(mins => n)'];

  async function deliveries({ id: account, owner }: Account): Promise<string> {
    const { id } = dataOf(await owner.post('/webhooks/manage', { url: 'https://example.com/hook', events: ['contact.created'] }));
    await execute(
      `insert into webhook_deliveries (account_id, id, webhook_id, source_id, event_id, event, body, status, created_at, updated_at)
      select $1::uuid, gen_random_uuid(), $2::uuid, $2::uuid, gen_random_uuid(), 'contact.created', ${value}::text, 'delivered', ${at}, ${at}
      from generate_series(1, 12) n`,
      [account, id],
    );
    return `/webhooks/manage/${id}/deliveries`;
  }

  async function runs({ id: account, owner }: Account): Promise<string> {
    const { id } = dataOf(await owner.post('/workflows', { name: 'W', trigger: { event: 'contact.created' }, actions: [] }));
    await execute(
      `insert into workflow_runs (account_id, id, workflow_id, workflow_name, trigger_event, trigger_data, status, event_at, started_at,
        completed_at, duration_ms, created_at, updated_at)
      select $1::uuid, gen_random_uuid(), $2::uuid, 'W', 'contact.created', ${value}::jsonb, 'success', ${at}, ${at}, ${at}, 0, ${at}, ${at}
      from generate_series(1, 12) n`,
      [account, id],
    );
    return `/workflows/${id}/runs`;
  }

  it.each([
    ['deliveries', deliveries],
    ['runs', runs],
  ])('is whole, and no statement answers all of it: %s', async (_name, made) => {
    const account = await api.seed.account();
    const path = await made(account);
    const read = async (query: string): Promise<Loose> => dataOf(await account.owner.get(`${path}?${query}`));
    const all: Loose[] = [];
    for (let nth = 1; nth <= 6; nth++) all.push(...(await read(`per_page=2&page=${nth}`)).data);
    expect(new Set(all.map(({ id }) => id)).size).toBe(12);
    let whole: Loose = {};
    const printed = await printedBy(async () => {
      whole = await read('per_page=200');
    });
    expect(whole).toEqual({ data: all, meta: { page: 1, per_page: 200, total: 12, totalPages: 1, next_cursor: null } });
    expect(printed.filter((bytes) => bytes > largest / 2).length).toBeGreaterThan(1);
    expect(Math.max(...printed)).toBeLessThanOrEqual(largest);
    const first = await read('per_page=7');
    expect([first.data, first.meta.total]).toEqual([all.slice(0, 7), 12]);
    expect((await read(`per_page=7&cursor=${encodeURIComponent(first.meta.next_cursor)}`)).data).toEqual(all.slice(7));
  });
});
