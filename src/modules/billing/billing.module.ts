import { defineModule } from '../../kernel/module/module.js';
import { formBytes } from '../../kernel/module/page.js';
import { act, read } from '../../kernel/module/routes.js';
import { oldNotices } from './billing.account.js';
import { confirmPage, showPage, showReturn, takeStripeNotice } from './billing.pages.js';
import { BillingResolver } from './billing.resolver.js';
import { lookAtSubscription } from './billing.service.js';

export default defineModule({
  name: 'billing',
  about: 'The plan of the workspace, its limits and its payment',
  sweeps: { oldNotices },
  jobs: { lookAtSubscription },
  resolvers: [BillingResolver],
  routes: [
    read('GET /billing/status', 'billingStatus'),
    act('POST /billing/checkout', 'startCheckout', { also: [402, 502] }),
    act('POST /billing/portal', 'openBillingPortal', { also: [409, 502] }),
  ],
  callbacks: [
    { method: 'POST', path: '/webhooks/stripe', handler: takeStripeNotice },
    { method: 'GET', path: '/billing', page: true, handler: showReturn },
    { method: 'GET', path: '/billing/simulator', handler: showPage },
    { method: 'POST', path: '/billing/simulator', bodyCap: formBytes, handler: confirmPage },
  ],
});
