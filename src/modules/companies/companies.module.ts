import type { Loader } from '../../kernel/context/loaders.js';
import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, drop, edit, list, make, read } from '../../kernel/module/routes.js';
import type { ContactRow } from '../contacts/contact.service.js';
import { Company, companyEvents } from './company.model.js';
import { CompanyResolver, ContactCompanyResolver, UserCompanyResolver } from './company.resolver.js';
import {
  type CompanyFigures,
  type CompanyRow,
  companiesById,
  companiesOfUsers,
  companyFigures,
  contactsOfCompanies,
  getCompany,
  onUserRemoved,
  subsidiariesOfCompanies,
} from './company.service.js';
import { companyTable } from './company.table.js';

declare module '../../kernel/context/loaders.js' {
  interface Loaders {
    company: Loader<CompanyRow | null>;
    companyFigures: Loader<CompanyFigures>;
    contactsOfCompany: Loader<ContactRow[]>;
    subsidiariesOf: Loader<CompanyRow[]>;
    companiesOfUser: Loader<CompanyRow[]>;
  }
}

const linked = `dealCount openDealCount totalDealValue
  contacts(first: 100) { id firstName lastName email phone jobTitle assignedTo createdAt }`;

export default defineModule({
  name: 'companies',
  references: { company: { table: 'companies' } },
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
  resolvers: [CompanyResolver, ContactCompanyResolver, UserCompanyResolver],
  loaders: {
    company: companiesById,
    companyFigures,
    contactsOfCompany: contactsOfCompanies,
    subsidiariesOf: subsidiariesOfCompanies,
    companiesOfUser: companiesOfUsers,
  },
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
