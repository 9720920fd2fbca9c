import { Ctx, ID, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { ReadsMoment } from '../../kernel/context/moment.js';
import { type FeedEvent, headSql } from '../../kernel/events/feedStore.js';
import { AfterArg, BatchesArg, chosenNames, FeedOf, KindsArg, NamesArg, ReadyArg, visibleNames } from '../../kernel/feed/feed.js';
import { RecordField, recordOfEvent } from '../../kernel/feed/recordFeed.js';
import { Listing, Selected } from '../../kernel/model/connection.js';
import { Event, EventConnection, EventList } from './event.model.js';
import * as events from './event.service.js';

@Resolver(() => Event)
@Access({})
export class EventResolver {
  @Query(() => EventConnection, { description: 'What happened in the workspace, the oldest first' })
  events(@Ctx() ctx: Context, @Listing() args: EventList) {
    return events.listEvents(ctx, args);
  }

  @Query(() => ID, {
    description:
      'Where the feed of the workspace ends at the moment this document is read: pass it as after, and no change is missing in between. A change of that very moment may be in both',
  })
  @ReadsMoment((ctx) => headSql(ctx.caller.account.id))
  feedPosition(@Ctx() ctx: Context) {
    return ctx.request.moment!.feedPosition;
  }

  @FeedOf(() => Event, {
    name: 'events',
    description: 'What happens in the workspace, as it happens: one event or more for each change',
    wanted: (ctx, args) => ({ names: visibleNames(ctx, chosenNames(ctx, args)), batches: args.batches === true }),
  })
  eventsFeed(
    @Root() event: FeedEvent,
    @NamesArg() _names?: string[],
    @KindsArg() _kinds?: string[],
    @BatchesArg() _batches?: boolean,
    @AfterArg() _after?: string,
    @ReadyArg() _ready?: boolean,
  ) {
    return event;
  }

  @RecordField()
  record(@Ctx() ctx: Context, @Root() event: FeedEvent, @Selected() selection: ReadonlySet<string>) {
    return recordOfEvent(ctx, event, selection);
  }
}
