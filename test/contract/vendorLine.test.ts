import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import type { SimulatedLines } from '../../src/vendors/line/simulated.js';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { toldIn } from '../support/told.js';

let api: TestServer;
let acme: Account;
let shops = 0;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());
afterEach(() => vendor().down(false));

const vendor = () => (api.app.vendors.line as SimulatedLines).simulator;
const settings = '/settings/vendor-line';

/** A workspace with a key of an account of the vendor that is its own. */
async function connected() {
  const name = `shop${++shops}`;
  acme = await api.seed.account();
  dataOf(await acme.owner.put(settings, { apiKey: `line_${name}` }));
  const assign = (nth: number, userId: unknown) => acme.owner.put(`${settings}/lines/${name}-${nth}`, { userId });
  const holders = async () =>
    Object.fromEntries(dataOf(await acme.owner.get(settings)).assignments.map((one: Loose) => [one.lineId, one.user.id]));
  return { name, assign, holders, owner: acme.owner, account: acme };
}

describe('PUT /settings/vendor-line', () => {
  it('keeps a key that the vendor verified, and shows it masked', async () => {
    const { owner, account } = await connected();
    const told = await toldIn(account, async () => {
      const reply = await owner.put(settings, { apiKey: 'line_other.0123456789' });
      expect(reply.status).toBe(200);
      expect(reply.body.data).toEqual({ provider: 'vendor_line', status: 'connected', apiKey: '****6789', assignments: [] });
    });
    const row = await api.app.database.prisma.vendorConnection.findFirstOrThrow({ where: { accountId: account.id } });
    expect(told.events).toEqual([`vendor_connection.updated ${row.id}`]);
    expect(row).toMatchObject({ generation: 2, vendorAccount: 'other' });
    expect(JSON.stringify([row, told.rows.map(({ data, changes }) => ({ data, changes }))])).not.toContain('0123456789');
    expect(dataOf(await owner.get(settings)).apiKey).toBe('****6789');
    dataOf(await owner.put(settings, { apiKey: 'line_short' }));
    expect(dataOf(await owner.get(settings)).apiKey).toBe('****');
  });

  it('keeps nothing of a key that is rejected or cannot be verified', async () => {
    const { owner, account } = await connected();
    const fresh = await api.seed.account();
    await expectNothingWritten(api, async () => {
      for (const client of [owner, fresh.owner]) {
        expect((await client.put(settings, { apiKey: 'wrong' })).body).toMatchObject({ code: 'key_rejected' });
        vendor().down(true);
        const down = await client.put(settings, { apiKey: 'line_good' });
        expect([down.status, down.body.code]).toEqual([502, 'vendor_unavailable']);
        vendor().down(false);
      }
      for (const apiKey of [undefined, null, '', ' ', 'x'.repeat(513), 5])
        expectRefusal(await owner.put(settings, { apiKey }), 422, 'apiKey');
    });
    expect(dataOf(await fresh.owner.get(settings))).toMatchObject({ status: 'not_configured', apiKey: null });
    expect(account.id).not.toBe(fresh.id);
  });

  it('releases the lines that the new key cannot see, and keeps the others', async () => {
    const { name, assign, holders, owner, account } = await connected();
    dataOf(await assign(1, account.ownerId));
    dataOf(await assign(2, (await account.member()).userId));
    vendor().keep(name, [`${name}-1`]);
    dataOf(await owner.put(settings, { apiKey: `line_${name}.second` }));
    expect(await holders()).toEqual({ [`${name}-1`]: account.ownerId });
    dataOf(await owner.put(settings, { apiKey: `line_another${shops}` }));
    expect(await holders()).toEqual({});
  });
});

describe('the key of a workspace', () => {
  it('is the last of those that come at once', async () => {
    const fresh = await api.seed.account();
    const replies = await Promise.all(Array.from({ length: 5 }, (_, i) => fresh.owner.put(settings, { apiKey: `line_many.${i}` })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await api.app.database.prisma.vendorConnection.findMany({ where: { accountId: fresh.id } })).toMatchObject([{ generation: 5 }]);
  });

  it('takes settings:edit', async () => {
    const { account } = await connected();
    const member = await account.member();
    expect((await member.get(settings)).status).toBe(200);
    for (const refused of [
      await member.put(settings, { apiKey: 'line_x' }),
      await member.del(settings),
      await member.get(`${settings}/lines`),
      await member.put(`${settings}/lines/x`, { userId: null }),
    ])
      expectRefusal(refused, 403);
  });
});

describe('DELETE /settings/vendor-line', () => {
  it('forgets the key and releases every line', async () => {
    const { assign, owner, account } = await connected();
    dataOf(await assign(1, account.ownerId));
    const gone = { provider: 'vendor_line', status: 'not_configured', apiKey: null, assignments: [] };
    const told = await toldIn(account, async () => expect(dataOf(await owner.del(settings))).toEqual(gone));
    expect(told.events.map((event) => event.split(' ')[0])).toEqual(['line_assignment.deleted', 'vendor_connection.deleted']);
    expect(dataOf(await owner.get(settings))).toEqual(gone);
    expect(dataOf(await owner.del(settings))).toEqual(gone);
  });
});

describe('GET /settings/vendor-line/lines', () => {
  it('shows what the vendor lists with its agents, and assignments that it no longer lists', async () => {
    const { name, assign, owner, account } = await connected();
    const { userId } = await account.member();
    dataOf(await assign(1, account.ownerId));
    dataOf(await assign(3, userId));
    vendor().keep(name, [`${name}-1`, `${name}-2`]);
    const { lines, orphaned } = dataOf(await owner.get(`${settings}/lines`));
    expect(lines).toMatchObject([
      { lineId: `${name}-1`, name: 'Line 1', assignedTo: { userId: account.ownerId } },
      { lineId: `${name}-2`, name: 'Line 2', assignedTo: null },
    ]);
    expect(orphaned).toMatchObject([{ lineId: `${name}-3`, label: 'Line 3', user: { id: userId, isActive: true } }]);
    // What the vendor no longer lists can be released.
    expect(dataOf(await assign(3, null)).released).toMatchObject([{ lineId: `${name}-3`, userId }]);
    expect(dataOf(await owner.get(`${settings}/lines`)).orphaned).toEqual([]);
  });

  it('says what stands in the way', async () => {
    const { name, owner } = await connected();
    vendor().down(true);
    expect((await owner.get(`${settings}/lines`)).body).toMatchObject({ code: 'vendor_unavailable' });
    vendor().down(false);
    vendor().revoke(`line_${name}`);
    expect((await owner.get(`${settings}/lines`)).body).toMatchObject({ code: 'key_rejected' });
    dataOf(await owner.del(settings));
    expect((await owner.get(`${settings}/lines`)).body).toMatchObject({ code: 'not_configured' });
  });
});

describe('PUT /settings/vendor-line/lines/{lineId}', () => {
  it('releases the previous holder and the previous line in the same step, and reports both', async () => {
    const { name, assign, holders, account } = await connected();
    const { userId } = await account.member();
    const first = dataOf(await assign(1, account.ownerId));
    expect(first).toMatchObject({ lineId: `${name}-1`, label: 'Line 1', assignedTo: { userId: account.ownerId }, released: [] });
    dataOf(await assign(2, userId));
    const told = await toldIn(account, async () => {
      const { released } = dataOf(await assign(1, userId));
      expect(released.map((one: Loose) => [one.lineId, one.userId]).sort()).toEqual([
        [`${name}-1`, account.ownerId],
        [`${name}-2`, userId],
      ]);
    });
    const names = told.rows.map((event) => event.name).sort();
    expect(names).toEqual(['line_assignment.created', 'line_assignment.deleted', 'line_assignment.deleted']);
    expect(told.rows.at(-1)!.data).toMatchObject({ lineId: `${name}-1`, user: { id: userId, isActive: true } });
    expect(await holders()).toEqual({ [`${name}-1`]: userId });
    // Once more changes nothing.
    const again = await toldIn(account, async () => expect(dataOf(await assign(1, userId)).released).toEqual([]));
    expect(again.events).toEqual([]);
    expect(dataOf(await assign(1, null))).toMatchObject({ assignedTo: null, released: [{ userId }] });
    expect(await holders()).toEqual({});
    expect(dataOf(await assign(1, null)).released).toEqual([]);
  });

  it('says what is wrong', async () => {
    const { name, assign, owner, account } = await connected();
    const refusal = async (nth: number | string, body: object) => {
      const { status, body: answer } = await owner.put(`${settings}/lines/${name}-${nth}`, body);
      return [status, answer.code];
    };
    const removed = await account.member();
    dataOf(await owner.del(`/users/${removed.userId}`));
    const { ownerId: foreign } = await api.seed.account();
    expectRefusal(await owner.put(`${settings}/lines/${name}-1`, {}), 400, 'userId');
    expectRefusal(await assign(1, 'nobody'), 400, 'userId');
    expect(await refusal(9, { userId: account.ownerId })).toEqual([404, 'line_not_found']);
    expect(await refusal('%00', { userId: account.ownerId })).toEqual([404, 'line_not_found']);
    for (const userId of [v4(), removed.userId, foreign]) expect(await refusal(1, { userId })).toEqual([404, 'user_not_found']);
    vendor().down(true);
    expect(await refusal(1, { userId: account.ownerId })).toEqual([502, 'vendor_unavailable']);
    vendor().down(false);
    dataOf(await owner.del(settings));
    expect(await refusal(9, { userId: v4() })).toEqual([409, 'not_configured']);
  });
});

describe('an assignment to the agent who has the line', () => {
  it('makes it anew where the vendor has another number or label of the line by now', async () => {
    const { name, assign, holders, owner, account } = await connected();
    for (const changed of [{}, { number: '+16285550199' }, { name: 'Sales' }]) {
      Object.assign(vendor().lines(name)[0]!, changed);
      const { number, name: label } = vendor().lines(name)[0]!;
      const told = await toldIn(account, async () => {
        const answer = dataOf(await assign(1, account.ownerId));
        expect(answer).toMatchObject({ phoneNumber: number, label, assignedTo: { userId: account.ownerId }, released: [] });
      });
      const isFirst = Object.keys(changed).length === 0;
      const names = told.rows.map((event) => event.name);
      expect(names).toEqual([...(isFirst ? [] : ['line_assignment.deleted']), 'line_assignment.created']);
      expect(told.rows.at(-1)!.data).toMatchObject({ phoneNumber: number, label });
      expect(dataOf(await owner.get(settings)).assignments).toMatchObject([{ lineId: `${name}-1`, phoneNumber: number, label }]);
    }
    expect(await holders()).toEqual({ [`${name}-1`]: account.ownerId });
  });
});

describe('an assignment', () => {
  it('is refused where the key was replaced while the vendor was asked', async () => {
    const { name, assign, holders, owner, account } = await connected();
    for (const meanwhile of [
      () => owner.put(settings, { apiKey: `line_${name}.new` }),
      // The same key, but connected anew.
      async () => {
        dataOf(await owner.del(settings));
        return owner.put(settings, { apiKey: `line_${name}` });
      },
    ]) {
      vendor().meanwhile(async () => void dataOf(await meanwhile()));
      expect((await assign(1, account.ownerId)).body).toMatchObject({ code: 'credentials_changed' });
      expect(await holders()).toEqual({});
    }
    vendor().meanwhile(async () => void dataOf(await owner.del(settings)));
    const { status, body } = await assign(1, account.ownerId);
    expect([status, body.code]).toEqual([409, 'credentials_changed']);
  });

  it('is refused where the line or the agent was moved while the vendor was asked', async () => {
    const { name, assign, holders, account } = await connected();
    const { userId } = await account.member();
    vendor().meanwhile(async () => void dataOf(await assign(1, userId)));
    const line = await assign(1, account.ownerId);
    expect([line.status, line.body.code]).toEqual([409, 'conflict']);
    vendor().meanwhile(async () => void dataOf(await assign(2, userId)));
    expect((await assign(3, userId)).body).toMatchObject({ code: 'conflict' });
    expect(await holders()).toEqual({ [`${name}-2`]: userId });
  });
});

describe('lines', () => {
  it('go to one of many at once', async () => {
    const { name, assign, holders, account } = await connected();
    const agents: string[] = [];
    for (let n = 0; n < 10; n++) agents.push((await account.member()).userId);
    const replies = await Promise.all(agents.flatMap((userId) => [assign(1, userId), assign(2, userId)]));
    for (const { status, body } of replies) expect([200, 409]).toContain(status === 409 && body.code !== 'conflict' ? body.code : status);
    expect(replies.some(({ status }) => status === 200)).toBe(true);
    const held = await holders();
    expect(new Set(Object.values(held)).size).toBe(Object.keys(held).length);
    expect(Object.keys(held).every((id) => [`${name}-1`, `${name}-2`].includes(id))).toBe(true);
  });

  it('are free once their agent is removed, also while it is assigned', async () => {
    const { assign, holders, owner, account } = await connected();
    const { userId } = await account.member();
    dataOf(await assign(1, userId));
    const told = await toldIn(account, async () => void dataOf(await owner.del(`/users/${userId}`)));
    expect(told.rows.map(({ name }) => name)).toContain('line_assignment.deleted');
    expect(await holders()).toEqual({});
    const other = (await account.member()).userId;
    vendor().meanwhile(async () => void dataOf(await owner.del(`/users/${other}`)));
    expect((await assign(1, other)).body).toMatchObject({ code: 'user_not_found' });
    expect(await holders()).toEqual({});
  });
});

describe('GraphQL', () => {
  it('does all of it', async () => {
    const { name, owner, account } = await connected();
    const one = async (document: string) => {
      const { data, errors } = await owner.gql(document);
      expect(errors).toBeUndefined();
      return data;
    };
    const whole = 'provider status apiKey assignments { lineId user { userId email isActive } } connection { id connector { id } }';
    expect(
      (await one(`mutation { connectVendorLine(input: { apiKey: "line_${name}.again" }) { ${whole} } }`)).connectVendorLine,
    ).toMatchObject({
      status: 'connected',
      connection: { connector: { id: account.ownerId } },
    });
    const assigned = await one(
      `mutation { assignLine(lineId: "${name}-1", input: { userId: "${account.ownerId}" }) { assignedTo { userId } released { userId } } }`,
    );
    expect(assigned.assignLine).toEqual({ assignedTo: { userId: account.ownerId }, released: [] });
    const read = await one(`{ vendorLine { ${whole} } vendorLines { lines { lineId assignedTo { name } } orphaned { id } } }`);
    expect(read.vendorLine.assignments).toMatchObject([{ lineId: `${name}-1`, user: { userId: account.ownerId, isActive: true } }]);
    expect(read.vendorLines.lines).toHaveLength(3);
    const { errors } = await owner.gql(`mutation { assignLine(lineId: "${name}-9", input: { userId: null }) { lineId } }`);
    expect(errors![0]!.extensions.code).toBe('line_not_found');
    expect((await one(`mutation { disconnectVendorLine { ${whole} } }`)).disconnectVendorLine).toMatchObject({ status: 'not_configured' });
  });
});
