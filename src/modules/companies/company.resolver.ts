import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Deleted } from '../../kernel/model/removal.js';
import { TakesLong } from '../../kernel/operations/operation.js';
import { Company, CompanyConnection, CompanyList, CreateCompanyInput, UpdateCompanyInput } from './company.model.js';
import * as companies from './company.service.js';
import { companyTable } from './company.table.js';

@Resolver(() => Company)
@Access({ scope: 'companies' })
export class CompanyResolver {
  @Query(() => CompanyConnection, { description: 'Companies, newest first unless sorted otherwise' })
  @Reads(companyTable)
  companies(@Ctx() ctx: Context, @Listing() args: CompanyList) {
    return companies.listCompanies(ctx, args);
  }

  @Query(() => Company, { nullable: true, description: 'One company' })
  @Reads(companyTable)
  company(@Ctx() ctx: Context, @IdArg() id: string) {
    return companies.getCompany(ctx, id);
  }

  @Mutation(() => Company, { description: 'Makes a company' })
  createCompany(@Ctx() ctx: Context, @In() input: CreateCompanyInput) {
    return companies.createCompany(ctx, input);
  }

  @Mutation(() => Company, { description: 'Changes a company' })
  updateCompany(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateCompanyInput) {
    return companies.updateCompany(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Deletes a company; its contacts stay without the link' })
  @TakesLong()
  deleteCompany(@Ctx() ctx: Context, @IdArg() id: string) {
    return companies.deleteCompany(ctx, id);
  }

  @Mutation(() => Company, { description: 'Brings a deleted company back' })
  restoreCompany(@Ctx() ctx: Context, @IdArg() id: string) {
    return companies.restoreCompany(ctx, id);
  }
}
