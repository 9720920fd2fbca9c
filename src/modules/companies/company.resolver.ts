import { Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { First, firstOf } from '../../kernel/lists/relatedRows.js';
import { Deleted, IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Decimal } from '../../kernel/model/scalars.js';
import { Contact } from '../contacts/contact.model.js';
import { User } from '../users/user.model.js';
import { Company, CompanyConnection, CompanyList, CreateCompanyInput, UpdateCompanyInput } from './company.model.js';
import * as companies from './company.service.js';

@Resolver(() => Company)
@Access({ scope: 'companies' })
export class CompanyResolver {
  @Query(() => CompanyConnection, { description: 'Companies, newest first unless sorted otherwise' })
  companies(@Ctx() ctx: Context, @Listing() args: CompanyList) {
    return companies.listCompanies(ctx, args);
  }

  @Query(() => Company, { nullable: true, description: 'One company' })
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
  deleteCompany(@Ctx() ctx: Context, @IdArg() id: string) {
    return companies.deleteCompany(ctx, id);
  }

  @Mutation(() => Company, { description: 'Brings a deleted company back' })
  restoreCompany(@Ctx() ctx: Context, @IdArg() id: string) {
    return companies.restoreCompany(ctx, id);
  }

  @FieldResolver()
  async contactCount(@Ctx() ctx: Context, @Root() company: companies.CompanyRow): Promise<number> {
    return company.contactCount ?? (await ctx.load.companyFigures.load(company.id)).contactCount;
  }

  @FieldResolver(() => Int, { description: 'Live deals with the company' })
  async dealCount(@Ctx() ctx: Context, @Root() { id }: Company) {
    return (await ctx.load.companyFigures.load(id)).dealCount;
  }

  @FieldResolver(() => Int, { description: 'Open deals with the company' })
  async openDealCount(@Ctx() ctx: Context, @Root() { id }: Company) {
    return (await ctx.load.companyFigures.load(id)).openDealCount;
  }

  @FieldResolver(() => Decimal, { description: 'The sum over the live deals with the company, whatever their currency' })
  async totalDealValue(@Ctx() ctx: Context, @Root() { id }: Company) {
    return (await ctx.load.companyFigures.load(id)).totalDealValue;
  }

  @FieldResolver(() => [Contact], { description: 'The contacts that are linked to the company, newest first' })
  contacts(@Ctx() ctx: Context, @Root() { id }: Company, @First() first: number) {
    return ctx.load.contactsOfCompany.load(firstOf(id, first));
  }

  @FieldResolver(() => User, { nullable: true, description: 'The user who looks after the company' })
  owner(@Ctx() ctx: Context, @Root() { ownerId }: Company) {
    return ctx.load.user.maybe(ownerId);
  }

  @FieldResolver(() => Company, { nullable: true, description: 'The company that this one belongs to' })
  parentCompany(@Ctx() ctx: Context, @Root() { parentCompanyId }: Company) {
    return ctx.load.company.maybe(parentCompanyId);
  }

  @FieldResolver(() => [Company], { description: 'The companies that belong to this one, by name' })
  subsidiaries(@Ctx() ctx: Context, @Root() { id }: Company, @First() first: number) {
    return ctx.load.subsidiariesOf.load(firstOf(id, first));
  }
}

@Resolver(() => Contact)
export class ContactCompanyResolver {
  @FieldResolver(() => Company, { nullable: true, description: 'The company record that the contact is linked to' })
  companyRecord(@Ctx() ctx: Context, @Root() { companyId }: Contact) {
    return ctx.load.company.maybe(companyId);
  }
}

@Resolver(() => User)
export class UserCompanyResolver {
  @FieldResolver(() => [Company], { description: 'The companies that the user looks after, by name' })
  companies(@Ctx() ctx: Context, @Root() { id }: User, @First() first: number) {
    return ctx.load.companiesOfUser.load(firstOf(id, first));
  }
}
