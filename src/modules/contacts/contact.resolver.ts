import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import { Limited } from '../../kernel/access/rateLimits.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { MaxItems, OfRecord, Weighs } from '../../kernel/model/recordMarks.js';
import { Deleted } from '../../kernel/model/removal.js';
import { TakesLong } from '../../kernel/operations/operation.js';
import { AddTagsInput, Tag } from '../tags/tag.model.js';
import { duplicateContacts } from './contact.duplicates.js';
import { mergeContacts, restoreContact, upsertContact } from './contact.merge.js';
import {
  Contact,
  ContactConnection,
  ContactList,
  ContactScore,
  CreateContactInput,
  DuplicateGroupConnection,
  DuplicateList,
  MergeContactsInput,
  mostTags,
  SmartViewInfo,
  UpdateContactInput,
  UpsertResult,
} from './contact.model.js';
import { scoreContact } from './contact.score.js';
import * as contacts from './contact.service.js';
import { contactTable } from './contact.table.js';
import { addTags, removeTag, tagContact, untagContact } from './contact.tags.js';
import { smartViews } from './contact.views.js';

@Resolver(() => Contact)
@Access({ scope: 'contacts' })
export class ContactResolver {
  @Query(() => ContactConnection, { description: 'Contacts, newest first unless sorted otherwise' })
  @Reads(contactTable)
  contacts(@Ctx() ctx: Context, @Listing() args: ContactList) {
    return contacts.listContacts(ctx, args);
  }

  @Query(() => Contact, { nullable: true, description: 'One contact' })
  @Reads(contactTable)
  contact(@Ctx() ctx: Context, @IdArg() id: string) {
    return contacts.getContact(ctx, id);
  }

  @Query(() => ContactScore, { nullable: true, description: 'Why a contact has its lead score' })
  contactScore(@Ctx() ctx: Context, @IdArg() id: string) {
    return scoreContact(ctx, id);
  }

  @Query(() => DuplicateGroupConnection, { description: 'Contacts that may be one person, the largest groups first' })
  duplicateContacts(@Ctx() ctx: Context, @Listing() args: DuplicateList) {
    return duplicateContacts(ctx, args);
  }

  @Query(() => [SmartViewInfo], { description: 'The ready-made views, with how many contacts each shows now' })
  @MaxItems(20)
  @Weighs(10_000)
  contactSmartViews(@Ctx() ctx: Context) {
    return smartViews(ctx);
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

  @Mutation(() => Contact, { description: 'Brings a deleted contact back' })
  restoreContact(@Ctx() ctx: Context, @IdArg() id: string) {
    return restoreContact(ctx, id);
  }

  @Mutation(() => Contact, { description: 'Merges one contact into another; answers the one that is kept' })
  @TakesLong()
  mergeContacts(@Ctx() ctx: Context, @In() input: MergeContactsInput) {
    return mergeContacts(ctx, input);
  }

  @Mutation(() => UpsertResult, { description: 'Updates the contact of this e-mail address or phone number, or makes one' })
  upsertContact(@Ctx() ctx: Context, @In() input: CreateContactInput) {
    return upsertContact(ctx, input);
  }

  @Mutation(() => Contact, { description: 'Puts existing tags on a contact, besides those that it has' })
  tagContact(@Ctx() ctx: Context, @IdArg() id: string, @In() input: AddTagsInput) {
    return tagContact(ctx, id, input);
  }

  @Mutation(() => Contact, { description: 'Takes a tag off a contact' })
  untagContact(@Ctx() ctx: Context, @IdArg() id: string, @IdArg('tagId') tagId: string) {
    return untagContact(ctx, id, tagId);
  }

  @Mutation(() => [Tag], {
    description: 'Puts existing tags on a contact; answers all its tags',
    deprecationReason: 'tagContact answers the contact, by which a cache knows whose tags they are',
  })
  @OfRecord('id', 'name', 'color')
  @MaxItems(mostTags)
  addContactTags(@Ctx() ctx: Context, @IdArg() id: string, @In() input: AddTagsInput) {
    return addTags(ctx, id, input);
  }

  @Mutation(() => [Tag], {
    description: 'Takes a tag off a contact; answers the tags that are left',
    deprecationReason: 'untagContact answers the contact, by which a cache knows whose tags they are',
  })
  @OfRecord('id', 'name', 'color')
  @MaxItems(mostTags)
  removeContactTag(@Ctx() ctx: Context, @IdArg() id: string, @IdArg('tagId') tagId: string) {
    return removeTag(ctx, id, tagId);
  }
}
