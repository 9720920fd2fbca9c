import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Edit,
  Entity,
  Flag,
  Id,
  Input,
  JsonObject,
  Money,
  OneOf,
  oneOf,
  Phone,
  Ref,
  Stamp,
  Text,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

const companySizes = ['1-10', '11-50', '51-200', '201-500', '501-1000', '1001+'] as const;
type CompanySize = (typeof companySizes)[number];

/** Contract "Company": one line a field. The contract leaves the types of country and customFields open. */
@ObjectType()
export class CompanyFields {
  @Text(200, 'The name', { required: true }) name: string;
  @Text(200, 'Internet domain') domain: string | null;
  @Text(100, 'Industry') industry: string | null;
  @OneOf(companySizes, 'How many people work there') size: CompanySize | null;
  @Money('Annual revenue, in the currency and not in its minor units') annualRevenue: string | null;
  @Ref('The user who looks after the company') ownerId: string | null;
  @Ref('The company that this one belongs to') parentCompanyId: string | null;
  @Text(100, 'Where the company stands with the workspace') lifecycleStage: string | null;
  @Text(500, 'Web site') website: string | null;
  @Phone('Phone number, E.164') phone: string | null;
  @Text(300, 'Street line of the address') address: string | null;
  @Text(100, 'City') city: string | null;
  @Text(100, 'State or region') state: string | null;
  @Text(20, 'Postal code') zip: string | null;
  @Text(100, 'Country') country: string | null;
  @JsonObject(64, 'Values of custom fields by key', { optional: true }) customFields: object;
  @Text(2000, 'What there is to say of it') description: string | null;
}

@Entity('An organisation that contacts belong to', { scope: 'companies' })
export class Company extends CompanyFields {
  @Id() id: string;
  @Count('Live contacts that are linked to it', { required: true }) contactCount: number;
  @Stamp('When the company was made') createdAt: Date;
  @Stamp('When the company was last changed') updatedAt: Date;
}

@Input('A new company')
export class CreateCompanyInput extends New(CompanyFields) {}

@Input('Changes to a company: absent keeps, null clears')
export class UpdateCompanyInput extends Edit(CreateCompanyInput) {}

/** Contract GET /companies. */
@Input('Which companies')
export class CompanyFilter {
  @Text(200, 'Part of the name from three characters on, the start of a word for one or two') search?: string | null;
  @Text(100, 'Industry, whatever its case') industry?: string | null;
  @OneOf(companySizes, 'How many people work there') size?: CompanySize | null;
  @Flag('Has an open deal, or has none') hasOpenDeals?: boolean | null;
  @Text(100, 'Where the company stands, whatever its case') lifecycleStage?: string | null;
  @Ref('Looked after by this user') ownerId?: string | null;
}

export const CompanySort = oneOf('CompanySort', ['createdAt', 'updatedAt', 'name'], 'Sort keys of companies');

@ArgsType()
export class CompanyList extends ListArgsOf(CompanyFilter, CompanySort) {}

@ObjectType({ description: 'A page of companies' })
export class CompanyConnection extends ConnectionOf(Company) {}

/** What is told of companies. */
export const companyEvents = eventsOf('company', 'Company', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    company: typeof companyEvents;
  }
}
