import { sql } from '../../kernel/database/sql.js';
import { relation } from '../../kernel/tables/relation.js';
import { companyTable } from '../companies/company.table.js';
import { contactTable } from '../contacts/contact.table.js';
import { pipelineTable, stageTable } from '../pipelines/pipeline.table.js';
import { userTable } from '../users/user.table.js';
import { boardOf, dealLineTable, dealTable } from './deal.table.js';

export const dealRelations = [
  ...relation(dealTable, 'pipelineId', pipelineTable, {
    one: { name: 'pipeline', description: 'The pipeline', required: true },
    many: { name: 'deals', description: 'The deals in the pipeline, newest first by default; its stages have theirs as on the board' },
  }),
  ...relation(dealTable, 'stageId', stageTable, {
    one: { name: 'stage', description: 'The stage', required: true },
    many: {
      name: 'deals',
      description: 'The deals in the stage, in the order of the board by default',
      sort: 'board',
      isCounted: true,
      board: boardOf(() => sql`select p.key as id, 1 as rank`),
    },
  }),
  ...relation(dealTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'Whom the deal is with; null when deleted' },
    many: { name: 'deals', description: 'Deals with the contact, newest first by default' },
  }),
  ...relation(dealTable, 'companyId', companyTable, {
    one: { name: 'company', description: 'The company that the deal is with; null when deleted' },
    many: { name: 'deals', description: 'Deals with the company, newest first by default' },
  }),
  ...relation(dealTable, 'assignedTo', userTable, {
    one: { name: 'assignedUser', description: 'The user who looks after the deal' },
    many: { name: 'deals', description: 'Deals that the user looks after, newest first by default' },
  }),
  ...relation(dealLineTable, 'dealId', dealTable, {
    many: { name: 'products', description: 'What is sold', listed: { by: 't.sort_order, t.id' } },
  }),
];
