import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { tablesWith } from '../../src/kernel/database/sql.js';
import type { Client } from '../support/client.js';
import { demoServer } from '../support/demoServer.js';
import { dataOf, type TestServer } from '../support/index.js';

let crm: TestServer;
let demo: Client;

beforeAll(async () => {
  ({ crm, demo } = await demoServer());
  // The demo has no call under way.
  await crm.app.database.prisma.$executeRaw`
    insert into live_calls (account_id, id, provider_id, call_flow_id, call_flow_version, from_number, to_number, contact_id, started_at, created_at, updated_at)
    select v.account_id, gen_random_uuid(), 'CAmerged', v.call_flow_id, v.version, '+15550100', '+15550101', c.id, now(), now(), now()
    from call_flow_versions v join contacts c on c.account_id = v.account_id and c.deleted_at is null limit 1`;
});
afterAll(() => crm.close());

/** Its row is one of a contact, made of the messages: it follows these. */
const conversation = 'conversations';

describe('POST /contacts/merge', () => {
  it.each(tablesWith('contactId').filter((table) => table !== conversation))('hands over the rows of %s', async (table) => {
    const { prisma } = crm.app.database;
    const rows = (contact?: string) =>
      prisma.$queryRawUnsafe<{ contact: string; n: number }[]>(
        `select contact_id as contact, count(*)::int as n from ${table} t
         join contacts c on c.account_id = t.account_id and c.id = t.contact_id and c.deleted_at is null
         where ${contact ? `contact_id = '${contact}'` : 'true'} group by 1 order by 2, 1 limit 1`,
      );
    const [of] = await rows();
    expect(of).toBeDefined();
    const { id: primaryId } = dataOf(await demo.post('/contacts', { firstName: `Keeps ${table}` }));
    dataOf(await demo.post('/contacts/merge', { primaryId, secondaryId: of!.contact }));
    const [kept] = await rows(primaryId);
    expect(kept?.n).toBeGreaterThanOrEqual(of!.n);
  });
});
