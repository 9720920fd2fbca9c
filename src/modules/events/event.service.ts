import type { Context } from '../../kernel/context/context.js';
import { pageOfFeed } from '../../kernel/feed/feed.js';
import type { EventList } from './event.model.js';

/**
 * GET /events: the ordered feed of the workspace, 30 days long. Events outside a key's scopes are left out silently, and
 * naming one is permission_denied.
 */
export const listEvents = (ctx: Context, args: EventList) => pageOfFeed(ctx, args);
