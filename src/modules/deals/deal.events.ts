import type { Context } from '../../kernel/context/context.js';
import type { Change, Changes } from '../../kernel/events/changes.js';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import type { DealRow } from './deal.table.js';

/** What is told of deals. */
export const dealEvents = eventsOf('deal', 'Deal', [...everyChange, 'stage_changed', 'won', 'lost']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    deal: typeof dealEvents;
  }
}

/** What else a change of a deal was: that it moved, that it was closed. */
const specificEventsOf = ({ status }: DealRow, changes?: Changes): Change['also'] => ({
  ...(changes?.stageId && { 'deal.stage_changed': ['pipelineId', 'stageId'] }),
  ...((!changes || changes.status) && status !== 'open' && { [`deal.${status}`]: ['status', 'lostReason'] }),
});

/** Tells of a change of a deal, of itself and of its contact. */
export async function emitDeal(ctx: Context, event: 'created' | 'updated' | 'deleted', deal: DealRow, changes?: Changes): Promise<void> {
  const also = event === 'deleted' ? {} : specificEventsOf(deal, changes);
  await ctx.emit({ name: `deal.${event}`, record: deal, changes, also, contactId: deal.contactId, dealId: deal.id });
}
