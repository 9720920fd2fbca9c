import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access.js';
import type { Context } from '../../kernel/context.js';
import { In, OfRecord } from '../../kernel/fields.js';
import { Limited } from '../../kernel/limits.js';
import { Deleted, IdArg, Listing } from '../../kernel/page.js';
import { AddTagsInput, Tag } from '../tags/tag.model.js';
import { Contact, ContactConnection, ContactList, CreateContactInput, UpdateContactInput } from './contact.model.js';
import * as contacts from './contact.service.js';

@Resolver(() => Contact)
@Access({ scope: 'contacts' })
export class ContactResolver {
  @Query(() => ContactConnection, { description: 'Contacts, newest first unless sorted otherwise' })
  contacts(@Ctx() ctx: Context, @Listing() args: ContactList) {
    return contacts.listContacts(ctx, args);
  }

  @Query(() => Contact, { nullable: true, description: 'One contact' })
  contact(@Ctx() ctx: Context, @IdArg() id: string) {
    return contacts.getContact(ctx, id);
  }

  @Mutation(() => Contact, { description: 'Makes a contact' })
  @Limited('create')
  createContact(@Ctx() ctx: Context, @In() input: CreateContactInput) {
    return contacts.createContact(ctx, input);
  }

  @Mutation(() => Contact, { description: 'Changes a contact' })
  updateContact(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateContactInput) {
    return contacts.updateContact(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Deletes a contact; what was written about it stays' })
  deleteContact(@Ctx() ctx: Context, @IdArg() id: string) {
    return contacts.deleteContact(ctx, id);
  }

  @Mutation(() => [Tag], { description: 'Puts existing tags on a contact; answers all its tags' })
  @OfRecord('id', 'name', 'color')
  addContactTags(@Ctx() ctx: Context, @IdArg() id: string, @In() input: AddTagsInput) {
    return contacts.addTags(ctx, id, input);
  }

  @Mutation(() => [Tag], { description: 'Takes a tag off a contact; answers the tags that are left' })
  @OfRecord('id', 'name', 'color')
  removeContactTag(@Ctx() ctx: Context, @IdArg() id: string, @IdArg('tagId') tagId: string) {
    return contacts.removeTag(ctx, id, tagId);
  }

  @FieldResolver(() => [Tag], { description: 'The tags of the contact, by name' })
  @OfRecord('id', 'name')
  tags(@Ctx() ctx: Context, @Root() contact: contacts.ContactRow) {
    return contact.tags ?? ctx.load.tagsOfContact.load(contact.id);
  }
}
