import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweep } from '../../src/workers/sweeps.js';
import { type Account, dataOf, day, type KeyClient, type Loose, server, type TestServer, toldIn } from '../support/index.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  await api.app.database.prisma.account.update({ where: { id: acme.id }, data: { timezone: 'Asia/Tokyo' } });
  key = await acme.key();
});
afterAll(() => api.close());

const standing = async (id: string) => ({
  shown: dataOf(await key.get(`/invoices/${id}`)).status as string,
  kept: (await api.app.database.prisma.invoice.findFirstOrThrow({ where: { id } })).status,
});
const pay = async (id: string, amount: number) => (await key.post(`/invoices/${id}/payments`, { amount })).body.invoice.status as string;
const sent = async (fields: Record<string, unknown>) => {
  const items = [{ description: 'Hours', quantity: 12, unitPrice: 10 }];
  const { id } = dataOf(await key.post('/invoices', { items, ...fields }));
  dataOf(await key.post(`/invoices/${id}/send`));
  return id as string;
};

describe('an invoice whose due date is past', () => {
  it('reads overdue from the next day of the workspace on, and the sweep writes it down', async () => {
    const id = await sent({ dueDate: '2031-03-10' });
    const draft = await acme.invoice({ dueDate: '2031-03-10' });
    const free = await sent({ dueDate: '2031-03-10', items: [{ description: 'Gift', quantity: 1, unitPrice: 0 }] });
    api.clock.set('2031-03-10T14:59:00Z');
    expect(await standing(id)).toEqual({ shown: 'sent', kept: 'sent' });
    api.clock.set('2031-03-10T15:01:00Z');
    expect(await standing(id)).toEqual({ shown: 'overdue', kept: 'sent' });
    await sweep(api.app);
    expect(await standing(id)).toEqual({ shown: 'overdue', kept: 'overdue' });
    expect(await standing(draft.id)).toEqual({ shown: 'draft', kept: 'draft' });
    // What is over nothing was paid when it was sent.
    expect(await standing(free)).toEqual({ shown: 'paid', kept: 'paid' });
    expect([await pay(id, 20), await pay(id, 100)]).toEqual(['overdue', 'paid']);
    api.clock.advance(day);
    await sweep(api.app);
    expect(await standing(id)).toEqual({ shown: 'paid', kept: 'paid' });
  });

  it('goes from late to void, and shows in the list under its status before and after the sweep', async () => {
    api.clock.set('2032-01-01T00:00:00Z');
    const id = await sent({ dueDate: '2031-12-31' });
    const late = async () => dataOf(await key.get('/invoices?status=overdue')).data.map((invoice: { id: string }) => invoice.id);
    expect(await late()).toEqual([id]);
    await sweep(api.app);
    expect(await late()).toEqual([id]);
    expect(dataOf(await key.get('/invoices?status=sent')).data).toEqual([]);
    expect(dataOf(await key.post(`/invoices/${id}/send`))).toMatchObject({ status: 'overdue' });
    expect(dataOf(await key.post(`/invoices/${id}/void`)).status).toBe('void');
    expect(await late()).toEqual([]);
  });

  it('is told together with the others: as many statements for nine as for two', async () => {
    const contact = async () => dataOf(await key.post('/contacts', { firstName: 'Ann' })).id as string;
    const swept: number[] = [];
    for (const many of [2, 9]) {
      const today = api.clock.now().getTime();
      const due = Array.from({ length: 4 * many }, (_, i) => new Date(today + Math.floor(i / many) * day).toISOString().slice(0, 10));
      await Promise.all(due.map(async (dueDate) => sent({ dueDate, contactId: await contact() })));
      const work = async () => {
        api.clock.advance(day);
        await sweep(api.app);
      };
      swept.push(await api.statements(work));
    }
    expect(swept[1]).toBe(swept[0]);
  });
});

describe('an invoice that is late and not yet swept', () => {
  /** The events of an invoice that is late since a moment ago, by what is done with it, with what each says of its status. */
  const toldOf = async (id: string, work: () => Promise<unknown>) => {
    const { rows } = await toldIn(acme, work);
    const own = rows.filter((row: Loose) => row.entityId === id && row.name !== 'invoice.updated');
    return own.map(({ name, actorKind, data, changes }: Loose) => [name, actorKind, data.status, changes.status ?? null]);
  };
  let days = 10;
  const late = async (fields: Record<string, unknown> = {}) => {
    const dueDate = `2032-05-${days}`;
    api.clock.set(`${dueDate}T00:00:00Z`);
    const id = await sent({ dueDate, ...fields });
    api.clock.set(`2032-05-${days + 1}T00:00:00Z`);
    days += 2;
    return id;
  };
  const overdue = ['invoice.overdue', 'system', 'overdue', { from: 'sent', to: 'overdue' }];

  it('is told as overdue before it is told as paid, in part and in whole, and not again', async () => {
    const id = await late();
    const paidInPart = ['invoice.payment_recorded', 'api_key', 'overdue', null];
    expect(await toldOf(id, () => pay(id, 20))).toEqual([overdue, paidInPart]);
    expect(await standing(id)).toEqual({ shown: 'overdue', kept: 'overdue' });
    expect(await toldOf(id, () => sweep(api.app))).toEqual([]);
    const other = await late();
    const paid = { from: 'overdue', to: 'paid' };
    expect(await toldOf(other, () => pay(other, 120))).toEqual([
      overdue,
      ['invoice.payment_recorded', 'api_key', 'paid', null],
      ['invoice.paid', 'api_key', 'paid', paid],
    ]);
    expect(await toldOf(other, () => sweep(api.app))).toEqual([]);
  });

  it('is told as overdue before it is told as void', async () => {
    const id = await late();
    const voided = ['invoice.voided', 'api_key', 'void', { from: 'overdue', to: 'void' }];
    expect(await toldOf(id, async () => dataOf(await key.post(`/invoices/${id}/void`)))).toEqual([overdue, voided]);
  });

  it('is told as it was told before where its contact is merged, and then as overdue', async () => {
    const contact = async () => dataOf(await key.post('/contacts', { firstName: 'Ada' }));
    const [loser, primary] = [await contact(), await contact()];
    const id = await late({ contactId: loser.id });
    const body = { primaryId: primary.id, secondaryId: loser.id };
    const { rows } = await toldIn(acme, async () => dataOf(await key.post('/contacts/merge', body)));
    const own = rows.filter((row: Loose) => row.entityId === id);
    expect(own.map(({ name, data, changes }: Loose) => [name, data.contactId, data.status, Object.keys(changes)])).toEqual([
      ['invoice.updated', primary.id, 'sent', ['contactId']],
      ['invoice.updated', primary.id, 'overdue', ['status']],
      ['invoice.overdue', primary.id, 'overdue', ['status']],
    ]);
    expect(await toldOf(id, () => sweep(api.app))).toEqual([]);
  });
});

describe('a workspace whose time zone the database does not know', () => {
  it('keeps no other from being swept, and goes by its own clocks', async () => {
    api.clock.set('2033-06-01T00:00:00Z');
    const other = await api.seed.account();
    const theirs = await other.invoice({ dueDate: '2033-06-01', items: [{ description: 'Hours', quantity: 1, unitPrice: 10 }] });
    dataOf(await other.owner.post(`/invoices/${theirs.id}/send`));
    await api.app.database.prisma.account.update({ where: { id: other.id }, data: { timezone: 'US/Pacific-New' } });
    const ours = await sent({ dueDate: '2033-06-01' });
    const kept = async (id: string) => (await api.app.database.prisma.invoice.findFirstOrThrow({ where: { id } })).status;
    // In Los Angeles it is the day before by now.
    api.clock.set('2033-06-02T06:59:00Z');
    await sweep(api.app);
    expect([await kept(ours), await kept(theirs.id)]).toEqual(['overdue', 'sent']);
    api.clock.set('2033-06-02T07:01:00Z');
    await sweep(api.app);
    expect(await kept(theirs.id)).toBe('overdue');
  });
});
