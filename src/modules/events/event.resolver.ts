import { Ctx, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import { AfterArg, BatchesArg, chosenNames, FeedOf, KindsArg, NamesArg, visibleNames } from '../../kernel/feed/feed.js';
import { Listing } from '../../kernel/model/connection.js';
import { Event, EventConnection, EventList } from './event.model.js';
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
    description: 'What happens in the workspace, as it happens: one event for each fact',
    wanted: (ctx, args) => ({ names: visibleNames(ctx, chosenNames(ctx, args)), batches: args.batches === true }),
  })
  eventsFeed(
    @Root() event: FeedEvent,
    @NamesArg() _names?: string[],
    @KindsArg() _kinds?: string[],
    @BatchesArg() _batches?: boolean,
    @AfterArg() _after?: string,
  ) {
    return event;
  }
}
