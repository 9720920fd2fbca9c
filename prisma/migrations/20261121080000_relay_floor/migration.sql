-- Every placed event leaves a dead entry in the index of those that wait, until the next vacuum. By account and seq a step
-- has to look through all of them; by seq alone it begins where the relay left off, and finds only what is new.
CREATE INDEX outbox_events_waiting_seq ON outbox_events (seq) WHERE pos IS NULL;
DROP INDEX outbox_events_waiting;

-- As before, from `beyond` on; answers with each account the last seq that was placed in it.
DROP FUNCTION place_events(integer);
CREATE FUNCTION place_events(most integer, beyond bigint) RETURNS TABLE (account_id uuid, head bigint, placed bigint, last bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
  IF NOT pg_try_advisory_xact_lock(7240112) THEN
    RETURN QUERY SELECT NULL::uuid, NULL::bigint, NULL::bigint, NULL::bigint;
    RETURN;
  END IF;
  RETURN QUERY
  WITH waiting AS (
    SELECT account_id, id, seq, row_number() OVER (PARTITION BY account_id ORDER BY seq) AS nth
    FROM (SELECT account_id, id, seq FROM outbox_events WHERE pos IS NULL AND seq > beyond ORDER BY seq LIMIT most) oldest
  ), counted AS (
    SELECT account_id, count(*) AS n, max(seq) AS last FROM waiting GROUP BY account_id
  ), heads AS (
    INSERT INTO feed_heads AS h (account_id, pos) SELECT account_id, n FROM counted
    ON CONFLICT (account_id) DO UPDATE SET pos = h.pos + excluded.pos
    RETURNING h.account_id, h.pos
  ), numbered AS (
    UPDATE outbox_events e SET pos = heads.pos - counted.n + waiting.nth
    FROM waiting JOIN counted USING (account_id) JOIN heads USING (account_id)
    WHERE e.account_id = waiting.account_id AND e.id = waiting.id
  )
  SELECT heads.account_id, heads.pos, counted.n, counted.last FROM heads JOIN counted USING (account_id);
END
$$;
