import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Automations, allPlaced, aNode, aTask } from '../support/automations.js';
import { type Account, dataOf, isPostgres, type Loose, minute, onPostgres, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { activeWorkflow, endedRuns } from '../support/workflows.js';

/** What `place_events` takes, one relay at a time. */
const placing = 7240112;

let api: TestServer;
let acme: Account;
let automations: Automations;
let outside: pg.Client | undefined;
beforeAll(async () => {
  if (!isPostgres) return;
  api = await server();
  acme = await api.seed.account();
  automations = new Automations(acme, await acme.key());
  outside = new pg.Client(api.place.databaseUrl);
  await outside.connect();
});
afterAll(async () => {
  await outside?.end();
  await api?.close();
});

/** Does something while no event gets its place in the feed. */
async function whileUnplaced<T>(work: () => Promise<T>): Promise<T> {
  await outside!.query('select pg_advisory_lock($1)', [placing]);
  try {
    return await work();
  } finally {
    await outside!.query('select pg_advisory_unlock($1)', [placing]);
  }
}

/**
 * Does something while a change of a contact is under way whose event has its number already and is not committed: it is committed after
 * the work, with a lower number than the events of the work.
 */
const whileUnderWay = (contact: string, work: () => Promise<unknown>) =>
  whileUnplaced(async () => {
    await outside!.query('begin');
    await outside!.query(
      `insert into outbox_events (account_id, id, name, names, entity_type, entity_id, data, changes, actor_kind, created_at)
       select account_id, gen_random_uuid(), name, names, entity_type, entity_id, (data::jsonb || '{"city": "late"}')::json, changes, actor_kind, now()
       from outbox_events where account_id = $1 and entity_id = $2 and name = 'contact.updated' order by seq desc limit 1`,
      [acme.id, contact],
    );
    await work();
    await outside!.query('commit');
  });

const named = (firstName: string) => acme.contact({ firstName, lastName: 'Placed' });
const waitsFor = { event: 'contact.created', conditions: { lastName: 'Placed' } };

onPostgres(describe)('what happened before, and has no place in the feed yet,', () => {
  it('starts no run of a workflow that is activated now', async () => {
    const workflow = await whileUnplaced(async () => {
      await named('before');
      return activeWorkflow(acme, { trigger: waitsFor, actions: [{ type: 'create_task', config: { title: 'T' } }] });
    });
    await named('after');
    const runs = await endedRuns(acme, workflow);
    expect(runs.map(({ triggerData }) => triggerData.firstName)).toEqual(['after']);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });

  it('starts no run of an automation that is published now', async () => {
    const [before, id] = await whileUnplaced(async () => [
      (await named('before')).id,
      await automations.make([aNode('end', 'end')], { triggerEvent: 'contact.created' }),
    ]);
    const after = (await named('after')).id;
    await eventually(async () => (await automations.runs(id)).length > 0);
    const about = (await automations.runs(id)).map(({ contactId }) => contactId);
    expect(about).toEqual([after]);
    expect(about).not.toContain(before);
    dataOf(await acme.owner.del(`/automations/${id}`));
  });

  it('ends no wait for an event that begins now', async () => {
    const id = await automations.make([aNode('wait', 'wait', { event: 'contact.updated' }, 'end'), aNode('end', 'end')]);
    const contact = await automations.contact();
    const run = await whileUnplaced(async () => {
      dataOf(await acme.owner.patch(`/contacts/${contact}`, { city: 'Oslo' }));
      const [begun] = await automations.enroll(id, contact);
      await automations.until(begun!, 'waiting');
      return begun!;
    });
    await automations.read();
    expect(await automations.standing(run)).toBe('waiting contact.updated');
    dataOf(await acme.owner.patch(`/contacts/${contact}`, { city: 'Bergen' }));
    await automations.until(run, 'success');
  });
});

onPostgres(describe)('what happened in time without a place', () => {
  it('ends a wait whose time is out by then', async () => {
    const wait = aNode('wait', 'wait', { event: 'contact.updated', timeout: { minutes: 5 } }, 'end');
    const contact = await automations.contact();
    const [run] = await automations.enroll(await automations.make([wait, aNode('end', 'end')]), contact);
    const rests = async () => {
      const { status, dueAt, waitUntil } = await automations.run(run!);
      return status === 'waiting' && dueAt?.getTime() === waitUntil?.getTime();
    };
    await eventually(rests);
    await whileUnplaced(async () => {
      dataOf(await acme.owner.patch(`/contacts/${contact}`, { city: 'Oslo' }));
      api.clock.advance(10 * minute);
      // It is looked at, and left until that has its place.
      await eventually(async () => !(await rests()));
      expect((await automations.run(run!)).status).toBe('waiting');
    });
    await automations.until(run!, 'success');
    api.clock.reset();
    expect((await automations.steps(run!))[0]!.output).toMatchObject({ ended: 'event', event: 'contact.updated' });
  });
});

onPostgres(describe)('what happened before without a place', () => {
  it('is sent to no webhook that is made, switched on, or wants its name from now on', async () => {
    const made: Loose[] = [];
    const send = async (fields: Loose) =>
      dataOf(
        await acme.owner.post('/webhooks/manage', { url: `https://127.0.0.1:1/${made.length}`, events: ['contact.created'], ...fields }),
      );
    const [off, other] = [await send({ isActive: false }), await send({ events: ['deal.won'] })];
    await whileUnplaced(async () => {
      await named('before');
      made.push(await send({}));
      made.push(dataOf(await acme.owner.patch(`/webhooks/manage/${off.id}`, { isActive: true })));
      made.push(dataOf(await acme.owner.patch(`/webhooks/manage/${other.id}`, { events: ['deal.won', 'contact.created'] })));
    });
    const { id } = await named('after');
    const events = async ({ id: webhook }: Loose): Promise<Loose[]> =>
      dataOf(await acme.owner.get(`/webhooks/manage/${webhook}/deliveries`)).data;
    for (const webhook of made) {
      const deliveries = await eventually(async () => {
        const found = await events(webhook);
        return found.length > 0 && found;
      });
      expect((deliveries as Loose[]).map(({ payload }) => payload.data.id)).toEqual([id]);
    }
  });
});

onPostgres(describe)('what is under way as something begins, and committed later behind what has no place yet,', () => {
  it('starts a run of a workflow that is activated meanwhile', async () => {
    const { id } = await named('late');
    const city = (name: string) => acme.owner.patch(`/contacts/${id}`, { city: name });
    dataOf(await city('first'));
    let workflow: Loose = {};
    await whileUnderWay(id, async () => {
      dataOf(await city('before'));
      const actions = [{ type: 'create_task', config: { title: 'T' } }];
      workflow = await activeWorkflow(acme, { trigger: { event: 'contact.updated', conditions: { lastName: 'Placed' } }, actions });
    });
    dataOf(await city('after'));
    const runs = await endedRuns(acme, workflow, 2);
    expect(runs.map(({ triggerData }) => triggerData.city).sort()).toEqual(['after', 'late']);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });

  it('ends a wait that begins meanwhile', async () => {
    const id = await automations.make([aNode('wait', 'wait', { event: 'contact.updated' }, 'end'), aNode('end', 'end')]);
    const contact = await automations.contact();
    dataOf(await acme.owner.patch(`/contacts/${contact}`, { city: 'first' }));
    let run = '';
    await whileUnderWay(contact, async () => {
      dataOf(await acme.owner.patch(`/contacts/${contact}`, { city: 'before' }));
      run = (await automations.enroll(id, contact))[0]!;
      await automations.until(run, 'waiting');
    });
    await automations.until(run, 'success');
    const [late] = (await outside!.query(`select id from outbox_events where entity_id = $1 and data ->> 'city' = 'late'`, [contact])).rows;
    const [step] = await automations.steps(run);
    expect(step!.output).toMatchObject({ ended: 'event', eventId: late.id });
  });
});

/** Events of the account about nothing that anybody waits for, with their places. */
async function manyOthers(count: number): Promise<void> {
  const { execute } = api.app.database;
  await execute(
    `insert into outbox_events (account_id, id, name, names, entity_type, entity_id, data, actor_kind, created_at)
     select $1::uuid, gen_random_uuid(), 'tag.created', '{}', 'tag', gen_random_uuid(), '{}', 'system', now() from generate_series(1, $2::int)`,
    [acme.id, count],
  );
  for (let left = count; left > 0; left -= 1000) await execute('select place_events(1000)');
  await allPlaced(acme);
}

onPostgres(describe)('a wait whose time is out while the reader is far behind', () => {
  it('is left to the reader for some minutes, and then looks by itself', async () => {
    const id = await automations.make([
      aNode('reply', 'wait', { event: 'contact.updated', timeout: { minutes: 5 } }, 'thank', [{ when: 'timeout', next: 'remind' }]),
      aTask('thank'),
      aTask('remind'),
    ]);
    const contact = await automations.contact();
    const [run] = await automations.enroll(id, contact);
    const dueIn = async () => (await automations.run(run!)).dueAt!.getTime() - api.clock.now().getTime();
    await eventually(async () => (await dueIn()) > minute);
    await outside!.query('begin');
    await outside!.query("select from feed_readers where account_id = $1 and name = 'automations' for update", [acme.id]);
    dataOf(await automations.key.patch(`/contacts/${contact}`, { city: 'Oslo' }));
    await manyOthers(1500);
    api.clock.advance(6 * minute);
    await eventually(async () => (await dueIn()) > minute / 2);
    expect((await automations.run(run!)).status).toBe('waiting');
    api.clock.advance(6 * minute);
    await automations.until(run!, 'success');
    expect(await automations.tasks(contact)).toEqual(['thank']);
    await outside!.query('rollback');
    api.clock.reset();
  });
});
