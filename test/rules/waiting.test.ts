import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { waitingJobs } from '../../src/workers/jobs.js';
import { waitingEvents } from '../../src/workers/relay.js';
import { server, type TestServer } from '../support/index.js';

let crm: TestServer;
beforeAll(async () => {
  crm = await server();
});
afterAll(() => crm.close());

const tooMany = 10_001;

it('of jobs and of events that wait 10,000 are counted, with the age of the oldest', async () => {
  const { id } = await crm.seed.account();
  const undone = new Error('undone');
  const counting = crm.app.database.prisma.$transaction(
    async (tx) => {
      await tx.$executeRawUnsafe(
        `insert into pgboss.job (name, start_after) select 'sweep', now() - make_interval(secs => n) from generate_series(1, $1::int) n`,
        tooMany,
      );
      await tx.$executeRawUnsafe(
        `insert into outbox_events (account_id, id, name, entity_type, entity_id, data, created_at)
         select $1::uuid, gen_random_uuid(), 'contact.updated', 'contact', $1::uuid, '{}', now() - interval '1 minute'
         from generate_series(1, $2::int)`,
        id,
        tooMany,
      );
      const execute = async (text: string, values: unknown[] = []) => ({ rows: await tx.$queryRawUnsafe<object[]>(text, ...values) });
      const jobs = (await waitingJobs({ execute })).find(({ queue }) => queue === 'sweep');
      expect(jobs).toEqual({ queue: 'sweep', count: 10_000, age: expect.closeTo(tooMany, 0) });
      expect(await waitingEvents({ execute })).toEqual({ count: 10_000, age: expect.closeTo(60, 0) });
      throw undone;
    },
    { timeout: 60_000, maxWait: 30_000 },
  );
  await expect(counting).rejects.toBe(undone);
});
