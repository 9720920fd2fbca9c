import { rawSql, type Sql, sql } from '../database/sql.js';
import { byPlaces, type FeedEvent, type FeedSource, feedColumns, type StoredEvent, type Stretch, shown } from './feedStore.js';

/** Bytes of events that are read at a time, as JSON; a single event may have more. */
const mostRead = 4_000_000;

/**
 * Of places `found` (`pos`, `seq`, and `nth` of them from 1) in a recursive statement: the first `most` events, as far as they have so few
 * bytes together, with the size of each and the `total` so far.
 */
// Each event is looked up by its place, one after the other, until there is enough: a join of both tables is planned as one over as
// many rows as there were when statistics were taken.
export const takenSql = (account: Sql, most: Sql): Sql => sql`taken (nth, pos, event, size, total) as (
    select 0, 0::bigint, null::json, 0, 0::bigint
    union all
    select p.nth, p.pos, e.event, coalesce(e.size, 0), t.total + coalesce(e.size, 0)
    from taken t join found p on p.nth = t.nth + 1 left join lateral (
      select event, octet_length(event::text) as size from (
        select row_to_json(r) as event from (
          select ${feedColumns} from outbox_events e where e.account_id = ${account} and e.seq = p.seq offset 0
        ) r
      ) whole
    ) e on true
    where p.nth <= ${most} and (t.total = 0 or t.total + coalesce(e.size, 0) <= ${rawSql(String(mostRead))})
  )`;

/** What is read of a stretch at a time. */
export interface FeedPortion {
  events: FeedEvent[];
  /** Whether there may be more, after the last of them. */
  more: boolean;
}

/** The first events of a stretch, the oldest first: as many as are read at a time. */
export function readPortion(source: FeedSource, account: string, stretch: Stretch): Promise<FeedPortion> {
  const most = sql`${stretch.limit}::int`;
  const read = async (places: Sql): Promise<FeedPortion> => {
    const [text] = await source.database.planned(sql`
      with recursive found as materialized (
        select pos, seq, row_number() over (order by pos)::int as nth from (${places}) p
      ), ${takenSql(sql`${account}::uuid`, most)}
      select json_build_object(
        'events', coalesce((select json_agg(event order by nth) from taken where event is not null), '[]'),
        'more', (select count(*) from found) >= least(${most}, (select max(nth) from taken) + 1)
      )::text`);
    const { events, more } = JSON.parse(text!) as { events: StoredEvent[]; more: boolean };
    return { events: events.map((row) => shown(source, row)), more: more && events.length > 0 };
  };
  return byPlaces(account, stretch, read, ({ more }) => more);
}
