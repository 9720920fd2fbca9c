import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, drop, edit, list, make, read } from '../../kernel/module/routes.js';
import { Company, companyEvents } from './company.model.js';
import { companyRelations } from './company.relations.js';
import { CompanyResolver } from './company.resolver.js';
import { getCompany, onUserRemoved } from './company.service.js';
import { companyTable } from './company.table.js';

const linked = `dealCount openDealCount totalDealValue
  contacts(first: 100) { nodes { id firstName lastName email phone jobTitle assignedTo createdAt } }`;

export default defineModule({
  name: 'companies',
  about: 'Companies, and the contacts and deals that belong to them',
  references: { company: { of: companyTable, held: true } },
  events: [
    recordFeed(companyEvents, {
      record: () => Company,
      find: getCompany,
      by: {
        parentCompanyId: 'Only companies that come under, are under or leave this one',
        ownerId: 'Only companies that this user looks after, gets or hands on',
      },
      access: { scope: 'companies' },
    }),
  ],
  tables: [companyTable],
  relations: companyRelations,
  resolvers: [CompanyResolver],
  on: { 'user.removed': onUserRemoved },
  routes: [
    list('GET /companies', 'companies', { as: 'page' }),
    make('POST /companies', 'createCompany', { also: [402, 422] }),
    read('GET /companies/{id}', 'company', { with: linked }),
    edit('PATCH /companies/{id}', 'updateCompany', { also: [422] }),
    drop('DELETE /companies/{id}', 'deleteCompany'),
    act('POST /companies/{id}/restore', 'restoreCompany', { also: [402] }),
  ],
});
