import type { Context } from '../kernel/context/context.js';
import { publishAutomation } from '../modules/automations/automation.publish.js';
import { createAutomation } from '../modules/automations/automation.service.js';
import { enrollInAutomation } from '../modules/automations/run.enroll.js';
import { createWebhook } from '../modules/webhooks/webhook.service.js';
import { activateWorkflow, createWorkflow } from '../modules/workflows/workflow.service.js';

/**
 * What happens by itself: a task for whoever fills in the form, a call for customers who went quiet, and an address that hears of deals.
 */
export async function addReacting(ctx: Context, contacts: string[]): Promise<void> {
  await ctx.transaction((inside) => addWorkflow(inside));
  await ctx.transaction((inside) => addAutomation(inside, contacts));
  // Nobody listens there: it is switched off.
  await createWebhook(ctx, {
    url: 'https://hooks.example.com/crm',
    events: ['deal.won', 'deal.lost'],
    description: 'The accounting system',
    isActive: false,
  });
}

async function addWorkflow(ctx: Context): Promise<void> {
  const { id } = await createWorkflow(ctx, {
    name: 'Answer what comes in by the website',
    description: 'A task for each form that is sent',
    trigger: { event: 'form.submitted', conditions: null },
    actions: [{ type: 'create_task', config: { title: 'Answer {{contact.firstName}}', dueInDays: 1, priority: 'high' } }],
  });
  await activateWorkflow(ctx, id);
}

async function addAutomation(ctx: Context, contacts: string[]): Promise<void> {
  const winBack = await createAutomation(ctx, {
    name: 'Win back',
    kind: 'native',
    description: 'A task now, and another one where a week goes by',
    graph: {
      startNodeId: 'call',
      nodes: [
        { id: 'call', type: 'action', config: { type: 'create_task', config: { title: 'Call {{contact.firstName}}' } }, next: 'week' },
        { id: 'week', type: 'wait', config: { days: 7 }, next: 'again' },
        { id: 'again', type: 'action', config: { type: 'create_task', config: { title: 'Call again' } }, next: 'end' },
        { id: 'end', type: 'end', config: {}, next: null },
      ],
    },
  });
  await publishAutomation(ctx, winBack.id);
  await enrollInAutomation(ctx, winBack.id, { contactIds: contacts.slice(4, 6) });
}
