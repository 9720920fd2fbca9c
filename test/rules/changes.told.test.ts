import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, hour, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { activeWorkflow, runsOf } from '../support/workflows.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** What was told last of a record under a name. */
async function lastChanges(entityId: string, name: string): Promise<Loose> {
  const where = { accountId: acme.id, entityId, name };
  const [last]: Loose[] = await api.app.database.prisma.outboxEvent.findMany({ where, orderBy: { seq: 'desc' }, take: 1 });
  return last?.changes;
}

describe('among the changes that are told', () => {
  it('of a mail that goes is who carried it', async () => {
    const { id: contactId } = await acme.contact({ email: 'carried@example.com' });
    const { id } = dataOf(await acme.owner.post('/email/send', { contactId, subject: 'Offer', body: 'Hello' }));
    const changes = await lastChanges(id, 'message.updated');
    expect(changes).toMatchObject({ status: { from: 'queued', to: 'sent' }, provider: { from: null, to: 'smtp' } });
  });

  it('of a message that is cancelled with its contact is why, and what had kept it before', async () => {
    const { id: contactId } = await acme.contact({ email: 'gone@example.com' });
    const scheduledAt = new Date(api.clock.now().getTime() + hour).toISOString();
    const { id } = dataOf(await acme.owner.post('/email/send', { contactId, subject: 'Offer', body: 'Hello', scheduledAt }));
    const where = { accountId: acme.id, id };
    await api.app.database.prisma.message.updateMany({ where, data: { status: 'queued', error: 'mail_server_unavailable' } });
    dataOf(await acme.owner.del(`/contacts/${contactId}`));
    expect(await lastChanges(id, 'message.updated')).toEqual({
      status: { from: 'queued', to: 'cancelled' },
      error: { from: 'mail_server_unavailable', to: 'contact_deleted' },
    });
  });

  it('of a run that ends with its workflow is what it left out', async () => {
    const { execute } = api.app.database;
    await execute(`create function test_fault() returns trigger language plpgsql as $$ begin raise exception 'a fault'; end $$`);
    await execute('create trigger test_fault before insert on tasks for each row execute function test_fault()');
    const task = { type: 'create_task', config: { title: 'Call' } };
    const workflow = await activeWorkflow(acme, { trigger: { event: 'contact.created' }, actions: [task, task] });
    await acme.contact({ firstName: 'Waits' });
    const run = await eventually(async () => (await runsOf(acme, workflow))[0]);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
    await execute('drop trigger test_fault on tasks');
    const { status, error, actions } = await lastChanges(run!.id, 'workflow_run.updated');
    expect([status, error]).toEqual([
      { from: 'running', to: 'failed' },
      { from: null, to: 'workflow_deleted' },
    ]);
    const statuses = (list: Loose[]) => list.map((action) => action.status);
    expect(statuses(actions.from)).toEqual(['pending', 'pending']);
    expect(statuses(actions.to)).toEqual(['skipped', 'skipped']);
  });

  it('of an import that failed and is begun anew is that its error is over', async () => {
    const { id } = dataOf(await acme.owner.post('/imports', { rows: [{ firstName: 'Ann' }] }));
    const error = 'The server ended three times';
    await api.app.database.prisma.import.updateMany({ where: { accountId: acme.id, id }, data: { status: 'failed', error } });
    const begun = async () => {
      const where = { accountId: acme.id, entityId: id, name: 'import.updated' };
      return (await api.app.database.prisma.outboxEvent.findFirst({ where, orderBy: { seq: 'asc' } })) as Loose;
    };
    dataOf(await acme.owner.post(`/imports/${id}/process`));
    expect((await begun()).changes).toEqual({ status: { from: 'failed', to: 'processing' }, error: { from: error, to: null } });
  });
});
