import { Arg, Ctx, FieldResolver, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { type FeedEvent } from '../../kernel/events/feedStore.js';
import { AfterArg, about, FeedOf, visibleNames } from '../../kernel/feed/feed.js';
import { Listing } from '../../kernel/model/connection.js';
import { Contact } from '../contacts/contact.model.js';
import { findContact } from '../contacts/contact.service.js';
import { ContactEvent, Event, EventConnection, EventList } from './event.model.js';
import * as events from './event.service.js';

@Resolver(() => Event)
@Access({})
export class EventResolver {
  @Query(() => EventConnection, { description: 'What happened in the workspace, the oldest first' })
  events(@Ctx() ctx: Context, @Listing() args: EventList) {
    return events.listEvents(ctx, args);
  }

  @FeedOf(() => Event, {
    name: 'events',
    description: 'What happens in the workspace, as it happens',
    wanted: (ctx, { names }) => ({ names: visibleNames(ctx, names as string[] | null | undefined) }),
  })
  eventsFeed(
    @Root() event: FeedEvent,
    @Arg('names', () => [String], { nullable: true, description: 'Only events of these names' }) _names?: string[],
    @AfterArg() _after?: string,
  ) {
    return event;
  }
}

@Resolver(() => ContactEvent)
@Access({ scope: 'contacts' })
export class ContactEventResolver {
  @FeedOf(() => ContactEvent, {
    description: 'What happens to contacts, with each contact as it is by then',
    wanted: about('contact', { contactId: 'entityId' }),
  })
  contactEvents(
    @Root() event: FeedEvent,
    @Arg('contactId', () => ID, { nullable: true, description: 'Only this contact' }) _contactId?: string,
    @AfterArg() _after?: string,
  ) {
    return event;
  }

  @FieldResolver(() => Contact, { nullable: true, description: 'The contact as it is now; null when it is deleted' })
  contact(@Ctx() ctx: Context, @Root() event: FeedEvent) {
    return findContact(ctx, event.entityId);
  }
}
