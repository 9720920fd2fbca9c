import { Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { In } from '../../kernel/model/fields.js';
import { Detached } from '../../kernel/operations/operation.js';
import * as bulk from './bulk.contacts.js';
import { editDeals, updateDeals } from './bulk.deals.js';
import {
  BulkDeleteContactsInput,
  BulkDoNotContactInput,
  BulkEditContactsInput,
  BulkEditDealsInput,
  BulkOutcome,
  BulkResults,
  BulkTagContactsInput,
  BulkUpdateContactsInput,
  BulkUpdateDealsInput,
} from './bulk.model.js';

@Resolver()
@Access({ scope: 'contacts' })
export class BulkContactsResolver {
  @Mutation(() => BulkResults, { description: 'Changes up to 100 contacts, each in its own way' })
  @Detached()
  bulkUpdateContacts(@Ctx() ctx: Context, @In() input: BulkUpdateContactsInput) {
    return bulk.updateContacts(ctx, input);
  }

  @Mutation(() => BulkOutcome, { description: 'Changes up to 500 contacts in the same way' })
  @Detached()
  bulkEditContacts(@Ctx() ctx: Context, @In() input: BulkEditContactsInput) {
    return bulk.editContacts(ctx, input);
  }

  @Mutation(() => BulkOutcome, { description: 'Deletes up to 100 contacts; what was written about them stays' })
  @Detached()
  bulkDeleteContacts(@Ctx() ctx: Context, @In() input: BulkDeleteContactsInput) {
    return bulk.deleteContacts(ctx, input);
  }

  @Mutation(() => BulkOutcome, { description: 'Puts an existing tag on up to 100 contacts' })
  @Detached()
  bulkTagContacts(@Ctx() ctx: Context, @In() input: BulkTagContactsInput) {
    return bulk.tagContacts(ctx, input);
  }

  @Mutation(() => BulkOutcome, { description: 'Takes a tag off up to 100 contacts' })
  @Detached()
  bulkUntagContacts(@Ctx() ctx: Context, @In() input: BulkTagContactsInput) {
    return bulk.untagContacts(ctx, input);
  }

  @Mutation(() => BulkOutcome, { description: 'Marks up to 100 contacts as not to be contacted, or takes the mark off' })
  @Detached()
  bulkSetDoNotContact(@Ctx() ctx: Context, @In() input: BulkDoNotContactInput) {
    return bulk.setDoNotContact(ctx, input);
  }
}

@Resolver()
@Access({ scope: 'deals' })
export class BulkDealsResolver {
  @Mutation(() => BulkResults, { description: 'Changes up to 100 deals, each in its own way' })
  @Detached()
  bulkUpdateDeals(@Ctx() ctx: Context, @In() input: BulkUpdateDealsInput) {
    return updateDeals(ctx, input);
  }

  @Mutation(() => BulkOutcome, { description: 'Changes up to 500 deals in the same way' })
  @Detached()
  bulkEditDeals(@Ctx() ctx: Context, @In() input: BulkEditDealsInput) {
    return editDeals(ctx, input);
  }
}
