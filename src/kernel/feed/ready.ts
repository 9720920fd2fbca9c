import type { Clock } from '../base/clock.js';
import type { AccountInfo } from '../base/principal.js';
import type { FeedEvent } from '../events/feedStore.js';
import { ready } from './eventFields.js';

/**
 * What a subscription begins with where that is asked for: about the workspace, and the position after which all events come. Its id is
 * that position with a zero before it: the same to whoever goes on after it, and no event's. Stores of clients know events by their ids.
 */
export function readyAt({ id: entityId, name }: AccountInfo, after: bigint, clock: Clock): FeedEvent {
  const eventId = clock.id();
  return {
    id: `0${after}`,
    eventId,
    changeId: eventId,
    name: ready,
    kind: ready,
    names: [ready],
    createdAt: clock.now(),
    type: 'Workspace',
    entityType: 'workspace',
    entityId,
    actor: { kind: 'system', id: null, name },
    clientMutationId: null,
    traceparent: null,
    tracestate: null,
    causes: [],
    batchId: null,
    onlyFor: null,
    changes: null,
    data: {},
  };
}
