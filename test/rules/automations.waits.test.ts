import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { aNode, aTask } from '../support/automations.js';
import { acme, api, automations, served } from '../support/automationsServed.js';
import { dataOf, day, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';

served();

const waitFor = (event: string, config: Loose = {}) => [aNode('wait', 'wait', { event, ...config }, 'end'), aNode('end', 'end')];
const win = async ({ id }: Loose) => dataOf(await automations.key.patch(`/deals/${id}`, { status: 'won' }));

/** The run that a record has started. */
const startedBy = async (automation: string, { id }: Loose) =>
  (await eventually(async () => (await automations.runs(automation)).find(({ entityId }) => entityId === id)))!;

describe('a wait for an event of the record that started the run', () => {
  it('ends by that record alone, whatever else happens to its contact', async () => {
    const id = await automations.make(waitFor('deal.won'), { triggerEvent: 'deal.created' });
    const contactId = await automations.contact();
    const [mine, other] = [await acme.deal({ contactId }), await acme.deal({ contactId })];
    const run = await startedBy(id, mine);
    await automations.until(run.id, 'waiting');
    await win(other);
    await automations.read();
    expect(await automations.standing(run.id)).toBe('waiting deal.won');
    await win(mine);
    await automations.until(run.id, 'success');
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('ends where the run has no contact', async () => {
    const id = await automations.make(waitFor('deal.won'), { triggerEvent: 'deal.created' });
    const deal = await acme.deal({ contactId: null });
    const run = await startedBy(id, deal);
    expect(await automations.until(run.id, 'waiting')).toMatchObject({ contactId: null });
    await win(deal);
    await automations.until(run.id, 'success');
    dataOf(await automations.key.del(`/automations/${id}`));
  });
});

describe('a wait for another record', () => {
  it('ends by a new one of the contact, as its own comes once', async () => {
    const id = await automations.make(waitFor('note.created'), { triggerEvent: 'note.created' });
    const [contactId, stranger] = [await automations.contact(), await automations.contact()];
    const note = async (about: string): Promise<Loose> =>
      dataOf(await automations.key.post('/notes', { body: 'Called', contactId: about }));
    const run = await startedBy(id, await note(contactId));
    await automations.until(run.id, 'waiting');
    await note(stranger);
    await automations.read();
    expect(await automations.standing(run.id)).toBe('waiting note.created');
    await note(contactId);
    await automations.until(run.id, 'success');
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('fails in a run that is for no contact, unless it has a timeout', async () => {
    const [forever, patient] = [
      await automations.make(waitFor('contact.updated'), { triggerEvent: 'tag.created' }),
      await automations.make(waitFor('contact.updated', { timeout: { days: 1 } }), { triggerEvent: 'tag.created' }),
    ];
    const tag = await acme.tag('Starts both');
    const failed = await automations.until((await startedBy(forever, tag)).id, 'failed', 'waiting');
    expect(failed).toMatchObject({ status: 'failed', endReason: 'failed', error: expect.stringContaining('contact.updated') });
    expect(await automations.path(failed.id)).toEqual(['wait failed']);
    await automations.until((await startedBy(patient, tag)).id, 'waiting');
  });
});

it('fails at a wait that only the record of another way to start could end', async () => {
  const id = await automations.make(waitFor('tag.updated'), { triggerEvent: 'tag.created' });
  const [byHand] = await automations.enroll(id, await automations.contact());
  const run = await automations.until(byHand!, 'failed', 'waiting');
  expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('tag.updated') });
});

describe('a wait for what does not come again to the record that started the run', () => {
  const sent = async (contactId: string): Promise<Loose> =>
    dataOf(await automations.key.post('/messages/sms/send', { contactId, body: 'Hello' }));
  const received = async (contactId: string): Promise<Loose> =>
    dataOf(await automations.key.post('/messages', { contactId, channel: 'sms', direction: 'inbound', body: 'Hello' }));

  let people = 0;
  const reachable = () => automations.contact({ phone: `+1415778${String(++people).padStart(4, '0')}` });

  /** A run for a new contact that waits for an event. */
  async function waits(triggerEvent: string, event: string, begin: (contactId: string) => Promise<Loose>) {
    const id = await automations.make(waitFor(event), { triggerEvent });
    const contactId = await reachable();
    const run = await startedBy(id, await begin(contactId));
    await automations.until(run.id, 'waiting');
    return { id, contactId, run };
  }

  it.each([
    ['message.received', received],
    ['message.sent', sent],
  ])('ends by the next message to the contact of a %s', async (trigger, begin) => {
    const { id, contactId, run } = await waits(trigger, 'message.sent', begin);
    await sent(await reachable());
    await automations.read();
    expect(await automations.standing(run.id)).toBe('waiting message.sent');
    await sent(contactId);
    await automations.until(run.id, 'success');
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('ends by another record of the contact: their next deal that is won', async () => {
    const won = async (contactId: string) => win(await acme.deal({ contactId }));
    const { id, contactId, run } = await waits('deal.won', 'deal.won', won);
    await won(contactId);
    await automations.until(run.id, 'success');
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('ends by the record itself where that comes again: its next payment', async () => {
    const pay = async ({ id }: Loose) => dataOf(await automations.key.post(`/invoices/${id}/payments`, { amount: 10 }));
    let mine: Loose = {};
    const { id, contactId, run } = await waits('invoice.payment_recorded', 'invoice.payment_recorded', async (to) => {
      mine = await acme.invoice({ contactId: to });
      await pay(mine);
      return mine;
    });
    await pay(await acme.invoice({ contactId }));
    await automations.read();
    expect(await automations.standing(run.id)).toBe('waiting invoice.payment_recorded');
    await pay(mine);
    await automations.until(run.id, 'success');
    dataOf(await automations.key.del(`/automations/${id}`));
  });
});

const remove = async ({ id }: Loose) => dataOf(await automations.key.del(`/deals/${id}`));

describe('a wait for a record that is deleted', () => {
  it('fails where nothing else would end it, and leaves its contact free', async () => {
    const id = await automations.make(waitFor('deal.won'), { triggerEvent: 'deal.created' });
    const contactId = await automations.contact();
    const [gone, other] = [await acme.deal({ contactId }), await acme.deal({})];
    const [run, unmoved] = [await startedBy(id, gone), await startedBy(id, other)];
    await automations.until(run.id, 'waiting');
    await automations.until(unmoved.id, 'waiting');
    await remove(gone);
    const failed = await automations.until(run.id, 'failed');
    expect(failed).toMatchObject({ endReason: 'failed', error: expect.stringContaining('deal.won'), waitEvent: null, currentNodeId: null });
    expect(failed.completedAt).not.toBeNull();
    expect(await automations.path(run.id)).toEqual(['wait failed']);
    expect(await automations.steps(run.id)).toMatchObject([{ error: failed.error }]);
    const next = await startedBy(id, await acme.deal({ contactId }));
    await automations.until(next.id, 'waiting');
    expect(await automations.standing(unmoved.id)).toBe('waiting deal.won');
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('is told once of the run and of its step', async () => {
    const id = await automations.make(waitFor('deal.won'), { triggerEvent: 'deal.created' });
    const deal = await acme.deal({ contactId: null });
    const run = await startedBy(id, deal);
    await automations.until(run.id, 'waiting');
    await remove(deal);
    await automations.until(run.id, 'failed');
    const [step] = await automations.steps(run.id);
    const told = await api.app.database.prisma.outboxEvent.findMany({
      where: { accountId: acme.id, entityId: { in: [run.id, step!.id] } },
      orderBy: { seq: 'asc' },
    });
    const ended = told.filter(({ changes }) => ((changes ?? {}) as Loose).status?.to === 'failed');
    expect(ended.map(({ name }) => name).sort()).toEqual(['automation_run.updated', 'automation_step_log.updated']);
    const { changes, data } = ended.find(({ name }) => name === 'automation_run.updated') as Loose;
    expect(changes).toMatchObject({ currentNodeId: { to: null }, waitEvent: { from: 'deal.won', to: null }, endReason: { to: 'failed' } });
    expect([data.currentNodeId, changes.currentNodeId.from]).toEqual([null, expect.any(String)]);
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('goes on to its timeout where it has one, ends by the deletion that it waits for, and by others of the contact', async () => {
    const [patient, parting, free] = [
      await automations.make(waitFor('deal.won', { timeout: { days: 1 } }), { triggerEvent: 'deal.created' }),
      await automations.make(waitFor('deal.deleted'), { triggerEvent: 'deal.created' }),
      await automations.make(waitFor('deal.created'), { triggerEvent: 'deal.created' }),
    ];
    const deal = await acme.deal({ contactId: await automations.contact() });
    const runs = [await startedBy(patient, deal), await startedBy(parting, deal), await startedBy(free, deal)];
    for (const { id } of runs) await automations.until(id, 'waiting');
    await remove(deal);
    await automations.until(runs[1]!.id, 'success');
    await automations.read();
    expect(await automations.standing(runs[0]!.id)).toBe('waiting deal.won');
    expect(await automations.standing(runs[2]!.id)).toBe('waiting deal.created');
    for (const id of [patient, parting, free]) dataOf(await automations.key.del(`/automations/${id}`));
  });
});

it('fails at a wait for a record that was deleted before, whatever of it it waits for, unless it has a timeout', async () => {
  const first = (event: string) => [aNode('first', 'wait', { event: 'contact.updated' }, 'wait'), ...waitFor(event)];
  const [winning, parting, patient] = [
    await automations.make(first('deal.won'), { triggerEvent: 'deal.created' }),
    await automations.make(first('deal.deleted'), { triggerEvent: 'deal.created' }),
    await automations.make([first('deal.won')[0]!, ...waitFor('deal.won', { timeout: { days: 1 } })], { triggerEvent: 'deal.created' }),
  ];
  const contactId = await automations.contact();
  const deal = await acme.deal({ contactId });
  const runs = [await startedBy(winning, deal), await startedBy(parting, deal), await startedBy(patient, deal)];
  for (const { id } of runs) await automations.until(id, 'waiting');
  await remove(deal);
  await automations.read();
  dataOf(await automations.key.patch(`/contacts/${contactId}`, { city: 'Oslo' }));
  for (const { id } of runs.slice(0, 2)) {
    const failed = await automations.until(id, 'failed');
    expect(failed).toMatchObject({
      endReason: 'failed',
      error: expect.stringContaining('is deleted'),
      waitEvent: null,
      currentNodeId: null,
    });
    expect(await automations.path(id)).toEqual(['first completed', 'wait failed']);
  }
  await eventually(async () => (await automations.run(runs[2]!.id)).currentNodeId === 'wait');
  expect(await automations.run(runs[2]!.id)).toMatchObject({ status: 'waiting', waitEvent: 'deal.won' });
  for (const id of [winning, parting, patient]) dataOf(await automations.key.del(`/automations/${id}`));
});

describe('a wait whose timeout leads nowhere', () => {
  it('ends the run then, and goes on by the event', async () => {
    const wait = aNode('wait', 'wait', { event: 'contact.updated', timeout: { days: 1 } }, 'call', [{ when: 'timeout', next: null }]);
    const id = await automations.make([wait, aTask('call')]);
    const [late, timely] = [await automations.contact(), await automations.contact()];
    const runs = await automations.enroll(id, late, timely);
    for (const run of runs) await automations.until(run, 'waiting');
    dataOf(await automations.key.patch(`/contacts/${timely}`, { city: 'Oslo' }));
    await automations.until(runs[1]!, 'success');
    api.clock.advance(day);
    expect(await automations.until(runs[0]!, 'success')).toMatchObject({ endReason: 'completed' });
    api.clock.reset();
    expect(await automations.path(runs[0]!)).toEqual(['wait completed']);
    expect((await automations.steps(runs[0]!))[0]!.output).toMatchObject({ ended: 'timeout', next: null });
    expect([await automations.tasks(late), await automations.tasks(timely)]).toEqual([[], ['call']]);
  });
});

describe('a run that begins to wait for an event as its automation is deleted', () => {
  const execute = (text: string) => api.app.database.execute(text);

  it('ends, where that is so before it rests', async () => {
    const id = await automations.make(waitFor('contact.updated'));
    await execute(`create function test_deleted() returns trigger language plpgsql as $$ begin
      update automations set deleted_at = now(), active = false where id = new.automation_id; return null; end $$`);
    await execute(`create trigger test_deleted after update on automation_runs for each row
      when (old.status = 'running' and new.status = 'waiting') execute function test_deleted()`);
    const [run] = await automations.enroll(id, await automations.contact());
    expect(await automations.until(run!, 'cancelled')).toMatchObject({ endReason: 'automation_deleted' });
    expect(await automations.path(run!)).toEqual(['wait cancelled']);
    await execute('drop trigger test_deleted on automation_runs');
  });

  onPostgres(it)('ends, where that is so while it comes to rest', async () => {
    const id = await automations.make(waitFor('contact.updated'));
    await execute(`create function test_rests() returns trigger language plpgsql set lock_timeout = 0 as $$ begin
      if current_query() like '%"rested": true%' then perform pg_advisory_xact_lock_shared(77); end if; return null; end $$`);
    await execute('create trigger test_rests before update on automation_runs for each statement execute function test_rests()');
    const client = new pg.Client(api.place.databaseUrl);
    await client.connect();
    await client.query('select pg_advisory_lock(77)');
    try {
      const [run] = await automations.enroll(id, await automations.contact());
      const isResting = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'
        and query like '%"rested": true%'`;
      await eventually(async () => (await client.query(isResting)).rows.length > 0);
      dataOf(await automations.key.del(`/automations/${id}`));
      await client.end();
      expect(await automations.until(run!, 'cancelled')).toMatchObject({ endReason: 'automation_deleted' });
    } finally {
      await client.end();
      await execute('drop trigger test_rests on automation_runs');
    }
  });
});
