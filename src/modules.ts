/** Every module of the product, one line each, in the order in which they may build on each other. */
export const modules = [
  (await import('./modules/auth/auth.module.js')).default,
  (await import('./modules/users/users.module.js')).default,
  (await import('./modules/apiKeys/apiKeys.module.js')).default,
  (await import('./modules/tags/tags.module.js')).default,
  (await import('./modules/customFields/customFields.module.js')).default,
  (await import('./modules/smartLists/smartLists.module.js')).default,
  (await import('./modules/contacts/contacts.module.js')).default,
  (await import('./modules/events/events.module.js')).default,
  (await import('./modules/companies/companies.module.js')).default,
  (await import('./modules/products/products.module.js')).default,
  (await import('./modules/pipelines/pipelines.module.js')).default,
  (await import('./modules/deals/deals.module.js')).default,
  (await import('./modules/invoices/invoices.module.js')).default,
  (await import('./modules/billing/billing.module.js')).default,
  (await import('./modules/tasks/tasks.module.js')).default,
  (await import('./modules/notes/notes.module.js')).default,
  (await import('./modules/activities/activities.module.js')).default,
  (await import('./modules/bulk/bulk.module.js')).default,
<<<<<<< HEAD
  (await import('./modules/imports/imports.module.js')).default,
=======
  (await import('./modules/dashboard/dashboard.module.js')).default,
>>>>>>> main
];
