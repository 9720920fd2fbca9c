import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allPlaced } from '../support/automations.js';
import { type Account, dataOf, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let head: number;
/** So many of one name are counted, and more. */
const [most, many] = [10_000, 10_050];

beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  for (let i = 0; i < 3; i++) await acme.contact();
  await allPlaced(acme);
  head = await exact('');
  // Places of events that are gone: they count as those that are there.
  await api.app.database.execute(
    `insert into feed_positions (account_id, pos, seq, name) select $1::uuid, $2::bigint + n, -n, 'tag.updated' from generate_series(1, ${many}) n`,
    [acme.id, head],
  );
  await api.app.database.execute('update feed_heads set pos = $2::bigint where account_id = $1::uuid', [acme.id, head + many]);
});
afterAll(() => api.close());

const meta = async (query: string) => dataOf(await acme.owner.get(`/events?after=latest${query}`)).meta;
const exact = async (query: string): Promise<number> => (await meta(query)).total;

describe('GET /events?count=', () => {
  it('estimated counts names to 10,000 at most, and all there are exactly, since these need no counting', async () => {
    expect((await meta('&names=tag.updated&count=estimated')).total).toBe(most);
    expect((await meta('&names=contact.created&count=estimated')).total).toBe(3);
    expect((await meta('&count=estimated')).total).toBe(head + many);
    const { data } = await acme.owner.gql('{ events(names: ["tag.updated"], count: estimated, first: 1) { totalCount } }');
    expect(data.events.totalCount).toBe(most);
  });

  it('exact is what it is without', async () => {
    expect(await exact('&names=tag.updated&count=exact')).toBe(many);
    expect(await exact('&names=tag.updated')).toBe(many);
  });

  it('none counts nothing, and is one of three', async () => {
    expect(await meta('&names=tag.updated&count=none')).toMatchObject({ total: null });
    expectRefusal(await acme.owner.get('/events?count=some'), 400, 'count');
  });
});
