import { describe, expect, it } from '@jest/globals';
import { aNode } from '../support/automations.js';
import { acme, api, automations, served } from '../support/automationsServed.js';
import { dataOf, expectRefusal, type Loose } from '../support/index.js';
import { eventually } from '../support/live.js';

served();

const template = async (channel: string): Promise<string> =>
  dataOf(await acme.owner.post('/emails/templates', { name: `Of ${channel}`, channel, subject: 'S', body: 'B' })).id;

const mailing = (templateId: string) => ({ type: 'send_email', config: { templateId } });
const workflowOf = (templateId: string) => ({ name: 'Mailer', trigger: { event: 'contact.created' }, actions: [mailing(templateId)] });
const graphOf = (templateId: string) => [aNode('mail', 'action', mailing(templateId), 'end'), aNode('end', 'end')];

describe('an e-mail by a template of text messages', () => {
  it('is refused of a workflow, as it is written and as it is changed', async () => {
    const [text, mail] = [await template('sms'), await template('email')];
    const refused = (reply: Parameters<typeof expectRefusal>[0]) => {
      expectRefusal(reply, 400, 'actions.0.config.templateId');
      expect(reply.body.details).toMatchObject([{ code: 'conflicting', message: expect.stringContaining('text messages') }]);
    };
    refused(await acme.owner.post('/workflows', workflowOf(text)));
    const { id } = dataOf(await acme.owner.post('/workflows', workflowOf(mail)));
    refused(await acme.owner.patch(`/workflows/${id}`, { actions: [mailing(text)] }));
    // While no active workflow mails it, it may become one of text messages.
    dataOf(await acme.owner.patch(`/emails/templates/${mail}`, { channel: 'sms' }));
    refused(await acme.owner.post(`/workflows/${id}/activate`, {}));
  });

  it('stands against publishing an automation, and against switching one on again', async () => {
    const [text, mail] = [await template('sms'), await template('email')];
    const graph = { startNodeId: 'mail', nodes: graphOf(text) };
    const draft = dataOf(await acme.owner.post('/automations', { name: 'Mailer', graph }));
    const reply = await acme.owner.post(`/automations/${draft.id}/publish`);
    expect(reply.status).toBe(422);
    expect(reply.body.blockers).toMatchObject([{ nodeId: 'mail', code: 'bad_action', message: expect.stringContaining('text messages') }]);
    const id = await automations.make(graphOf(mail));
    dataOf(await acme.owner.patch(`/automations/${id}`, { active: false }));
    dataOf(await acme.owner.patch(`/emails/templates/${mail}`, { channel: 'sms' }));
    expectRefusal(await acme.owner.patch(`/automations/${id}`, { active: true }), 400, 'mail.config.templateId');
  });

  it('fails where it came to be one, and says why', async () => {
    const mail = await template('email');
    const { id } = dataOf(await acme.owner.post('/workflows', workflowOf(mail)));
    dataOf(await acme.owner.post(`/workflows/${id}/activate`, {}));
    // As it was kept before this was refused.
    await api.app.database.execute("update templates set channel = 'sms' where account_id = $1 and id = $2", [acme.id, mail]);
    const contact = await acme.contact({ email: 'ada@example.com' });
    const [run] = (await eventually(async () => {
      const { data } = dataOf(await acme.owner.get(`/workflows/${id}/runs`));
      return data[0] && data[0].status !== 'running' && data;
    })) as Loose[];
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('templateId names a template of text messages') });
    expect(await api.app.database.prisma.message.count({ where: { accountId: acme.id, contactId: contact.id } })).toBe(0);
  });
});
